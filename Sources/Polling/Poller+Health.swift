// How the source is doing, reported on change only.
import Market

extension Poller {
  /// Counts a miss at the beginning of a slot, if the last one brought nothing.
  mutating func countMissed(_ now: Timestamp) {
    if !slot.wasAnswered { gate.missed() }
    slot.wasAnswered = false
    if gate.isSilent { report(gate.found(.stalled, at: now)) }
  }

  /// Evaluates a sweep at its end.
  mutating func evaluate(_ sweep: Sweep, at now: Timestamp) {
    if sweep.failed == 0 {
      gate.throttlingEnded()
      report(gate.found(.ok, at: now))
    } else if !gate.isSilent {
      report(gate.found(.degraded, at: now))
    }
  }

  mutating func report(_ health: SourceState?) {
    if let health { actions.append(.health(health)) }
  }
}
