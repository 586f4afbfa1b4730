// How the source is doing, told on change only.
import Market

extension Poller {
  /// Nothing usable came for too many slots: whole sweeps would only add to the trouble.
  var isSilent: Bool { missedSlots >= Poller.stalledSlots }

  /// At the beginning of a slot: did the last one bring anything?
  mutating func countMissed(_ now: Timestamp) {
    missedSlots = wasAnswered ? 0 : missedSlots + 1
    wasAnswered = false
    if isSilent, breaker.isClosed { recordHealth(.stalled, since: answeredAt ?? now) }
  }

  /// At the end of a sweep.
  mutating func evaluate(_ sweep: Sweep, at now: Timestamp) {
    if sweep.failed == 0 { throttles = 0 }
    guard breaker.isClosed else { return }
    if sweep.failed == 0 {
      recordHealth(.ok, since: now)
    } else if !isSilent {
      recordHealth(.degraded, since: now)
    }
  }

  mutating func recordHealth(_ condition: SourceState.Condition, since: Timestamp) {
    guard health?.condition != condition else { return }
    let state = SourceState(condition, since: since)
    health = state
    actions.append(.health(state))
  }
}
