import ExchangeSimulator
import Feeds
import Glibc
import Journal
import Market
import Operations
import Polling
import TestExchange
import TestSupport
import Testing

@testable import Ingest

@Suite struct DaemonStateTests {
  private let moment = Timestamp(seconds: 1_783_300_000)

  @Test func `a daemon that drains leads no more`() async {
    let state = DaemonState()
    #expect(state.role == .starting)
    state.role = .standby(leader: "other")
    state.role = .leading(term: 3)
    #expect(await state.report().role == .leading(term: 3))
    state.role = .draining
    state.role = .leading(term: 4)
    #expect(await state.report().role == .draining)
  }

  @Test func `reloads are counted by what became of them`() async {
    let state = DaemonState()
    #expect(await state.report().reload == nil)
    state.reloaded(at: moment, problem: nil)
    state.reloaded(at: moment, problem: "quotes.cadence: expected a duration")
    state.reloaded(at: moment.adding(seconds: 1), problem: nil)
    let reload = await state.report().reload
    #expect(
      reload
        == ReloadOutcome(at: moment.adding(seconds: 1), problem: nil, accepted: 2, refused: 1))
  }

  @Test func `loops are reported with the age of their last beat`() async {
    let state = DaemonState()
    let loop = state.heartbeats.begin("engine", ageSecondsMax: 30)
    #expect(await state.report().loops.map(\.name) == ["engine"])
    #expect(await state.report().loops.allSatisfy { !$0.isStale && $0.ageMicroseconds >= 0 })
    state.heartbeats.end(loop)
    #expect(await state.report().loops.isEmpty)
  }

  @Test func `an engine's run is in the report, the journal's footprint with it`() async throws {
    let run = try EngineRun()
    let state = DaemonState()
    let engine = try run.engine(MemorySink())
    state.engine = engine
    state.journalDirectory = run.folder.path
    state.role = .leading(term: 0)
    #expect(try await engine.run().isNone)
    let report = await state.report()
    let engineReport = try #require(report.engine)
    #expect(report.role == .draining)
    #expect(
      engineReport.status.journal.committed > .start
        && engineReport.backlog.lastPosition >= engineReport.status.journal.committed)
    #expect(
      engineReport.backlog.entries == 0 && engineReport.backlog.pendingCandles == 0
        && !engineReport.backlog.isCatchingUp)
    let quotes = try #require(engineReport.sources.first)
    #expect(quotes.name == "sina quotes" && quotes.state?.condition == .ok)
    #expect(quotes.outcomes["ok"] == quotes.requests && quotes.requests > 100)
    #expect(quotes.freshness?.isInSession == true && quotes.freshness?.isFresh == true)
    let journal = try #require(report.journal)
    #expect(journal.segments == 1 && journal.bytes > 1_000)
    #expect(journal.freeBytes <= journal.diskBytes && journal.diskBytes > 0)
  }

  @Test func `a source is fresh also while only the journal remembers`() async throws {
    var run = try EngineRun()
    run.start = 13 * 3600 + 60
    let engine = try run.engine(MemorySink())
    run.market.advance(to: run.moment(run.start))
    let symbols = run.market.symbols
    let query = QuotesQuery(symbols: symbols, askedAt: run.moment(run.start))
    let request = WorkerRequest(
      id: PollRequestID(1), feedRequest: FeedRequest(.quotes(query), to: .sina))
    await engine.receiveWhileJournalOnly(
      .response(status: 200, body: run.market.body(for: symbols), retryAfter: nil), to: request)
    let freshness = await engine.report(on: []).sources.first?.freshness
    #expect(freshness?.isInSession == true && freshness?.isFresh == true)
  }

  @Test func `a source that froze is stale though it answers`() async throws {
    var run = try EngineRun()
    run.frozenAt = 9 * 3600 + 33 * 60
    let engine = try run.engine(MemorySink())
    _ = try await engine.run()
    let freshness = await engine.report(on: []).sources.first?.freshness
    #expect(freshness?.isFresh == false && (freshness?.stalenessSeconds ?? 0) > 120)
  }
}

extension Engine {
  /// Hears an answer that only the journal remembers.
  fileprivate func receiveWhileJournalOnly(
    _ response: UpstreamResponse, to request: WorkerRequest
  ) {
    forgetInterpretation()
    workers.slots[0].inFlight[request.id] = Task {}
    handle(
      response, to: request, of: WorkerSet.WorkerID(place: 0, round: 0), asked: time.steady)
  }
}
