import Commits
import Ingest
import Market
import Postgres
import Store
import TestTraits
import Testing

/// An engine told to end while what it made lags behind its journal.
@Suite(.ownThread) struct CatchUpStopTests {
  /// A store that is away until the engine's own time has come to a moment.
  private actor LateStore: CommitSink {
    let sink = MemorySink()
    private let opensAt: Timestamp
    private var engine: Engine?
    private(set) var refusals = 0

    init(opensAt: Timestamp) { self.opensAt = opensAt }

    func follow(_ engine: Engine) { self.engine = engine }

    private func open() async throws(StoreError) {
      if let engine, await engine.now >= opensAt { return }
      refusals += 1
      throw StoreError(.connectionLost, message: "on order", context: "connect")
    }

    func commit(_ commit: Commit) async throws(StoreError) -> CommitReceipt {
      try await open()
      return try await sink.commit(commit)
    }

    func load() async throws(StoreError) -> StoredState {
      try await open()
      return try await sink.load()
    }

    func repairCandidates(from day: TradingDay) -> [RepairCandidate] { [] }
  }

  @Test func `a simulated day ends when its journal is caught up with, certificates and all`()
    async throws
  {
    var run = try EngineRun()
    // Real seconds in which nothing may be asked for are seconds of the day.
    run.speed = 30
    run.start = 14 * 3600 + 50 * 60
    run.end = 15 * 3600 + 37 * 60
    run.limits.pendingCandlesMax = 8
    run.limits.catchUpEntriesMax = 5
    let store = LateStore(opensAt: run.moment(run.end))
    let engine = try run.engine(store)
    await store.follow(engine)
    let unsaved = try await engine.run()
    #expect(unsaved.isNone)
    #expect(await store.refusals > 0)
    // It started over from what was stored.
    #expect(await store.sink.loads > 0)
    let tables = await store.sink.tables
    #expect(tables.candlesTwice.isEmpty && !tables.candles.isEmpty)
    #expect(!tables.certificates.isEmpty && tables.certificates.values.allSatisfy(\.isBalanced))
    let replayed = try run.replay()
    #expect(tables.differences(from: replayed) == [])
  }

  /// Runs an engine that the store stops. Afterwards nobody holds it, nor its journal.
  private func stopped(
    _ run: EngineRun, _ sink: MemorySink, when arrange: (Engine) async -> Void
  ) async throws -> Unsaved {
    let engine = try run.engine(sink)
    await arrange(engine)
    let unsaved = try await engine.run()
    await sink.stop(nil, afterLoads: 0, andCommits: 0)
    return unsaved
  }

  @Test func `a stop in journal-only operation is logged, and the next start saves the rows`()
    async throws
  {
    var run = try EngineRun()
    run.speed = 20
    run.start = 13 * 3600 + 10
    run.end = 15 * 3600
    run.limits.pendingCandlesMax = 8
    run.limits.drainMilliseconds = 0
    let sink = MemorySink(
      loadsRefused: .max, fate: { $0 < 20 ? .taken : .refused(.connectionLost) })
    let unsaved = try await stopped(run, sink) { await sink.stop($0, atLoad: 1) }
    #expect(unsaved.entries > 0)
    let later = MemorySink(startingWith: await sink.tables)
    try await run.finish(later)
  }

  /// A journal of some minutes, of which nothing is stored.
  private func journaled() async throws -> EngineRun {
    var run = try EngineRun()
    _ = try await run.engine(MemorySink()).run()
    run.start = run.end
    run.limits.catchUpEntriesMax = 1
    return run
  }

  @Test func `a stop while catching up catches up if there is time`() async throws {
    let run = try await journaled()
    let sink = MemorySink()
    let unsaved = try await stopped(run, sink) {
      await sink.stop($0, afterLoads: 0, andCommits: 1)
    }
    #expect(unsaved.isNone)
    let tables = await sink.tables
    let replayed = try run.replay()
    #expect(tables.candlesTwice.isEmpty && tables.differences(from: replayed) == [])
  }

  @Test func `a stop while catching up leaves the rest to the next start, and logs it`()
    async throws
  {
    var run = try await journaled()
    run.limits.drainMilliseconds = 0
    let sink = MemorySink()
    let unsaved = try await stopped(run, sink) {
      await sink.stop($0, afterLoads: 0, andCommits: 1)
    }
    #expect(unsaved.entries > 0)
    try await run.finish(sink)
  }
}
