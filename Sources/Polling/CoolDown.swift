import Market

/// What the next process must know of a host that refused us: it leaves it alone for the rest of
/// the time, as this one would have.
package struct CoolDown: Sendable, Hashable {
  /// nil: it is over, a request was answered well.
  package let kind: Poller.Refusal.Kind?
  /// How long it lasts from now on; negative where it ended so long ago.
  package let microseconds: Int64
  /// How many cool-downs came before it without a calm spell: each is longer than the one before.
  package let level: Int

  package init(_ kind: Poller.Refusal.Kind?, microseconds: Int64, level: Int) {
    self.kind = kind
    self.microseconds = microseconds
    self.level = level
  }

  /// The longest there is. One that began longer ago needs no memory.
  package static let secondsMax = Int64(
    max(Breaker.coolDownSeconds.max() ?? 0, RetryAfter.secondsMax))
}

extension Poller {
  /// Takes up a cool-down that began before the process did; called before `started`.
  package mutating func restored(_ coolDown: CoolDown, at now: Timestamp) -> [Action] {
    actions = []
    advanceClock(now)
    report(gate.restored(coolDown, at: now))
    return actions
  }
}
