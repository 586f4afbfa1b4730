// Answers: what each outcome changes.
import Market

extension Poller {
  mutating func answered(
    _ id: PollRequestID, outcome: RequestOutcome, retryAfterSeconds: Int?, at now: Timestamp
  ) {
    guard let inFlightRequest = inFlight.removeValue(forKey: id) else { return }
    switch outcome {
    case .ok, .unchanged: succeed(inFlightRequest, at: now)
    case .empty where retryAfterSeconds == nil && mayAskAgain(inFlightRequest.pendingRequest):
      var pendingRequest = inFlightRequest.pendingRequest
      pendingRequest.hasRetriedEmpty = true
      pendingRequest.notBefore = steady
      pending.append(pendingRequest)
    default: fail(inFlightRequest, outcome: outcome, retryAfterSeconds: retryAfterSeconds, at: now)
    }
  }

  /// An empty body is asked for once more, at once, if that still serves the slot.
  private func mayAskAgain(_ pendingRequest: PendingRequest) -> Bool {
    guard phase == .running, !pendingRequest.hasRetriedEmpty, gate.isClosed else { return false }
    return pendingRequest.plan == batching.number
      && (pendingRequest.isPart || isOfThisSlot(pendingRequest))
  }

  private func isOfThisSlot(_ pendingRequest: PendingRequest) -> Bool {
    sweeps.open[pendingRequest.sweep]?.slot == slot.grid && slot.end.map { steady < $0 } ?? false
  }

  private mutating func succeed(_ inFlightRequest: InFlightRequest, at now: Timestamp) {
    slot.wasAnswered = true
    gate.answered(at: now)
    switch inFlightRequest.pendingRequest.kind {
    case .probe, .sample:
      gate.probed(.recovered)
      if role != .serving || isWatching(now) { report(gate.found(.ok, at: now)) }
    case .part(let part):
      search(inFlightRequest.pendingRequest, number: part.search, at: now) { $0.cleared(part) }
    case .batch:
      groups.failures[inFlightRequest.pendingRequest.group] = nil
      resolve(inFlightRequest.pendingRequest.sweep, isAnswered: true, at: now)
    }
  }

  mutating func fail(
    _ inFlightRequest: InFlightRequest, outcome: RequestOutcome, retryAfterSeconds: Int?,
    at now: Timestamp
  ) {
    let isProbe = inFlightRequest.pendingRequest.isProbe
    // A throttled batch is held below, by more than what is asked for.
    if outcome != .throttled || isProbe, let retryAfterSeconds {
      gate.wait(seconds: retryAfterSeconds)
    }
    if isProbe {
      gate.probed(outcome.refusal == nil ? .none : .banned)
      if let refusal = outcome.refusal { report(gate.refused(refusal, at: now)) }
      return
    }
    if let refusal = outcome.refusal { refuse(refusal, at: now) }
    switch outcome {
    case .banned, .unauthorised:
      fail(inFlightRequest, at: now)
    case .throttled:
      gate.throttled(retryAfterSeconds: retryAfterSeconds)
      fail(inFlightRequest, at: now)
      dropPending(now, where: \.isBatch)
    case .poisoned: poisoned(inFlightRequest, at: now)
    case .notFound, .failed: fail(inFlightRequest, at: now)
    case .ok, .unchanged, .empty, .malformed, .transient, .postponed:
      retry(inFlightRequest, at: now)
    }
  }

  /// The batch has failed for this slot; a part of a search waits for its turn.
  private mutating func fail(_ inFlightRequest: InFlightRequest, at now: Timestamp) {
    if inFlightRequest.pendingRequest.isPart {
      retry(inFlightRequest, at: now)
    } else {
      resolve(inFlightRequest.pendingRequest.sweep, isAnswered: false, at: now)
    }
  }

  private mutating func retry(_ inFlightRequest: InFlightRequest, at now: Timestamp) {
    var pendingRequest = inFlightRequest.pendingRequest
    pendingRequest.retries += 1
    if pendingRequest.isPart { return retry(part: pendingRequest) }
    let failed = groups.failures[pendingRequest.group, default: 0] + 1
    groups.failures[pendingRequest.group] = failed
    pendingRequest.notBefore = gate.retryAt(failures: failed)
    let isInTime =
      isOfThisSlot(pendingRequest) && slot.end.map { pendingRequest.notBefore < $0 } ?? false
    if phase == .running, gate.isClosed, isInTime, pendingRequest.plan == batching.number,
      pendingRequest.retries <= configuration.retriesPerSlotMax
    {
      pending.append(pendingRequest)
    } else {
      resolve(pendingRequest.sweep, isAnswered: false, at: now)
    }
  }

  /// A search waits as long as it must, but not for ever.
  private mutating func retry(part pendingRequest: PendingRequest) {
    guard phase == .running, pendingRequest.plan == batching.number,
      case .part(let part) = pendingRequest.kind,
      groups.bisections[pendingRequest.group]?.number == part.search
    else { return }
    guard pendingRequest.retries <= Poller.partRetriesMax else {
      groups.bisections[pendingRequest.group] = nil
      pending.removeAll { $0.isPart && $0.group == pendingRequest.group }
      return
    }
    var pendingRequest = pendingRequest
    pendingRequest.notBefore = gate.retryAt(failures: pendingRequest.retries)
    pending.append(pendingRequest)
  }

  /// The host refuses us: nothing more goes out until the cool-down is over.
  private mutating func refuse(_ condition: SourceState.Condition, at now: Timestamp) {
    let health = gate.refused(condition, at: now)
    dropPending(now, where: \.isBatch)
    report(health)
  }

  // MARK: Bisection

  private mutating func poisoned(_ inFlightRequest: InFlightRequest, at now: Timestamp) {
    let pendingRequest = inFlightRequest.pendingRequest
    if case .part(let part) = pendingRequest.kind {
      return search(pendingRequest, number: part.search, at: now) { $0.poisoned(part) }
    }
    resolve(pendingRequest.sweep, isAnswered: false, at: now)
    guard pendingRequest.plan == batching.number, groups.bisections[pendingRequest.group] == nil,
      phase == .running
    else {
      return
    }
    // The reference symbol alone cannot be the bad one: it is what every good answer begins with.
    if inFlightRequest.symbols.isEmpty { return refuse(.unauthorised, at: now) }
    groups.bisectionLast += 1
    groups.bisections[pendingRequest.group] = Bisection(
      batch: Array(inFlightRequest.symbols), number: groups.bisectionLast)
    search(pendingRequest, number: groups.bisectionLast, at: now) { [$0.begin()] }
  }

  private mutating func search(
    _ pendingRequest: PendingRequest, number: Int, at now: Timestamp,
    step: (inout Bisection) -> [Bisection.Step]
  ) {
    guard pendingRequest.plan == batching.number,
      var bisection = groups.bisections[pendingRequest.group],
      bisection.number == number
    else { return }
    let steps = step(&bisection)
    groups.bisections[pendingRequest.group] = bisection.isOver ? nil : bisection
    for step in steps {
      switch step {
      case .ask(let part):
        if phase == .running {
          pending.append(self.pendingRequest(.part(part), group: pendingRequest.group))
        }
      case .quarantine(let symbol):
        quarantined.insert(symbol)
        actions.append(.quarantined(symbol))
      case .abandon:
        refuse(.unauthorised, at: now)
      }
    }
  }
}

extension RequestOutcome {
  /// How the host refuses us, if that is what it does.
  fileprivate var refusal: SourceState.Condition? {
    switch self {
    case .banned: .banned
    case .unauthorised: .unauthorised
    default: nil
    }
  }
}
