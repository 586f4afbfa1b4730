import Market

/// Which sleeps a loop has begun. One that is overtaken by an earlier one is left alone, for a
/// cancelled sleep keeps its memory until its end anyway; it wakes the loop once too often and is
/// gone.
///
/// Any that is under way and ends in time serves, an overtaken one too: only what is wanted earlier
/// than all of them begins another. Were each that ends replaced, they would never become fewer:
/// `script/chaos soak` at 144× came to thousands, some 10 MB, each of which turned the loop again
/// and again.
package struct WakePlan: Sendable {
  private var underWay: [Timestamp] = []

  package init() {}

  /// Whether a sleep must be begun for the loop to turn at `moment`; the caller then begins it.
  package mutating func mustSleep(until moment: Timestamp, now: Timestamp) -> Bool {
    if underWay.contains(where: { now < $0 && $0 <= moment }) { return false }
    underWay.append(moment)
    return true
  }

  /// The sleep until `moment` has ended.
  package mutating func woke(for moment: Timestamp) {
    if let ended = underWay.firstIndex(of: moment) { underWay.remove(at: ended) }
  }
}
