// Sending: what waits goes out as soon as breaker, hold, budget and the bound on requests in flight
// allow, and a wake is set for the moment they will.
import Market

extension Poller {
  mutating func sendPending(_ now: Timestamp) {
    guard !pending.isEmpty else { return }
    // Ordinary batches first: a search for one bad token must not cost the market a slot.
    let waiting = pending.filter { !$0.isPart } + pending.filter(\.isPart)
    pending = []
    for pendingRequest in waiting {
      let mayGo =
        readyAt(pendingRequest).map { $0 <= steady } ?? false
        && inFlight.count < configuration.inFlightMax
      if mayGo, budget.take(at: steady) {
        send(pendingRequest)
      } else {
        pending.append(pendingRequest)
      }
    }
  }

  /// When breaker, hold and its own delay let it go, on the steady axis; nil while banned.
  private func readyAt(_ pendingRequest: PendingRequest) -> Timestamp? {
    let allowed = max(pendingRequest.notBefore, heldUntil ?? pendingRequest.notBefore)
    if case .probe = pendingRequest.kind { return allowed }
    return breaker.isClosed ? allowed : nil
  }

  private mutating func send(_ pendingRequest: PendingRequest) {
    requestLast += 1
    let id = PollRequestID(requestLast)
    let symbols = symbols(of: pendingRequest)
    let deadline = configuration.deadlineMilliseconds
    inFlight[id] = InFlightRequest(
      pendingRequest: pendingRequest, symbols: symbols.dropFirst(),
      expiresAt: steady.adding(milliseconds: Int64(deadline + Poller.lostMilliseconds)),
      sentInSlot: slotLast)
    if pendingRequest.isBatch { lastSent[pendingRequest.group] = requestLast }
    actions.append(
      .request(
        PollRequest(
          id: id, purpose: pendingRequest.purpose, group: pendingRequest.group, symbols: symbols,
          slot: slotGrid ?? steady,
          deadlineMilliseconds: deadline)))
  }

  private func symbols(of pendingRequest: PendingRequest) -> [Symbol] {
    switch pendingRequest.kind {
    case .probe: return [plan.referenceSymbol]
    case .part(let part): return [plan.referenceSymbol] + part.symbols
    case .batch:
      let suspects = bisections[pendingRequest.group]?.suspects ?? []
      let excluded = suspects.isEmpty ? quarantined : quarantined.union(suspects)
      return plan.batch(pendingRequest.group, without: excluded)
    }
  }

  /// Asks to be woken when something can next be done, if that is not asked for already.
  mutating func armWake() {
    guard let clock, let at = [next?.due, recheckAt, pendingAt(clock)].compactMap({ $0 }).min(),
      at != wakeAt
    else { return }
    wakeAt = at
    actions.append(.wake(at: at))
  }

  private mutating func pendingAt(_ clock: SteadyClock) -> Timestamp? {
    guard inFlight.count < configuration.inFlightMax,
      let ready = pending.compactMap({ readyAt($0) }).min()
    else { return nil }
    return clock.wall(at: max(ready, budget.availableAt(clock.now)))
  }
}

extension Poller.PendingRequest {
  var purpose: PollRequest.Purpose {
    switch kind {
    case .batch: .sweep
    case .probe: .probe
    case .part: .search
    }
  }

  var isBatch: Bool {
    if case .batch = kind { return true }
    return false
  }

  var isPart: Bool {
    if case .part = kind { return true }
    return false
  }
}
