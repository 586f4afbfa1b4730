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
      if mayGo, gate.takeBudget() {
        send(pendingRequest)
      } else {
        pending.append(pendingRequest)
      }
    }
  }

  /// When breaker, hold and its own delay let it go, on the steady axis; nil while banned.
  private func readyAt(_ pendingRequest: PendingRequest) -> Timestamp? {
    let allowed = max(pendingRequest.notBefore, gate.heldUntil ?? pendingRequest.notBefore)
    if case .probe = pendingRequest.kind { return allowed }
    return gate.isClosed ? allowed : nil
  }

  private mutating func send(_ pendingRequest: PendingRequest) {
    let deadline = configuration.deadlineMilliseconds
    let (id, expiresAt) = gate.begin(deadlineMilliseconds: deadline)
    let symbols = symbols(of: pendingRequest)
    inFlight[id] = InFlightRequest(
      pendingRequest: pendingRequest, symbols: symbols.dropFirst(), expiresAt: expiresAt,
      sentInSlot: slot.number)
    if pendingRequest.isBatch { groups.lastSent[pendingRequest.group] = id.number }
    actions.append(
      .request(
        PollRequest(
          id: id, purpose: pendingRequest.purpose, group: pendingRequest.group, symbols: symbols,
          slot: slot.grid ?? steady,
          deadlineMilliseconds: deadline)))
  }

  private func symbols(of pendingRequest: PendingRequest) -> [Symbol] {
    switch pendingRequest.kind {
    case .probe: return [batching.plan.referenceSymbol]
    case .sample: return batching.plan.batch(pendingRequest.group, without: quarantined)
    case .part(let part): return [batching.plan.referenceSymbol] + part.symbols
    case .batch:
      let suspects = groups.bisections[pendingRequest.group]?.suspects ?? []
      let excluded = suspects.isEmpty ? quarantined : quarantined.union(suspects)
      return batching.plan.batch(pendingRequest.group, without: excluded)
    }
  }

  /// Asks to be woken when something can next be done, if that is not asked for already.
  mutating func armWake() {
    guard let at = [upcoming.next?.due, upcoming.recheckAt, pendingAt()].compactMap({ $0 }).min(),
      at != upcoming.wakeAt
    else { return }
    upcoming.wakeAt = at
    actions.append(.wake(at: at))
  }

  private mutating func pendingAt() -> Timestamp? {
    guard inFlight.count < configuration.inFlightMax,
      let ready = pending.compactMap({ readyAt($0) }).min()
    else { return nil }
    return gate.wall(at: max(ready, gate.budgetedAt))
  }
}

extension Poller.PendingRequest {
  var purpose: PollRequest.Purpose {
    switch kind {
    case .batch: .sweep
    case .probe, .sample: .probe
    case .part: .search
    }
  }

  var isBatch: Bool {
    if case .batch = kind { return true }
    return false
  }

  /// Whether it requests one group or a symbol, to find out how the source does.
  var isProbe: Bool {
    switch kind {
    case .probe, .sample: true
    case .batch, .part: false
    }
  }

  var isPart: Bool {
    if case .part = kind { return true }
    return false
  }
}
