import Feeds
import Journal
import Logging
import Market
import Polling
import Postgres
import Store
import Transport

/// The engine's side of the workers: it performs what they ask for, journals it, and tells them
/// what came of it. A worker is named by its place.

/// A worker with what the engine keeps for it.
struct WorkerSlot {
  var worker: any SourceWorker
  var wake: Timestamp?
  var health: SourceState?
  var requests = 0
  var failures = 0
  var lastSuccessAt: Timestamp?
  /// Since its last good answer.
  var fault: SourceFault?
  /// Answers, by the outcome's name.
  var outcomes: [String: Int] = [:]
  var inFlight: [PollRequestID: Task<Void, Never>] = [:]
  /// Counts the workers that had this seat: an answer to an earlier one is not this one's.
  var round = 0
  /// The configuration has no such worker any more.
  var isClosed = false

  func healthRow(at now: Timestamp) -> SourceHealthRow? {
    guard let health else { return nil }
    let fault = health.condition == .ok ? nil : fault
    var row = SourceHealthRow(
      source: worker.source, endpoint: worker.name, state: health.condition.word,
      since: health.since, lastSuccessAt: lastSuccessAt, requests: Int64(requests),
      failures: Int64(failures),
      detail: isClosed
        ? "no longer configured" : fault?.sentence(at: now) ?? "\(health.condition)")
    row.updatedAt = now
    return row
  }
}

extension Engine {
  /// Once the tail is interpreted: before that, what keys have spent is not known. And by a clock
  /// that is right: their answers are journaled by it.
  func openWorkers() {
    guard !areWorkersOpen, isInterpreting, time.isTrusted, !isStopping else { return }
    areWorkersOpen = true
    followTail()
    workerSlots = parts.workers.make(for: pipeline).map { WorkerSlot(worker: $0) }
    for place in workerSlots.indices { notify(place, .started) }
    notifyExRights()
  }

  /// What the tail told of days and instruments reaches the poller.
  func followTail() {
    parts.workers.configuration.calendar.set(pipeline.calendar)
    followUniverse()
  }

  /// A request whose key could not be recorded is answered with nothing, once what came with it is
  /// performed: a later wake must not be undone by an earlier one.
  func notify(_ place: Int, _ event: WorkerEvent) {
    if workerSlots[place].isClosed { return }
    var events = [event]
    while !events.isEmpty {
      var isRecorded = true
      for action in workerSlots[place].worker.received(events.removeFirst(), at: now) {
        if let event = perform(action, of: place, &isRecorded) { events.append(event) }
      }
    }
  }

  func notifyWorkers(_ event: WorkerEvent) {
    guard areWorkersOpen else { return }
    for place in workerSlots.indices { notify(place, event) }
  }

  func wakeWorkers(at now: Timestamp) {
    for place in workerSlots.indices {
      guard let wake = workerSlots[place].wake, wake <= now else { continue }
      workerSlots[place].wake = nil
      notify(place, .woke)
    }
  }

  var workerWake: Timestamp? { workerSlots.compactMap(\.wake).min() }

  var workerRequestsInFlight: Int { workerSlots.reduce(0) { $0 + $1.inFlight.count } }

  private func perform(
    _ action: WorkerAction, of place: Int, _ isRecorded: inout Bool
  ) -> WorkerEvent? {
    switch action {
    case .record(let usage): isRecorded = journal(usage)
    case .request(let request) where !isRecorded:
      isRecorded = true
      return .answered(request.id, WorkerResponse())
    case .request(let request): ask(request, of: place)
    case .wake(let moment): workerSlots[place].wake = moment
    case .lookForRepairs(let day): lookForRepairs(from: day, of: place)
    case .health(let state): recordHealth(state, of: place)
    case .alarm(let sentence):
      parts.log.critical("\(sentence)", metadata: ["endpoint": "\(workerSlots[place].worker.name)"])
    }
    return nil
  }

  private func ask(_ request: WorkerRequest, of place: Int) {
    guard let upstream = parts.workers.upstream else { return }
    workerSlots[place].requests += 1
    let asked = time.steady
    let inbox = inbox
    let round = workerSlots[place].round
    workerSlots[place].inFlight[request.id] = Task {
      let response = await upstream.response(
        to: request.feedRequest, key: request.key, host: request.host)
      inbox.yield(.workerAnswered(place, round: round, request, response, asked: asked))
    }
  }

  /// Journal first; only then does anybody look into it.
  func handle(
    _ response: UpstreamResponse, to request: WorkerRequest, of place: Int, asked: Timestamp
  ) {
    guard workerSlots[place].inFlight.removeValue(forKey: request.id) != nil else { return }
    let (requestedAt, receivedAt) = (time.moment(at: asked), now)
    let host = parts.workers.upstream?.hostName(of: request.feedRequest, host: request.host)
    var workerResponse = WorkerResponse()
    switch response {
    case .failure(let error):
      workerSlots[place].failures += 1
      workerSlots[place].fault.record(.transport(error.code), host: host, at: receivedAt)
      status.failed(error.code)
    case .response(let httpStatus, let body, _, _):
      workerResponse = interpret(
        .response(
          to: request.feedRequest, requestedAt: requestedAt, receivedAt: receivedAt,
          status: httpStatus, body: body))
      workerResponse.retryAfterSeconds = response.retryAfterSeconds(at: receivedAt)
      workerSlots[place].outcomes[workerResponse.refusal?.kind.name ?? "ok", default: 0] += 1
      if workerResponse.response != nil, workerResponse.refusal == nil {
        workerSlots[place].lastSuccessAt = receivedAt
        workerSlots[place].fault = nil
      } else {
        workerSlots[place].failures += 1
        let outcome = workerResponse.refusal?.kind.name ?? "not journaled"
        workerSlots[place].fault.record(
          .response(status: httpStatus, outcome: outcome), host: host, at: receivedAt)
      }
    }
    notify(place, .answered(request.id, workerResponse))
  }

  func interpret(_ entry: JournalEntry) -> WorkerResponse {
    let receivedSteady = EngineClock.steadyNow()
    guard let position = append(entry) else { return WorkerResponse() }
    let calendar = parts.workers.configuration.calendar
    guard isInterpreting else {
      return WorkerResponse(response: Pipeline.feedResponse(entry, calendar: calendar.current))
    }
    let workerResponse = pipeline.process(entry, at: position).feed ?? WorkerResponse()
    recordResponse(receivedSteady)
    calendar.set(pipeline.calendar)
    if case .accepted = workerResponse.listVerdict { followUniverse() }
    return workerResponse
  }

  /// A new list changes what is polled, from the next slot on.
  private func followUniverse() {
    guard limits.followsUniverse else { return }
    let added = pipeline.universe.listedSymbols(beside: poller.symbols)
    let gone = Set(pipeline.universe.members.filter(\.isDelisted).map(\.instrument.symbol))
    let symbols = poller.symbols.filter { !gone.contains($0) } + added
    if symbols != poller.symbols { perform(poller.received(.symbolsChanged(symbols), at: now)) }
  }

  /// A symbol the source no longer knows, or does not know yet: the list may tell. Once each.
  func requestListOfUnknown() {
    guard areWorkersOpen, !pipeline.unknownSymbols.isEmpty else { return }
    let newUnknownSymbols = Set(pipeline.unknownSymbols).subtracting(reportedUnknownSymbols)
    guard !newUnknownSymbols.isEmpty else { return }
    reportedUnknownSymbols.formUnion(newUnknownSymbols)
    notifyWorkers(.listWanted)
  }

  /// Dividends are noticed by the quotes, their factors asked for by a worker.
  func notifyExRights() {
    guard areWorkersOpen else { return }
    let exRights = pipeline.takeExRights()
    if !exRights.seen.isEmpty { notifyWorkers(.exRights(exRights.seen.sorted())) }
    if !exRights.supposed.isEmpty {
      notifyWorkers(.exRights(exRights.supposed.sorted(), isSupposed: true))
    }
  }

  /// Whether the journal holds it.
  private func journal(_ usage: KeyUsage) -> Bool {
    let entry = JournalEntry.usage(usage, at: now)
    guard let position = append(entry) else { return false }
    if isInterpreting { pipeline.process(entry, at: position) }
    return true
  }

  private func lookForRepairs(from day: TradingDay, of place: Int) {
    lookups += 1
    let store = parts.store
    let inbox = inbox
    Task {
      do throws(StoreError) {
        inbox.yield(.repairsFound(place, .success(try await store.repairCandidates(from: day))))
      } catch {
        inbox.yield(.repairsFound(place, .failure(error)))
      }
    }
  }

  func repairsFound(_ result: Result<[RepairCandidate], StoreError>, for place: Int) {
    lookups -= 1
    switch result {
    case .success(let candidates): notify(place, .repairsFound(candidates))
    case .failure(let error):
      parts.log.error("cannot look up repairs, will retry", metadata: ["error": "\(error)"])
      notify(place, .repairsUnknown)
    }
  }

  private func recordHealth(_ state: SourceState, of place: Int) {
    let worker = workerSlots[place].worker
    logChange(state, of: worker.source, endpoint: worker.name)
    workerSlots[place].health = state
    commitState.staleHealth.insert(place)
  }
}
