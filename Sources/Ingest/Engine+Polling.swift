import Feeds
import Journal
import Logging
import Market
import Polling
import Transport

/// Asking and being answered: a request goes out, its answer is journaled, and only then does
/// anybody look into it.

/// How soon a decision the journal refused is tried again.
private let timerRetrySeconds: Int64 = 1

extension Engine {
  func perform(_ actions: [Poller.Action]) {
    for action in actions {
      switch action {
      case .request(let request): ask(request)
      case .wake(let moment): pollerWake = moment
      case .sweepCompleted(_, _, let failed): status.sweepCompleted(at: now, failed: failed)
      case .quarantined(let symbol):
        parts.log.error("symbol quarantined", metadata: ["symbol": "\(symbol)"])
      case .health(let state): recordHealth(state)
      case .calendarUnknown(let day):
        parts.log.critical("the trading calendar has ended", metadata: ["day": "\(day)"])
      }
    }
    status.quarantined = poller.quarantined
  }

  private func ask(_ request: PollRequest) {
    status.requests += 1
    let asked = time.steady
    let requestedAt = time.moment(at: asked)
    let upstream = parts.upstream
    let inbox = inbox
    inFlight[request.id] = Task {
      let response = await upstream.response(to: request, at: requestedAt)
      inbox.yield(.answered(request, response, asked: asked))
    }
  }

  /// Journal first; only then is anything made of an answer.
  /// - Parameter asked: on the steady clock, so that it is told in the time believed now.
  func handle(_ response: UpstreamResponse, to request: PollRequest, asked: Timestamp) {
    guard inFlight.removeValue(forKey: request.id) != nil else { return }
    let isTakeable = checkDate(response.date(at: now), askedSteady: asked)
    let (requestedAt, receivedAt) = (time.moment(at: asked), now)
    switch response {
    case .failure(let error):
      status.failed(error.code)
      status.fault.record(.transport(error.code), host: parts.upstream.host, at: receivedAt)
      perform(
        poller.received(
          .answered(request.id, .transient, retryAfterSeconds: nil), at: receivedAt))
    case .response where !isTakeable:
      perform(
        poller.received(
          .answered(request.id, .unchanged, retryAfterSeconds: nil), at: receivedAt))
      // Two that agree correct us; by a wrong clock the next slot may be far.
      perform(
        poller.received(.responseWanted(withinSeconds: ClockVerifier.doubtSeconds), at: receivedAt))
    case .response(let httpStatus, let body, _, _):
      let entry = JournalEntry.quotes(
        group: request.group, symbols: request.symbolList, requestedAt: requestedAt,
        receivedAt: receivedAt, status: httpStatus, body: body)
      let outcome = accept(entry, of: request)
      let delay = response.retryAfterSeconds(at: receivedAt)
      perform(
        poller.received(
          .answered(request.id, outcome, retryAfterSeconds: delay), at: receivedAt))
    }
  }

  private func accept(_ entry: JournalEntry, of request: PollRequest) -> PollOutcome {
    status.lastResponseAt = EngineClock.realNow()
    let receivedSteady = EngineClock.steadyNow()
    // The source did its part: asking it again at once would not make room here.
    guard let position = append(entry) else { return .unchanged }
    guard isInterpreting else {
      // The source told it, whatever becomes of it here.
      let digest = Pipeline.classify(entry, rules: pipeline.rules)
      return record(digest, of: entry)
    }
    let digest = pipeline.process(entry, at: position)
    recordResponse(receivedSteady)
    let outcome = record(digest, of: entry)
    if case .ok = digest.outcome { learnPhase(from: request, askedAt: entry.requestedAt) }
    report(digest)
    notifyExRights()
    requestListOfUnknown()
    return outcome
  }

  private func record(_ digest: Digest, of entry: JournalEntry) -> PollOutcome {
    status.answered(digest.outcome)
    status.record(digest)
    let outcome = PollOutcome(digest.outcome)
    if outcome == .ok {
      status.lastSuccessAt = entry.receivedAt
    } else {
      status.fault.record(
        .response(status: entry.status, outcome: digest.outcome.name), host: parts.upstream.host,
        at: entry.receivedAt)
    }
    return outcome
  }

  /// Rows that were not there yet when they were asked for let later sweeps begin later.
  private func learnPhase(from request: PollRequest, askedAt: Timestamp) {
    let rows = ArrivedRows(askedAt: askedAt, stamps: pipeline.stamps(of: request.symbols))
    guard let milliseconds = poller.arrived(rows, in: request) else { return }
    parts.log.info(
      "rows arrive after the sweep that requests them, sweeps begin later from now on",
      metadata: ["phase": "\(milliseconds)ms"])
  }

  /// What a person has to know of an answer beside its outcome.
  /// - Parameter isReplayed: it came earlier, so that its silences are over or are found again.
  func report(_ digest: Digest, isReplayed: Bool = false) {
    let log = parts.log
    for dispute in digest.disputes {
      var metadata: Logger.Metadata = ["symbol": "\(dispute.symbol)", "at": "\(dispute.at)"]
      if isReplayed { metadata["replayed"] = "true" }
      log.warning("\(dispute.kind.sentence)", metadata: metadata)
    }
    if isReplayed { return }
    let silent = digest.silences.filter { $0.reason != nil }
    if !silent.isEmpty {
      log.warning("no row accepted \(SilenceMonitor.Change.silent(silent, at: now))")
    }
    let back = digest.silences.filter { $0.reason == nil }
    if !back.isEmpty { log.notice("rows accepted again: \(SilenceMonitor.Change.back(back))") }
  }

  /// How long what it told takes to be rows is measured from here.
  func recordResponse(_ receivedSteady: Timestamp) {
    if pipeline.hasPendingRows { answeredSteady = receivedSteady }
  }

  /// What has come due: timer decisions, which are journal entries too, and the poller's wish.
  func runDue() {
    let now = now
    if let stopAt = limits.stopAt, time.isPast(stopAt) {
      return endSimulation(at: time.shows(end: stopAt))
    }
    if let deadline = timerDue, deadline <= now { decide(at: now) }
    if let wake = pollerWake, wake <= now {
      pollerWake = nil
      perform(poller.received(.woke, at: now))
    }
    wakeWorkers(at: now)
    logSettled(at: now)
  }

  /// A simulation ends when all that fell due before its end is decided, however late that is
  /// because interpretation lagged behind the journal.
  private func endSimulation(at end: Timestamp) {
    guard isInterpreting else { return }
    if let deadline = timerDue, deadline < end { decide(at: now) }
    beginStopping()
  }

  /// A decision the journal does not take is not made; it is tried again a little later.
  private func decide(at now: Timestamp) {
    let entry = JournalEntry.timer(at: now)
    if let position = append(entry) {
      timerHeldUntil = nil
      pipeline.process(entry, at: position)
    } else {
      timerHeldUntil = now.adding(seconds: timerRetrySeconds)
    }
  }

  private func recordHealth(_ state: SourceState) {
    status.source = state
    if state.condition == .ok { status.fault = nil }
    logChange(state, of: .live)
    commitState.health[.live] = state
  }
}

extension PollRequest {
  /// The symbols asked for, as the journal keeps them: joined by commas.
  package var symbolList: [UInt8] {
    var list: [UInt8] = []
    list.reserveCapacity(symbols.count * 9)
    for symbol in symbols {
      if !list.isEmpty { list.append(UInt8(ascii: ",")) }
      list += symbol.bytes
    }
    return list
  }
}

extension PollOutcome {
  init(_ outcome: QuoteOutcome) {
    switch outcome {
    case .ok: self = .ok
    case .throttled: self = .throttled
    case .banned: self = .banned
    case .unauthorised: self = .unauthorised
    case .poisoned: self = .poisoned
    case .empty: self = .empty
    case .malformed: self = .malformed
    case .transient: self = .transient
    case .notFound: self = .notFound
    }
  }
}
