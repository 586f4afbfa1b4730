// Answers: what each outcome changes for its job, for the line and for the source's health.
import Market

extension PacedQueue {
  mutating func answered(
    _ id: PollRequestID, outcome: RequestOutcome, retryAfterSeconds: Int?, at now: Timestamp
  ) {
    guard let inFlightRequest = inFlight.removeValue(forKey: id) else { return }
    inFlightIDs[inFlightRequest.pendingRequest.job] = nil
    if inFlightRequest.isProbe { gate.probed(Self.verdict(outcome)) }
    switch outcome {
    case .ok, .failed, .notFound, .unauthorised, .poisoned:
      succeeded(now)
      let job = inFlightRequest.pendingRequest.job
      actions.append(outcome == .ok ? .finished(job) : .abandoned(job, .failed))
    case .throttled:
      throttle(retryAfterSeconds, at: now)
      refuse(inFlightRequest, outcome: outcome)
    case .banned:
      ban(retryAfterSeconds, at: now)
      refuse(inFlightRequest, outcome: outcome)
    case .transient, .malformed, .empty, .unchanged:
      // A 503 may say when to come back.
      if let retryAfterSeconds { gate.wait(seconds: retryAfterSeconds) }
      missed(now)
      retry(inFlightRequest)
    case .postponed(let until):
      var pendingRequest = inFlightRequest.pendingRequest
      pendingRequest.notBefore = until
      requeue(pendingRequest, of: inFlightRequest)
    }
  }

  /// An answer of any content proves that the ban is over; silence proves nothing.
  private static func verdict(_ outcome: RequestOutcome) -> Breaker.Verdict {
    switch outcome {
    case .ok, .failed, .notFound, .unauthorised, .poisoned: .recovered
    case .banned: .banned
    case .throttled, .transient, .malformed, .empty, .unchanged, .postponed: .none
    }
  }

  // MARK: The job

  private mutating func retry(_ inFlightRequest: InFlightRequest) {
    var pendingRequest = inFlightRequest.pendingRequest
    pendingRequest.retries += 1
    guard pendingRequest.retries <= configuration.retriesMax else {
      return actions.append(.abandoned(pendingRequest.job, .triesSpent(.transient)))
    }
    pendingRequest.restsUntil = gate.retryAt(failures: pendingRequest.retries)
    requeue(pendingRequest, of: inFlightRequest)
  }

  /// It goes to the end of its line: a job that the host never answers must not be every probe.
  private mutating func refuse(_ inFlightRequest: InFlightRequest, outcome: RequestOutcome) {
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
    gate.throttlingEnded()
    gate.answered(at: now)
    report(gate.found(.ok, at: now))
  }

  private mutating func throttle(_ retryAfterSeconds: Int?, at now: Timestamp) {
    gate.throttled(retryAfterSeconds: retryAfterSeconds)
    report(gate.found(.degraded, at: now))
  }

  private mutating func ban(_ retryAfterSeconds: Int?, at now: Timestamp) {
    if let retryAfterSeconds { gate.wait(seconds: retryAfterSeconds) }
    report(gate.refused(.banned, at: now))
  }

  private mutating func missed(_ now: Timestamp) {
    gate.missed()
    if gate.isSilent { gate.pause(failures: gate.misses - HostGate.silentMisses + 1) }
    report(gate.found(gate.isSilent ? .stalled : .degraded, at: now))
  }

  private mutating func report(_ health: SourceState?) {
    if let health { actions.append(.health(health)) }
  }
}
