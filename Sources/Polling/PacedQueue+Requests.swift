// Sending: what waits goes out as soon as breaker, hold, budget and the bound on requests in flight
// allow, and a wake is set for the moment they will.
import Market

extension PacedQueue {
  /// After so many fruitless answers in a row the host counts as silent.
  static var silentFailures: Int { 5 }
  /// What a request gets beyond its deadline before it counts as lost by the shell.
  static var lostMilliseconds: Int { 5_000 }

  var isSilent: Bool { failures >= Self.silentFailures }

  /// A host in trouble is asked one thing at a time.
  private var inFlightLimit: Int {
    throttles > 0 || isSilent ? 1 : configuration.inFlightMax
  }

  mutating func sendReady(_ now: Timestamp) {
    while inFlight.count < inFlightLimit, heldUntil.map({ $0 <= steady }) ?? true,
      let pendingRequest = firstReady(now), budget.availableAt(steady) <= steady
    {
      let admission = breaker.admit(at: steady)
      guard admission != .refused, budget.take(at: steady) else { return }
      send(pendingRequest, isProbe: admission == .probe)
    }
  }

  private mutating func send(_ pendingRequest: PendingRequest, isProbe: Bool) {
    requestLast += 1
    let id = PollRequestID(requestLast)
    let lifetime = configuration.deadlineMilliseconds + Self.lostMilliseconds
    leaveLine(pendingRequest.job)
    inFlightIDs[pendingRequest.job] = id
    inFlight[id] = InFlightRequest(
      pendingRequest: pendingRequest, isProbe: isProbe,
      expiresAt: steady.adding(milliseconds: Int64(lifetime)))
    actions.append(
      .request(id, pendingRequest.job, deadlineMilliseconds: configuration.deadlineMilliseconds))
  }

  /// A request whose answer the shell lost must not keep its job for ever.
  mutating func expireLost(_ now: Timestamp) {
    let lost = inFlight.filter { $0.value.expiresAt <= steady }.keys
    for id in lost.sorted(by: { $0.number < $1.number }) {
      answered(id, outcome: .transient, retryAfterSeconds: nil, at: now)
    }
  }

  /// Asks to be woken when something can next be done, if that is not asked for already.
  mutating func armWake(_ now: Timestamp) {
    guard let clock,
      let at = [sendableAt(clock, at: now), expiryAt(clock)].compactMap({ $0 }).min(),
      at != wakeAt
    else { return }
    wakeAt = at
    actions.append(.wake(at: at))
  }

  private func expiryAt(_ clock: SteadyClock) -> Timestamp? {
    inFlight.values.map(\.expiresAt).min().map(clock.wall(at:))
  }

  private mutating func sendableAt(_ clock: SteadyClock, at now: Timestamp) -> Timestamp? {
    guard inFlight.count < inFlightLimit, breaker.state != .halfOpen,
      let ready = firstReady(now).map({ readyAt($0, clock: clock) })
        ?? resting.compactMap({ waiting[$0] }).map({ readyAt($0, clock: clock) }).min()
    else { return nil }
    var allowed = max(budget.availableAt(steady), heldUntil ?? steady)
    if case .open(let until) = breaker.state { allowed = max(allowed, until) }
    return max(ready, clock.wall(at: allowed))
  }

  private func readyAt(_ pendingRequest: PendingRequest, clock: SteadyClock) -> Timestamp {
    let rested = clock.wall(at: pendingRequest.restsUntil)
    return max(rested, pendingRequest.notBefore ?? rested)
  }
}
