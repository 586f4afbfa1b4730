// Answers: what each outcome changes.
import Market

extension Poller {
  mutating func answered(
    _ id: PollRequestID, _ outcome: PollOutcome, _ retryAfterSeconds: Int?, _ now: Timestamp
  ) {
    guard let flight = inFlight.removeValue(forKey: id) else { return }
    switch outcome {
    case .ok, .unchanged: succeed(flight, now)
    case .empty where retryAfterSeconds == nil && mayAskAgain(flight.errand):
      var errand = flight.errand
      errand.hasRetriedEmpty = true
      errand.notBefore = steady
      pending.append(errand)
    default: fail(flight, outcome, retryAfterSeconds, now)
    }
  }

  /// An empty body is asked for once more, at once, if that still serves the slot.
  private func mayAskAgain(_ errand: Errand) -> Bool {
    guard phase == .running, !errand.hasRetriedEmpty, breaker.isClosed else { return false }
    return errand.plan == planNumber && (errand.isPart || isOfThisSlot(errand))
  }

  private func isOfThisSlot(_ errand: Errand) -> Bool {
    sweeps[errand.sweep]?.slot == slotGrid && slotEnd.map { steady < $0 } ?? false
  }

  private mutating func succeed(_ flight: Flight, _ now: Timestamp) {
    wasAnswered = true
    missedSlots = 0
    answeredAt = now
    switch flight.errand.kind {
    case .probe: breaker.probed(.recovered, at: steady)
    case .part(let part):
      search(flight.errand, part.search, now) { $0.cleared(part) }
    case .batch:
      failures[flight.errand.group] = nil
      resolve(flight.errand.sweep, isAnswered: true, now)
    }
  }

  mutating func fail(
    _ flight: Flight, _ outcome: PollOutcome, _ retryAfterSeconds: Int?, _ now: Timestamp
  ) {
    let isProbe = if case .probe = flight.errand.kind { true } else { false }
    // A throttled batch is held below, by more than what is asked for.
    if outcome != .throttled || isProbe, let retryAfterSeconds {
      hold(milliseconds: bounded(retryAfterSeconds) * 1_000)
    }
    if isProbe {
      let isRefused = outcome == .banned || outcome == .unauthorised
      breaker.probed(isRefused ? .banned : .none, at: steady)
      if isRefused { note(outcome == .banned ? .banned : .unauthorised, since: now) }
      return
    }
    switch outcome {
    case .banned, .unauthorised:
      refuse(outcome == .banned ? .banned : .unauthorised, now)
      giveUp(flight, now)
    case .throttled:
      throttle(retryAfterSeconds)
      giveUp(flight, now)
      dropPending(now, where: \.isBatch)
    case .poisoned: poisoned(flight, now)
    case .notFound: giveUp(flight, now)
    case .ok, .unchanged, .empty, .malformed, .transient: retry(flight, now)
    }
  }

  /// The batch has failed for this slot; a part of a search waits for its turn.
  private mutating func giveUp(_ flight: Flight, _ now: Timestamp) {
    if flight.errand.isPart {
      retry(flight, now)
    } else {
      resolve(flight.errand.sweep, isAnswered: false, now)
    }
  }

  private mutating func retry(_ flight: Flight, _ now: Timestamp) {
    var errand = flight.errand
    errand.retries += 1
    if errand.isPart { return retry(part: errand) }
    let failed = failures[errand.group, default: 0] + 1
    failures[errand.group] = failed
    errand.notBefore = steady.adding(
      milliseconds: Int64(retryBackoff.delayMilliseconds(failures: failed)))
    let isInTime = isOfThisSlot(errand) && slotEnd.map { errand.notBefore < $0 } ?? false
    if phase == .running, breaker.isClosed, isInTime, errand.plan == planNumber,
      errand.retries <= configuration.retriesPerSlotMax
    {
      pending.append(errand)
    } else {
      resolve(errand.sweep, isAnswered: false, now)
    }
  }

  /// A search waits as long as it must, but not for ever.
  private mutating func retry(part errand: Errand) {
    guard phase == .running, errand.plan == planNumber, case .part(let part) = errand.kind,
      bisections[errand.group]?.number == part.search
    else { return }
    guard errand.retries <= Poller.partRetriesMax else {
      bisections[errand.group] = nil
      pending.removeAll { $0.isPart && $0.group == errand.group }
      return
    }
    var errand = errand
    errand.notBefore = steady.adding(
      milliseconds: Int64(retryBackoff.delayMilliseconds(failures: errand.retries)))
    pending.append(errand)
  }

  /// The host refuses us: nothing more goes out until the cool-down is over.
  private mutating func refuse(_ condition: SourceState.Condition, _ now: Timestamp) {
    breaker.tripped(at: steady)
    dropPending(now, where: \.isBatch)
    note(condition, since: now)
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

  private mutating func poisoned(_ flight: Flight, _ now: Timestamp) {
    let errand = flight.errand
    if case .part(let part) = errand.kind {
      return search(errand, part.search, now) { $0.poisoned(part) }
    }
    resolve(errand.sweep, isAnswered: false, now)
    guard errand.plan == planNumber, bisections[errand.group] == nil, phase == .running else {
      return
    }
    // The heartbeat alone cannot be the bad token: it is what every good answer begins with.
    if flight.symbols.isEmpty { return refuse(.unauthorised, now) }
    bisectionLast += 1
    bisections[errand.group] = Bisection(batch: Array(flight.symbols), number: bisectionLast)
    search(errand, bisectionLast, now) { [$0.begin()] }
  }

  private mutating func search(
    _ errand: Errand, _ number: Int, _ now: Timestamp,
    _ step: (inout Bisection) -> [Bisection.Step]
  ) {
    guard errand.plan == planNumber, var bisection = bisections[errand.group],
      bisection.number == number
    else { return }
    let steps = step(&bisection)
    bisections[errand.group] = bisection.isOver ? nil : bisection
    for step in steps {
      switch step {
      case .ask(let part):
        if phase == .running { pending.append(self.errand(.part(part), group: errand.group)) }
      case .quarantine(let symbol):
        quarantined.insert(symbol)
        actions.append(.quarantined(symbol))
      case .abandon:
        refuse(.unauthorised, now)
      }
    }
  }
}
