// What an answer changes for the key it was asked with.
import Market

extension KeyRing {
  /// Takes what an answer says of its key; returns what to do, in order. Unknown labels are
  /// ignored.
  package mutating func answered(
    _ label: String, outcome: Outcome, at now: Timestamp
  ) -> [Action] {
    guard let index = index(of: label) else { return [] }
    var key = keys[index]
    let before = key
    key.advance(to: now.shanghaiDay)
    let actions = evaluate(&key, outcome: outcome, at: now)
    key.isProbing = false
    keys[index] = key
    return (usage(before) == usage(key) ? [] : [.persist(usage(key))]) + actions
  }

  private mutating func evaluate(_ key: inout Key, outcome: Outcome, at now: Timestamp) -> [Action]
  {
    switch outcome {
    case .ok:
      key.throttles = 0
      release(&key, at: now)
    case .quotaExhausted:
      release(&key, at: now)
      key.park(until: dayAfter(key.day), reason: .quota, at: now)
    case .invalidLicence:
      return refuse(
        &key, reason: .invalidLicence, until: now.adding(seconds: Self.probeSeconds), at: now)
    case .demoLicence: return refuse(&key, reason: .demoLicence, until: dayAfter(key.day), at: now)
    case .throttled(let retryAfterSeconds):
      return slow(&key, retryAfterSeconds: retryAfterSeconds, at: now)
    case .other: break
    }
    return []
  }

  /// The probe shows that the source knows the key again; its quota may be used up all the same.
  private func release(_ key: inout Key, at now: Timestamp) {
    guard key.isProbing else { return }
    key.parking = nil
    if isSpent(key) { key.park(until: dayAfter(key.day), reason: .quota, at: now) }
  }

  private func refuse(
    _ key: inout Key, reason: KeyParking, until: Timestamp, at now: Timestamp
  ) -> [Action] {
    let isKnown = key.parking?.reason.isRefusal ?? false
    key.park(until: until, reason: reason, at: now)
    return isKnown ? [] : [.alarm(label: key.label, reason)]
  }

  private mutating func slow(
    _ key: inout Key, retryAfterSeconds: Int?, at now: Timestamp
  ) -> [Action] {
    key.throttles += 1
    let drawn = backoff.delayMilliseconds(
      failures: key.throttles, retryAfterSeconds: retryAfterSeconds)
    let delay = max(drawn, Self.rateLimitMilliseconds.lowerBound)
    key.park(until: now.adding(milliseconds: Int64(delay)), reason: .rateLimit, at: now)
    return key.throttles == KeyRing.alarmThrottles ? [.alarm(label: key.label, .rateLimit)] : []
  }
}
