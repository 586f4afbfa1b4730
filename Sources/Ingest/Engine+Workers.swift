import Feeds
import Journal
import Logging
import Market
import Polling
import Transport

/// The engine's side of the workers: it makes the requests they want, journals the answers, and
/// notifies them of what came of it. A worker is named by its place.

extension Engine {
  /// Live quotes are requested at once: what is answered meanwhile waits its turn in the journal.
  /// Without a clock that begins once the tail is interpreted: it has the moment to go on from.
  func startLive() {
    guard !workers.isLiveStarted, interpretation.catchUp == nil || !parts.clock.isStepped else {
      return
    }
    workers.isLiveStarted = true
    if !time.mayBeWrong { time.step(to: pipeline.knownAt) }
    restoreLive()
    assignRoles()
    for place in workers.slots.indices { notify(place, event: .started) }
  }

  /// Once the tail is interpreted: before that, what keys have spent is not known. And by a clock
  /// that is right: their answers are journaled by it.
  func openWorkers() {
    guard !workers.areOpen, isInterpreting, time.isTrusted, !waiting.isStopping else { return }
    workers.areOpen = true
    followTail()
    let first = workers.slots.count
    workers.slots += parts.workers.make(for: pipeline).map { WorkerSlot(worker: $0) }
    for place in workers.slots.indices.dropFirst(first) { notify(place, event: .started) }
    deliver(workers.takeKept())
  }

  /// What the tail told of days and instruments.
  func followTail() {
    notifyWorkers(.found(.calendar(pipeline.calendar)))
    notifyWorkers(.found(.universe(pipeline.universe)))
  }

  /// What was found reaches the workers in order.
  func deliver(_ events: [MarketEvent]) {
    guard workers.areOpen else { return workers.keep(events) }
    for event in events { notifyWorkers(.found(event)) }
  }

  /// A request whose key could not be recorded is answered with nothing, once what came with it is
  /// performed: a later wake must not be undone by an earlier one.
  func notify(_ place: Int, event: WorkerEvent) {
    if workers.slots[place].isClosed { return }
    var events = [event]
    while !events.isEmpty {
      events += perform(
        workers.slots[place].worker.received(events.removeFirst(), at: now), of: place)
    }
  }

  func notifyWorkers(_ event: WorkerEvent) {
    for place in workers.slots.indices { notify(place, event: event) }
  }

  func wakeWorkers(at now: Timestamp) {
    for place in workers.slots.indices {
      guard let wake = workers.slots[place].wake, wake <= now else { continue }
      workers.slots[place].wake = nil
      notify(place, event: .woke)
    }
  }

  /// - Returns: what the worker must be given next.
  func perform(_ actions: [WorkerAction], of place: Int) -> [WorkerEvent] {
    var events: [WorkerEvent] = []
    var isRecorded = true
    for action in actions {
      switch action {
      case .record(let usage): isRecorded = journal(.usage(usage, at: now))
      case .coolDown(let coolDown): record(coolDown, of: place)
      case .request(let request) where !isRecorded:
        isRecorded = true
        events.append(.answered(request.id, WorkerResponse()))
      case .request(let request): send(request, of: place)
      case .wake(let moment): workers.slots[place].wake = moment
      case .lookForRepairs(let day): lookForRepairs(from: day, of: place)
      case .health(let state): recordHealth(state, of: place)
      case .sweepCompleted(let failed):
        workers.slots[place].account.sweepCompleted(failed: failed)
        status.quotes.sweepCompleted(at: now)
      case .alarm(let sentence):
        parts.log.critical(
          "\(sentence)", metadata: ["endpoint": "\(workers.slots[place].worker.name)"])
      case .log(let level, let sentence, let metadata):
        parts.log.log(
          level: level, "\(sentence)", metadata: metadata.mapValues { .string($0) })
      }
    }
    return events
  }

  private func send(_ request: WorkerRequest, of place: Int) {
    workers.slots[place].account.requests += 1
    if case .quotes(let query) = request.feedRequest.query { followRequest(query, at: place) }
    let asked = time.steady
    var request = request
    request.feedRequest = request.feedRequest.sent(at: time.moment(at: asked))
    let (inbox, upstream) = (inbox, parts.workers.upstream)
    let workerID = WorkerSet.WorkerID(place: place, round: workers.slots[place].round)
    // Unstructured: an answer is an event of the loop, and a worker that closes cancels it.
    workers.slots[place].inFlight[request.id] = Task { [request] in
      let response = await upstream.response(
        to: request.feedRequest, key: request.key, host: request.host)
      inbox.yield(.answered(request, response, workerID, asked: asked))
    }
  }
}

// MARK: - Answers

extension Engine {
  /// Journal first; only then is anything made of an answer. Of one that refuses live quotes the
  /// cool-down goes before.
  /// - Parameter asked: on the steady clock, so that it is given in the time that counts now.
  func handle(
    _ response: UpstreamResponse, to request: WorkerRequest, of workerID: WorkerSet.WorkerID,
    asked: Timestamp
  ) {
    let place = workerID.place
    guard workers.slots[place].round == workerID.round,
      workers.slots[place].inFlight.removeValue(forKey: request.id) != nil
    else { return }
    let isLive = workers.slots[place].worker.isLive
    let isTakeable = !isLive || checkDate(response.date, askedSteady: asked)
    let (requestedAt, receivedAt) = (time.moment(at: asked), now)
    var answer = WorkerResponse()
    var found: [MarketEvent] = []
    var refused: JournalEntry?
    switch response {
    case .failure(let error):
      answer.retryAfterSeconds = response.retryAfterSeconds(at: receivedAt)
      status.quotes.failed(error.code)
      failed(.transport(error.code), request: request, of: place, at: receivedAt)
    case .response where !isTakeable: answer.isReceived = true
    case .response(let httpStatus, let body, _, _):
      let entry = JournalEntry.response(
        to: request.feedRequest, requestedAt: requestedAt, receivedAt: receivedAt,
        status: httpStatus, body: body)
      if let refusal = refusal(in: entry) {
        (answer.response, refused) = (refusal, entry)
      } else {
        (answer, found) = interpret(entry, of: request.feedRequest)
      }
      answer.isReceived = true
      answer.retryAfterSeconds = response.retryAfterSeconds(at: receivedAt)
      record(answer, httpStatus: httpStatus, request: request, of: place, at: receivedAt)
    }
    notify(place, event: .answered(request.id, answer))
    if let refused { found = interpret(refused, of: request.feedRequest).1 }
    followAnswer(answer, to: request.feedRequest.query, at: place)
    // Two that agree correct us; by a wrong clock the next slot may be far.
    if !isTakeable {
      notify(place, event: .responseWanted(withinSeconds: ClockVerifier.doubtSeconds))
    }
    deliver(found)
  }

  private func record(
    _ answer: WorkerResponse, httpStatus: Int32, request: WorkerRequest, of place: Int,
    at receivedAt: Timestamp
  ) {
    let isLive = workers.slots[place].worker.isLive
    let outcome = answer.outcomeName
    if let outcome { workers.slots[place].account.outcomes[outcome, default: 0] += 1 }
    if outcome == "ok" {
      workers.slots[place].account.lastSuccessAt = receivedAt
      if !isLive { workers.slots[place].account.fault = nil }
    } else if outcome != nil || !isLive {
      let reason = SourceFault.Reason.response(
        status: httpStatus, outcome: outcome ?? "not journaled")
      failed(reason, request: request, of: place, at: receivedAt)
    }
  }

  private func failed(
    _ reason: SourceFault.Reason, request: WorkerRequest, of place: Int, at moment: Timestamp
  ) {
    // A sweep counts its own.
    if !workers.slots[place].worker.isLive { workers.slots[place].account.failures += 1 }
    workers.slots[place].account.fault.record(
      reason,
      host: parts.workers.upstream.hostName(of: request.feedRequest, host: request.host),
      at: moment)
  }

  /// What an answer says, and what was found in it; nothing where the journal could not take it.
  func interpret(
    _ entry: JournalEntry, of feedRequest: FeedRequest
  ) -> (WorkerResponse, [MarketEvent]) {
    if case .quotes = feedRequest.query { status.quotes.lastResponseAt = EngineClock.realNow() }
    let receivedSteady = EngineClock.steadyNow()
    guard let position = append(entry) else { return (WorkerResponse(), []) }
    guard isInterpreting else {
      // The source told it, whatever becomes of it here.
      let digest = Pipeline.read(entry, calendar: pipeline.calendar, rules: pipeline.rules)
      workers.quoted(entry.source, through: digest.newestAt)
      return (WorkerResponse(response: digest.response), [])
    }
    let digest = pipeline.process(entry, at: position)
    // How long what it told takes to be rows is measured from here.
    if pipeline.hasPendingRows { commitState.receivedSteady = receivedSteady }
    workers.quoted(entry.source, through: digest.newestAt)
    report(digest)
    var answer = WorkerResponse(response: digest.response)
    if case .quotes(let query) = feedRequest.query, case .quotes(.ok) = digest.response {
      answer.rows = ArrivedRows(
        askedAt: entry.requestedAt, stamps: pipeline.stamps(of: query.symbols, from: entry.source))
    }
    return (answer, digest.found)
  }

  /// Whether the journal holds it.
  func journal(_ entry: JournalEntry) -> Bool {
    guard let position = append(entry) else { return false }
    if isInterpreting { pipeline.process(entry, at: position) }
    return true
  }

  private func lookForRepairs(from day: TradingDay, of place: Int) {
    workers.lookups += 1
    ask(
      { (store) async throws(StoreError) in try await store.repairCandidates(from: day) },
      then: { .repairsFound(place, $0) })
  }

  func repairsFound(_ result: Result<[RepairCandidate], StoreError>, for place: Int) {
    workers.lookups -= 1
    if case .failure(let error) = result {
      parts.log.error("cannot look up repairs, will retry", metadata: ["error": "\(error)"])
    }
    notify(place, event: .repairsFound(try? result.get()))
  }

  private func recordHealth(_ state: SourceState, of place: Int) {
    let worker = workers.slots[place].worker
    workers.slots[place].account.health = state
    if worker.isLive, state.condition == .ok { workers.slots[place].account.fault = nil }
    logChange(state, of: worker.source, endpoint: worker.isLive ? nil : worker.name)
    commitState.staleHealth.insert(place)
  }
}

// MARK: - A new configuration

/// What a reload changes of a running engine.
package struct EngineUpdate: Sendable {
  var limits: EngineLimits
  var workers: WorkerConfiguration
  var credentials: SourceCredentials
}

extension Engine {
  /// Takes up a new configuration between two turns: slots go on, what is in flight is answered.
  /// Workers whose keys or instruments changed begin anew, as after a restart.
  package func update(_ update: EngineUpdate) {
    guard !waiting.isStopping else { return }
    limits.journalBytesMax = update.limits.journalBytesMax
    limits.journalDaysMax = update.limits.journalDaysMax
    limits.quotesStaleSecondsMax = update.limits.quotesStaleSecondsMax
    let renewed = parts.workers.renewed(update.workers, credentials: update.credentials)
    workers.toReopen.formUnion(renewed.namesChanged(from: parts.workers))
    parts.workers = renewed
    let declared = pipeline.calendar.overrides
    pipeline.configure(update.workers).log(to: parts.log)
    if pipeline.calendar.overrides != declared {
      notifyWorkers(.found(.calendar(pipeline.calendar)))
    }
    reconfigureLive(update.workers)
    // Not at the next turn: answers that wait for it would be asked on with the old keys.
    reopenWorkers()
    inbox.yield(.woke(for: nil))
  }

  /// Not before the tail is interpreted: a worker is made from what the pipeline knows of its keys.
  /// Until then the one there is goes on, with the keys it was made with.
  func reopenWorkers() {
    guard !workers.toReopen.isEmpty, workers.areOpen, isInterpreting, !waiting.isStopping else {
      return
    }
    let made = parts.workers.make(for: pipeline)
    for name in workers.toReopen.sorted() {
      let place = workers.slots.firstIndex { $0.worker.name == name }
      let worker = made.first { $0.name == name }
      if let place { close(place) }
      if let worker { open(worker, at: place) }
    }
    workers.toReopen = []
    parts.workers.forgetEarlierKeys()
  }

  /// Answers that are under way belong to nobody any more, and nothing is wrong with who is not
  /// asked.
  func close(_ place: Int) {
    if workers.slots[place].isClosed { return }
    workers.cancelRequests(of: place)
    workers.slots[place].wake = nil
    workers.slots[place].round += 1
    workers.slots[place].isClosed = true
    if workers.slots[place].account.health == nil { return }
    workers.slots[place].account.health = SourceState(.ok, since: now)
    commitState.staleHealth.insert(place)
  }

  func open(_ worker: any SourceWorker, at place: Int?, isStarted: Bool = true) {
    let place = place ?? workers.slots.count
    if place == workers.slots.count { workers.slots.append(WorkerSlot(worker: worker)) }
    workers.slots[place].worker = worker
    workers.slots[place].isClosed = false
    workers.slots[place].account.health = nil
    if isStarted { notify(place, event: .started) }
  }
}
