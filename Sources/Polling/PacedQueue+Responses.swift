// Answers: what each outcome changes for its job, for the line and for the source's health.
import Market

extension PacedQueue {
  mutating func answered(
    _ id: PollRequestID, outcome: PacedOutcome, retryAfterSeconds: Int?, at now: Timestamp
  ) {
    guard let inFlightRequest = inFlight.removeValue(forKey: id) else { return }
    inFlightIDs[inFlightRequest.pendingRequest.job] = nil
    if inFlightRequest.isProbe { breaker.probed(Self.verdict(outcome), at: steady) }
    switch outcome {
    case .ok, .failed:
      succeeded(now)
      let job = inFlightRequest.pendingRequest.job
      actions.append(outcome == .ok ? .finished(job) : .abandoned(job, .failed))
    case .throttled:
      throttle(retryAfterSeconds, at: now)
      refuse(inFlightRequest, outcome: outcome)
    case .banned:
      ban(retryAfterSeconds, at: now)
      refuse(inFlightRequest, outcome: outcome)
    case .transient:
      // A 503 may say when to come back.
      if let retryAfterSeconds { wait(seconds: retryAfterSeconds) }
      missed(now)
      retry(inFlightRequest)
    case .postponed(let until):
      var pendingRequest = inFlightRequest.pendingRequest
      pendingRequest.notBefore = until
      requeue(pendingRequest, of: inFlightRequest)
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

  private mutating func retry(_ inFlightRequest: InFlightRequest) {
    var pendingRequest = inFlightRequest.pendingRequest
    pendingRequest.retries += 1
    guard pendingRequest.retries <= configuration.retriesMax else {
      return actions.append(.abandoned(pendingRequest.job, .triesSpent(.transient)))
    }
    let delay = retryBackoff.delayMilliseconds(failures: pendingRequest.retries)
    pendingRequest.restsUntil = steady.adding(milliseconds: Int64(delay))
    requeue(pendingRequest, of: inFlightRequest)
  }

  /// It goes to the end of its line: a job that the host never answers must not be every probe.
  private mutating func refuse(_ inFlightRequest: InFlightRequest, outcome: PacedOutcome) {
    var pendingRequest = inFlightRequest.pendingRequest
    pendingRequest.refusals += 1
    placeLast += 1
    pendingRequest.place = placeLast
    guard pendingRequest.refusals <= configuration.refusalsMax else {
      return actions.append(.abandoned(pendingRequest.job, .triesSpent(outcome)))
    }
    requeue(pendingRequest, of: inFlightRequest)
  }

  private mutating func requeue(
    _ pendingRequest: PendingRequest, of inFlightRequest: InFlightRequest
  ) {
    if inFlightRequest.isWithdrawn {
      actions.append(.abandoned(pendingRequest.job, .withdrawn))
    } else if isStopping {
      actions.append(.abandoned(pendingRequest.job, .stopped))
    } else {
      insert(pendingRequest)
    }
  }

  // MARK: The line

  private mutating func succeeded(_ now: Timestamp) {
    throttles = 0
    failures = 0
    answeredAt = now
    if breaker.isClosed { recordHealth(.ok, since: now) }
  }

  private mutating func throttle(_ retryAfterSeconds: Int?, at now: Timestamp) {
    // What was in flight together is one complaint, not one for each.
    if throttles == 0 || heldUntil.map({ $0 <= steady }) ?? true { throttles += 1 }
    hold(
      milliseconds: throttleBackoff.delayMilliseconds(
        failures: throttles, retryAfterSeconds: retryAfterSeconds))
    if breaker.isClosed { recordHealth(.degraded, since: now) }
  }

  private mutating func ban(_ retryAfterSeconds: Int?, at now: Timestamp) {
    breaker.tripped(at: steady)
    if let retryAfterSeconds { wait(seconds: retryAfterSeconds) }
    recordHealth(.banned, since: now)
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
    if isSilent {
      recordHealth(.stalled, since: answeredAt ?? now)
    } else {
      recordHealth(.degraded, since: now)
    }
  }

  /// Nothing goes out for so long, or longer if a longer hold is on.
  private mutating func hold(milliseconds: Int) {
    let until = steady.adding(milliseconds: Int64(milliseconds))
    heldUntil = max(heldUntil ?? until, until)
  }

  private mutating func recordHealth(_ condition: SourceState.Condition, since: Timestamp) {
    guard health?.condition != condition else { return }
    let state = SourceState(condition, since: since)
    health = state
    actions.append(.health(state))
  }
}
