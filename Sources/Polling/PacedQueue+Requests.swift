// Sending: what waits goes out as soon as breaker, hold, budget and the bound on requests in flight
// allow, and a wake is set for the moment they will.
import Market

extension PacedQueue {
  /// A host in trouble is asked one thing at a time.
  private var inFlightLimit: Int {
    gate.throttles > 0 || gate.isSilent ? 1 : configuration.inFlightMax
  }

  mutating func sendReady(_ now: Timestamp) {
    while inFlight.count < inFlightLimit, !gate.isHeld, let pendingRequest = firstReady(now),
      gate.budgetedAt <= gate.steady
    {
      let admission = gate.admit()
      guard admission != .refused, gate.takeBudget() else { return }
      send(pendingRequest, isProbe: admission == .probe)
    }
  }

  private mutating func send(_ pendingRequest: PendingRequest, isProbe: Bool) {
    let (id, expiresAt) = gate.begin(deadlineMilliseconds: configuration.deadlineMilliseconds)
    leaveLine(pendingRequest.job)
    inFlightIDs[pendingRequest.job] = id
    inFlight[id] = InFlightRequest(
      pendingRequest: pendingRequest, isProbe: isProbe, expiresAt: expiresAt)
    actions.append(.request(id, pendingRequest.job))
  }

  /// A request whose answer the shell lost must not keep its job for ever.
  mutating func expireLost(_ now: Timestamp) {
    let lost = inFlight.filter { $0.value.expiresAt <= gate.steady }.keys
    for id in lost.sorted(by: { $0.number < $1.number }) {
      answered(id, outcome: .transient, retryAfterSeconds: nil, at: now)
    }
  }

  /// Asks to be woken when something can next be done, if that is not asked for already.
  mutating func armWake(_ now: Timestamp) {
    guard let at = [sendableAt(now), expiryAt].compactMap({ $0 }).min(), at != wakeAt else {
      return
    }
    wakeAt = at
    actions.append(.wake(at: at))
  }

  private var expiryAt: Timestamp? {
    inFlight.values.map(\.expiresAt).min().map(gate.wall(at:))
  }

  private mutating func sendableAt(_ now: Timestamp) -> Timestamp? {
    guard inFlight.count < inFlightLimit, let allowed = gate.opensAt,
      let ready = firstReady(now).map({ readyAt($0) })
        ?? resting.compactMap({ waiting[$0] }).map({ readyAt($0) }).min()
    else { return nil }
    return max(ready, gate.wall(at: allowed))
  }

  private func readyAt(_ pendingRequest: PendingRequest) -> Timestamp {
    let rested = gate.wall(at: pendingRequest.restsUntil)
    return max(rested, pendingRequest.notBefore ?? rested)
  }
}
