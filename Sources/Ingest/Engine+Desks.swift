import Feeds
import Journal
import Logging
import Market
import Polling
import Store
import Transport

/// The engine's side of the desks: it performs what they ask for, journals it, and tells them what
/// came of it. A desk is named by its place.

/// A desk with what the engine keeps for it.
struct DeskSeat {
  var desk: any Desk
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
  /// Counts the desks that had this seat: an answer to an earlier one is not this one's.
  var round = 0
  /// The configuration has no such desk any more.
  var isClosed = false

  func healthRow(at now: Timestamp) -> SourceHealthRow? {
    guard let health else { return nil }
    let fault = health.condition == .ok ? nil : fault
    var row = SourceHealthRow(
      source: desk.source, endpoint: desk.name, state: health.condition.word,
      since: health.since, lastSuccessAt: lastSuccessAt, requests: Int64(requests),
      failures: Int64(failures),
      detail: isClosed
        ? "not configured any more" : fault?.sentence(at: now) ?? "\(health.condition)")
    row.updatedAt = now
    return row
  }
}

extension Engine {
  /// Once the tail is interpreted: before that, what keys have spent is not known. And by a clock
  /// that is right: their answers are journaled by it.
  func openDesks() {
    guard !areDesksOpen, isInterpreting, time.isTrusted, !isStopping else { return }
    areDesksOpen = true
    followTail()
    seats = parts.desks.make(for: pipeline).map { DeskSeat(desk: $0) }
    for place in seats.indices { tell(place, .started) }
    tellExRights()
  }

  /// What the tail told of days and instruments reaches the poller.
  func followTail() {
    parts.desks.configuration.calendar.set(pipeline.calendar)
    followUniverse()
  }

  /// A request whose key could not be recorded is answered with nothing, once what came with it is
  /// performed: a later wake must not be undone by an earlier one.
  func tell(_ place: Int, _ event: DeskEvent) {
    if seats[place].isClosed { return }
    var events = [event]
    while !events.isEmpty {
      var isRecorded = true
      for action in seats[place].desk.received(events.removeFirst(), at: now) {
        if let event = perform(action, of: place, &isRecorded) { events.append(event) }
      }
    }
  }

  func tellDesks(_ event: DeskEvent) {
    guard areDesksOpen else { return }
    for place in seats.indices { tell(place, event) }
  }

  func wakeDesks(at now: Timestamp) {
    for place in seats.indices {
      guard let wake = seats[place].wake, wake <= now else { continue }
      seats[place].wake = nil
      tell(place, .woke)
    }
  }

  var deskWake: Timestamp? { seats.compactMap(\.wake).min() }

  var deskRequestsInFlight: Int { seats.reduce(0) { $0 + $1.inFlight.count } }

  private func perform(
    _ action: DeskAction, of place: Int, _ isRecorded: inout Bool
  ) -> DeskEvent? {
    switch action {
    case .record(let usage): isRecorded = journal(usage)
    case .request(let request) where !isRecorded:
      isRecorded = true
      return .answered(request.id, DeskAnswer())
    case .request(let request): ask(request, of: place)
    case .wake(let moment): seats[place].wake = moment
    case .lookForRepairs(let day): lookForRepairs(from: day, of: place)
    case .health(let state): noteHealth(state, of: place)
    case .alarm(let sentence):
      parts.log.critical("\(sentence)", metadata: ["desk": "\(seats[place].desk.name)"])
    }
    return nil
  }

  private func ask(_ request: DeskRequest, of place: Int) {
    guard let upstream = parts.desks.upstream else { return }
    seats[place].requests += 1
    let asked = time.steady
    let inbox = inbox
    let round = seats[place].round
    seats[place].inFlight[request.id] = Task {
      let answer = await upstream.answer(
        to: request.question, key: request.key, host: request.host)
      inbox.yield(.deskAnswered(place, round: round, request, answer, asked: asked))
    }
  }

  /// Journal first; only then does anybody look into it.
  func take(
    _ answer: UpstreamAnswer, to request: DeskRequest, of place: Int, asked: Timestamp
  ) {
    guard seats[place].inFlight.removeValue(forKey: request.id) != nil else { return }
    let (requestedAt, receivedAt) = (time.moment(at: asked), now)
    let host = parts.desks.upstream?.hostName(of: request.question, host: request.host)
    var told = DeskAnswer()
    switch answer {
    case .failure(let error):
      seats[place].failures += 1
      seats[place].fault.record(.transport(error.code), host: host, at: receivedAt)
      status.failed(error.code)
    case .response(let httpStatus, let body, _, _):
      told = interpret(
        .answer(
          to: request.question, requestedAt: requestedAt, receivedAt: receivedAt,
          status: httpStatus, body: body))
      told.retryAfterSeconds = answer.retryAfterSeconds(at: receivedAt)
      seats[place].outcomes[told.refusal?.kind.name ?? "ok", default: 0] += 1
      if told.answer != nil, told.refusal == nil {
        seats[place].lastSuccessAt = receivedAt
        seats[place].fault = nil
      } else {
        seats[place].failures += 1
        let outcome = told.refusal?.kind.name ?? "not journaled"
        seats[place].fault.record(
          .response(status: httpStatus, outcome: outcome), host: host, at: receivedAt)
      }
    }
    tell(place, .answered(request.id, told))
  }

  func interpret(_ entry: JournalEntry) -> DeskAnswer {
    let heardSteady = EngineClock.steadyNow()
    guard let position = append(entry) else { return DeskAnswer() }
    let calendar = parts.desks.configuration.calendar
    guard isInterpreting else {
      return DeskAnswer(answer: Pipeline.feedAnswer(entry, calendar: calendar.current))
    }
    let told = pipeline.process(entry, at: position).feed ?? DeskAnswer()
    noteAnswer(heardSteady)
    calendar.set(pipeline.calendar)
    if case .accepted = told.listVerdict { followUniverse() }
    return told
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
  func tellUnknown() {
    guard areDesksOpen, !pipeline.unknownSymbols.isEmpty else { return }
    let strangers = Set(pipeline.unknownSymbols).subtracting(strangersTold)
    guard !strangers.isEmpty else { return }
    strangersTold.formUnion(strangers)
    tellDesks(.listWanted)
  }

  /// Dividends are noticed by the quotes, their factors asked for by a desk.
  func tellExRights() {
    guard areDesksOpen else { return }
    let exRights = pipeline.takeExRights()
    if !exRights.seen.isEmpty { tellDesks(.exRights(exRights.seen.sorted())) }
    if !exRights.supposed.isEmpty {
      tellDesks(.exRights(exRights.supposed.sorted(), isSupposed: true))
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

  func found(_ result: Result<[RepairCandidate], StoreError>, for place: Int) {
    lookups -= 1
    switch result {
    case .success(let candidates): tell(place, .repairsFound(candidates))
    case .failure(let error):
      parts.log.error("no repairs for now", metadata: ["error": "\(error)"])
      tell(place, .repairsUnknown)
    }
  }

  private func noteHealth(_ state: SourceState, of place: Int) {
    let desk = seats[place].desk
    tell(state, of: desk.source, endpoint: desk.name)
    seats[place].health = state
    saving.staleHealth.insert(place)
  }
}
