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
  var inFlight: [PollRequestID: Task<Void, Never>] = [:]

  var healthRow: SourceHealthRow? {
    guard let health else { return nil }
    return SourceHealthRow(
      source: desk.source, endpoint: desk.name, state: health.condition.word,
      since: health.since, lastSuccessAt: lastSuccessAt, requests: Int64(requests),
      failures: Int64(failures), detail: "\(health.condition)")
  }
}

extension Engine {
  /// Once the tail is interpreted: before that, what keys have spent is not known.
  func openDesks() {
    guard !areDesksOpen, catchUp == nil, !isDeaf, !isStopping else { return }
    areDesksOpen = true
    seats = parts.desks.make(for: pipeline).map { DeskSeat(desk: $0) }
    for place in seats.indices { tell(place, .started) }
  }

  func tell(_ place: Int, _ event: DeskEvent) {
    for action in seats[place].desk.received(event, at: now) { perform(action, of: place) }
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

  private func perform(_ action: DeskAction, of place: Int) {
    switch action {
    case .request(let request): ask(request, of: place)
    case .wake(let moment): seats[place].wake = moment
    case .record(let usage): journal(usage, of: place)
    case .lookForRepairs(let day): lookForRepairs(from: day, of: place)
    case .health(let state): noteHealth(state, of: place)
    case .alarm(let sentence):
      parts.log.critical("\(sentence)", metadata: ["desk": "\(seats[place].desk.name)"])
    }
  }

  private func ask(_ request: DeskRequest, of place: Int) {
    guard let upstream = parts.desks.upstream else { return }
    seats[place].requests += 1
    let requestedAt = now
    let inbox = inbox
    seats[place].inFlight[request.id] = Task {
      let answer = await upstream.answer(
        to: request.question, key: request.key, host: request.host)
      inbox.yield(.deskAnswered(place, request, answer, requestedAt: requestedAt))
    }
  }

  /// Journal first; only then does anybody look into it.
  func take(
    _ answer: UpstreamAnswer, to request: DeskRequest, of place: Int, requestedAt: Timestamp
  ) {
    guard seats[place].inFlight.removeValue(forKey: request.id) != nil else { return }
    let receivedAt = max(now, requestedAt)
    var told = DeskAnswer()
    switch answer {
    case .failure(let error):
      seats[place].failures += 1
      status.failed(error.code)
    case .response(let httpStatus, let body, let retryAfter):
      told = interpret(
        .answer(
          to: request.question, requestedAt: requestedAt, receivedAt: receivedAt,
          status: httpStatus, body: body))
      told.retryAfterSeconds = retryAfter.flatMap { RetryAfter.seconds($0, now: receivedAt) }
      if told.answer != nil, told.refusal == nil {
        seats[place].lastSuccessAt = receivedAt
      } else {
        seats[place].failures += 1
      }
    }
    tell(place, .answered(request.id, told))
  }

  private func interpret(_ entry: JournalEntry) -> DeskAnswer {
    guard let position = append(entry) else { return DeskAnswer() }
    guard catchUp == nil, !isDeaf else { return DeskAnswer(answer: Pipeline.feedAnswer(entry)) }
    let told = pipeline.process(entry, at: position).feed ?? DeskAnswer()
    parts.desks.configuration.calendar.set(pipeline.calendar)
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

  /// Dividends are noticed by the quotes, their factors asked for by a desk.
  func tellExRights() {
    guard !pipeline.exRights.isEmpty else { return }
    tellDesks(.exRights(pipeline.takeExRights()))
  }

  /// What the journal cannot take does not count as recorded; the request follows all the same
  /// only if the ledger holds it, so the key rests until it does.
  private func journal(_ usage: KeyUsage, of place: Int) {
    let entry = JournalEntry.usage(usage, at: now)
    guard let position = append(entry), catchUp == nil, !isDeaf else { return }
    pipeline.process(entry, at: position)
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

  /// A store that does not answer now is asked again after the next day.
  func found(_ result: Result<[RepairCandidate], StoreError>, for place: Int) {
    lookups -= 1
    switch result {
    case .success(let candidates): tell(place, .repairsFound(candidates))
    case .failure(let error):
      parts.log.error("no repairs tonight", metadata: ["error": "\(error)"])
    }
  }

  private func noteHealth(_ state: SourceState, of place: Int) {
    let desk = seats[place].desk
    parts.log.notice(
      "source changed",
      metadata: [
        "source": "\(desk.source.name)", "endpoint": "\(desk.name)",
        "state": "\(state.condition)",
      ])
    seats[place].health = state
    saving.staleHealth.insert(place)
  }
}
