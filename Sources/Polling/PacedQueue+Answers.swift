// Answers: what each outcome changes for its job, for the line and for the source's health.
import Market

extension PacedQueue {
  mutating func answered(
    _ id: PollRequestID, _ outcome: PacedOutcome, _ retryAfterSeconds: Int?, _ now: Timestamp
  ) {
    guard let flight = inFlight.removeValue(forKey: id) else { return }
    flights[flight.errand.job] = nil
    if flight.isProbe { breaker.probed(Self.verdict(outcome), at: steady) }
    switch outcome {
    case .ok, .failed:
      heard(now)
      let job = flight.errand.job
      actions.append(outcome == .ok ? .finished(job) : .gaveUp(job, .failed))
    case .throttled:
      throttle(retryAfterSeconds, now)
      refuse(flight, outcome)
    case .banned:
      ban(retryAfterSeconds, now)
      refuse(flight, outcome)
    case .transient:
      // A 503 may say when to come back.
      if let retryAfterSeconds { wait(seconds: retryAfterSeconds) }
      missed(now)
      retry(flight)
    case .postponed(let until):
      var errand = flight.errand
      errand.notBefore = until
      requeue(errand, flight)
    }
  }

  /// An answer of any content proves that the ban is over; silence proves nothing.
  private static func verdict(_ outcome: PacedOutcome) -> Breaker.Verdict {
    switch outcome {
    case .ok, .failed: .recovered
    case .banned: .banned
    case .throttled, .transient, .postponed: .none
    }
  }

  // MARK: The job

  private mutating func retry(_ flight: Flight) {
    var errand = flight.errand
    errand.retries += 1
    guard errand.retries <= configuration.retriesMax else {
      return actions.append(.gaveUp(errand.job, .triesSpent(.transient)))
    }
    let delay = retryBackoff.delayMilliseconds(failures: errand.retries)
    errand.restsUntil = steady.adding(milliseconds: Int64(delay))
    requeue(errand, flight)
  }

  /// It goes to the end of its line: a job that the host never answers must not be every probe.
  private mutating func refuse(_ flight: Flight, _ outcome: PacedOutcome) {
    var errand = flight.errand
    errand.refusals += 1
    placeLast += 1
    errand.place = placeLast
    guard errand.refusals <= configuration.refusalsMax else {
      return actions.append(.gaveUp(errand.job, .triesSpent(outcome)))
    }
    requeue(errand, flight)
  }

  private mutating func requeue(_ errand: Errand, _ flight: Flight) {
    if flight.isWithdrawn {
      actions.append(.gaveUp(errand.job, .withdrawn))
    } else if isStopping {
      actions.append(.gaveUp(errand.job, .stopped))
    } else {
      stand(errand)
    }
  }

  // MARK: The line

  private mutating func heard(_ now: Timestamp) {
    throttles = 0
    failures = 0
    answeredAt = now
    if breaker.isClosed { note(.ok, since: now) }
  }

  private mutating func throttle(_ retryAfterSeconds: Int?, _ now: Timestamp) {
    // What was in flight together is one complaint, not one for each.
    if throttles == 0 || heldUntil.map({ $0 <= steady }) ?? true { throttles += 1 }
    hold(
      milliseconds: throttleBackoff.delayMilliseconds(
        failures: throttles, retryAfterSeconds: retryAfterSeconds))
    if breaker.isClosed { note(.degraded, since: now) }
  }

  private mutating func ban(_ retryAfterSeconds: Int?, _ now: Timestamp) {
    breaker.tripped(at: steady)
    if let retryAfterSeconds { wait(seconds: retryAfterSeconds) }
    note(.banned, since: now)
  }

  /// What a server asks for, as far as it is believed.
  private mutating func wait(seconds: Int) {
    hold(milliseconds: min(max(seconds, 0), RetryAfter.secondsMax) * 1_000)
  }

  private mutating func missed(_ now: Timestamp) {
    failures += 1
    if isSilent {
      let pauses = failures - Self.silentFailures + 1
      hold(milliseconds: retryBackoff.delayMilliseconds(failures: pauses))
    }
    guard breaker.isClosed else { return }
    if isSilent { note(.stalled, since: answeredAt ?? now) } else { note(.degraded, since: now) }
  }

  /// Nothing goes out for so long, or longer if a longer hold is on.
  private mutating func hold(milliseconds: Int) {
    let until = steady.adding(milliseconds: Int64(milliseconds))
    heldUntil = max(heldUntil ?? until, until)
  }

  private mutating func note(_ condition: SourceState.Condition, since: Timestamp) {
    guard health?.condition != condition else { return }
    let state = SourceState(condition, since: since)
    health = state
    actions.append(.health(state))
  }
}
