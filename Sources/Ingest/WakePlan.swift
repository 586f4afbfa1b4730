import Market

/// Which sleeps an engine has begun. One that is overtaken by an earlier one is left alone, for a
/// cancelled sleep keeps its memory until its end anyway (TOOLCHAIN §8.4); it wakes the engine once
/// too often and is gone.
///
/// Only the end of the earliest makes room for another. Were each that ends replaced, the overtaken
/// ones too, they would never become fewer: `script/chaos soak` at 144× came to thousands, some
/// 10 MB, each of which turned the loop again and again.
struct WakePlan: Sendable {
  private var earliest: Timestamp?

  /// Whether a sleep must be begun for the engine to turn at `moment`; the caller then begins it.
  mutating func mustSleep(until moment: Timestamp, now: Timestamp) -> Bool {
    if let earliest, earliest <= moment, earliest > now { return false }
    earliest = moment
    return true
  }

  /// The sleep until `moment` has ended.
  mutating func woke(for moment: Timestamp) {
    if earliest == moment { earliest = nil }
  }
}
