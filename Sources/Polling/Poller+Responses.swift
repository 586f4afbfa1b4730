// Answers: what each outcome changes.
import Market

extension Poller {
  mutating func answered(
    _ id: PollRequestID, outcome: PollOutcome, retryAfterSeconds: Int?, at now: Timestamp
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
    guard phase == .running, !pendingRequest.hasRetriedEmpty, breaker.isClosed else { return false }
    return pendingRequest.plan == planNumber
      && (pendingRequest.isPart || isOfThisSlot(pendingRequest))
  }

  private func isOfThisSlot(_ pendingRequest: PendingRequest) -> Bool {
    sweeps[pendingRequest.sweep]?.slot == slotGrid && slotEnd.map { steady < $0 } ?? false
  }

  private mutating func succeed(_ inFlightRequest: InFlightRequest, at now: Timestamp) {
    wasAnswered = true
    missedSlots = 0
    answeredAt = now
    switch inFlightRequest.pendingRequest.kind {
    case .probe: breaker.probed(.recovered, at: steady)
    case .part(let part):
      search(inFlightRequest.pendingRequest, number: part.search, at: now) { $0.cleared(part) }
    case .batch:
      failures[inFlightRequest.pendingRequest.group] = nil
      resolve(inFlightRequest.pendingRequest.sweep, isAnswered: true, at: now)
    }
  }

  mutating func fail(
    _ inFlightRequest: InFlightRequest, outcome: PollOutcome, retryAfterSeconds: Int?,
    at now: Timestamp
  ) {
    let isProbe = if case .probe = inFlightRequest.pendingRequest.kind { true } else { false }
    // A throttled batch is held below, by more than what is asked for.
    if outcome != .throttled || isProbe, let retryAfterSeconds {
      hold(milliseconds: bounded(retryAfterSeconds) * 1_000)
    }
    if isProbe {
      let isRefused = outcome == .banned || outcome == .unauthorised
      breaker.probed(isRefused ? .banned : .none, at: steady)
      if isRefused { recordHealth(outcome == .banned ? .banned : .unauthorised, since: now) }
      return
    }
    switch outcome {
    case .banned, .unauthorised:
      refuse(outcome == .banned ? .banned : .unauthorised, at: now)
      fail(inFlightRequest, at: now)
    case .throttled:
      throttle(retryAfterSeconds)
      fail(inFlightRequest, at: now)
      dropPending(now, where: \.isBatch)
    case .poisoned: poisoned(inFlightRequest, at: now)
    case .notFound: fail(inFlightRequest, at: now)
    case .ok, .unchanged, .empty, .malformed, .transient: retry(inFlightRequest, at: now)
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
    let failed = failures[pendingRequest.group, default: 0] + 1
    failures[pendingRequest.group] = failed
    pendingRequest.notBefore = steady.adding(
      milliseconds: Int64(retryBackoff.delayMilliseconds(failures: failed)))
    let isInTime =
      isOfThisSlot(pendingRequest) && slotEnd.map { pendingRequest.notBefore < $0 } ?? false
    if phase == .running, breaker.isClosed, isInTime, pendingRequest.plan == planNumber,
      pendingRequest.retries <= configuration.retriesPerSlotMax
    {
      pending.append(pendingRequest)
    } else {
      resolve(pendingRequest.sweep, isAnswered: false, at: now)
    }
  }

  /// A search waits as long as it must, but not for ever.
  private mutating func retry(part pendingRequest: PendingRequest) {
    guard phase == .running, pendingRequest.plan == planNumber,
      case .part(let part) = pendingRequest.kind,
      bisections[pendingRequest.group]?.number == part.search
    else { return }
    guard pendingRequest.retries <= Poller.partRetriesMax else {
      bisections[pendingRequest.group] = nil
      pending.removeAll { $0.isPart && $0.group == pendingRequest.group }
      return
    }
    var pendingRequest = pendingRequest
    pendingRequest.notBefore = steady.adding(
      milliseconds: Int64(retryBackoff.delayMilliseconds(failures: pendingRequest.retries)))
    pending.append(pendingRequest)
  }

  /// The host refuses us: nothing more goes out until the cool-down is over.
  private mutating func refuse(_ condition: SourceState.Condition, at now: Timestamp) {
    breaker.tripped(at: steady)
    dropPending(now, where: \.isBatch)
    recordHealth(condition, since: now)
  }

  private mutating func throttle(_ retryAfterSeconds: Int?) {
    // The answers of one sweep are one complaint, not one for each.
    if heldUntil.map({ steady < $0 }) ?? false {
      return hold(milliseconds: bounded(retryAfterSeconds ?? 0) * 1_000)
    }
    throttles += 1
    let delay = throttleBackoff.delayMilliseconds(
      failures: throttles, retryAfterSeconds: retryAfterSeconds)
    hold(milliseconds: delay)
  }

  private func bounded(_ seconds: Int) -> Int { min(max(seconds, 0), RetryAfter.secondsMax) }

  /// Nothing goes out for so long, or longer if a longer hold is on.
  private mutating func hold(milliseconds: Int) {
    let until = steady.adding(milliseconds: Int64(milliseconds))
    heldUntil = max(heldUntil ?? until, until)
  }

  // MARK: Bisection

  private mutating func poisoned(_ inFlightRequest: InFlightRequest, at now: Timestamp) {
    let pendingRequest = inFlightRequest.pendingRequest
    if case .part(let part) = pendingRequest.kind {
      return search(pendingRequest, number: part.search, at: now) { $0.poisoned(part) }
    }
    resolve(pendingRequest.sweep, isAnswered: false, at: now)
    guard pendingRequest.plan == planNumber, bisections[pendingRequest.group] == nil,
      phase == .running
    else {
      return
    }
    // The heartbeat alone cannot be the bad token: it is what every good answer begins with.
    if inFlightRequest.symbols.isEmpty { return refuse(.unauthorised, at: now) }
    bisectionLast += 1
    bisections[pendingRequest.group] = Bisection(
      batch: Array(inFlightRequest.symbols), number: bisectionLast)
    search(pendingRequest, number: bisectionLast, at: now) { [$0.begin()] }
  }

  private mutating func search(
    _ pendingRequest: PendingRequest, number: Int, at now: Timestamp,
    step: (inout Bisection) -> [Bisection.Step]
  ) {
    guard pendingRequest.plan == planNumber, var bisection = bisections[pendingRequest.group],
      bisection.number == number
    else { return }
    let steps = step(&bisection)
    bisections[pendingRequest.group] = bisection.isOver ? nil : bisection
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
