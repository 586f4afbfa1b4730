import Commits
import ExchangeSimulator
import Feeds
import Glibc
import Ledgers
import Market
import Operations
import Platform
import Polling
import Postgres
import Store
import TestExchange
import TestSupport
import Testing
import Transport

@testable import Ingest
@testable import Journal

/// Engine, workers, poller and pipeline together on simulated days.
@Suite struct `An engine with source workers` {
  private func world(
    days: Int = 1, through last: String = "2026-07-06",
    instead: @escaping @Sendable (FeedRequest, Timestamp) -> CannedResponse? = { _, _ in nil }
  ) throws -> (SimulatedWorld, SimulatedHistory) {
    let history = SimulatedHistory(
      seed: 11, instruments: 40, through: try #require(TradingDay(last)), days: days)
    var mairui = MairuiOptions(licences: [SimulatedWorld.licence: .valid(requestsPerDay: 50)])
    (mairui.rowsMin, mairui.beijingRowsMin) = (0, 0)
    let exchange = MemoryExchange(
      history: history, mairui: mairui, alpaca: AlpacaOptions(keys: ["id": "secret"]))
    return (SimulatedWorld(exchange, instead: instead), history)
  }

  /// Mairui's lists and Alpaca's bars, beside the reference symbol alone.
  private func everything(
    _ world: SimulatedWorld, _ history: SimulatedHistory, from start: Timestamp, to end: Timestamp
  ) throws -> WorkerRun {
    var run = try WorkerRun(world, [history.symbols[0]], from: start, to: end)
    run.workers.wantsLists = true
    run.workers.licences = ["mairui-1"]
    run.workers.alpacaKey = "alpaca-1"
    run.workers.usEquities = Array(USLedger(seed: 1).symbols.prefix(3))
    run.followsUniverse = true
    return run
  }

  @Test func `polls what an accepted list names`() async throws {
    let (world, history) = try world()
    let start = try shanghai("2026-07-06", 9, 31)
    var run = try everything(world, history, from: start, to: start.adding(seconds: 120))
    run.workers.alpacaKey = nil
    let feeds = FeedSink()
    let unsaved = try await run.run(feeds.sink)
    #expect(unsaved.isNone)
    let listed = feeds.current.marks.values.filter { $0.delistedAt == nil }.map(\.symbol)
    let polled = Set(await world.polledLast.keys)
    #expect(listed.count > 20 && polled == Set(listed).union([history.symbols[0]]))
    #expect(Set(feeds.current.lists.map(\.part)) == ["hslt", "bj"])
  }

  @Test func `a reload while the store is away polls on what the lists named`() async throws {
    let (world, history) = try world()
    let start = try shanghai("2026-07-06", 9, 31)
    let run = try everything(world, history, from: start, to: start.adding(seconds: 60))
    var stored = Tables().stored
    let listed = try #require(Symbol("sh600999"))
    stored.instruments = [
      StoredInstrument(
        row: InstrumentRow(symbol: listed, source: .live, exchange: .shanghai, name: "N"),
        marks: InstrumentMarks(symbol: listed, source: .live, missedLists: 0, listedPart: "hslt"))
    ]
    let engine = try run.engine(MemorySink(), stored: stored)
    let update = EngineUpdate(
      limits: await engine.limits, workers: try run.configuration(),
      credentials: SourceCredentials())
    await engine.update(update)
    #expect(await engine.workers.liveSymbols == run.symbols + [listed])
    await engine.forgetInterpretation()
    await engine.update(update)
    #expect(await engine.workers.liveSymbols == run.symbols + [listed])
  }

  @Test func `no longer polls what three lists in a row lack`() async throws {
    let (world, history) = try world()
    let start = try shanghai("2026-07-06", 14, 59)
    var run = try everything(
      world, history, from: start, to: try shanghai("2026-07-07", 9, 33))
    run.workers.alpacaKey = nil
    let ghost = try #require(Symbol("sh600999"))
    run.symbols.append(ghost)
    var stored = Tables().stored
    let twice = InstrumentMarks(symbol: ghost, source: .live, missedLists: 2, listedPart: "hslt")
    stored.instruments = [
      StoredInstrument(
        row: InstrumentRow(symbol: ghost, source: .live, exchange: .shanghai, name: "N"),
        marks: twice)
    ]
    stored.lists = [
      ListVerdict(
        source: .mairui, part: "hslt", decidedAt: start.adding(seconds: -11 * 86_400), rows: 20,
        contentHash: 1, verdict: .accepted, detail: "")
    ]
    let feeds = FeedSink()
    _ = try await run.run(feeds.sink, stored: stored)
    let listed = try #require(feeds.current.lists.first { $0.part == "hslt" }).decidedAt
    #expect(feeds.current.mark(ghost)?.delistedAt == listed.shanghaiDay)
    let (ghosts, reference) = await (world.polledLast[ghost], world.polledLast[run.symbols[0]])
    #expect(try #require(ghosts) <= listed)
    #expect(try #require(reference) > listed)
  }

  @Test func `journals a licence's use ahead of the answer it pays for`() async throws {
    let (world, history) = try world()
    let start = try shanghai("2026-07-06", 9, 31)
    let run = try everything(world, history, from: start, to: start.adding(seconds: 120))
    _ = try await run.run(MemorySink())
    let keys = try run.entries().filter { $0.source == .mairui }.map(\.key)
    #expect(
      keys == ["key/mairui/mairui-1", "list/hslt", "key/mairui/mairui-1", "list/bj"])
  }

  @Test func `asks nothing with a licence whose use the journal refused`() async throws {
    let (world, history) = try world()
    let start = try shanghai("2026-07-06", 8)
    var run = try everything(world, history, from: start, to: start.adding(seconds: 600))
    run.workers.alpacaKey = nil
    let engine = try run.engine(MemorySink())
    await world.follow(engine)
    await engine.breakJournal()
    _ = try await engine.run()
    let asked = await world.feedRequests
    #expect(!asked.contains { $0.source == .mairui })
  }

  @Test func `only keys that are configured are counted, and parked`() async throws {
    let (world, history) = try world()
    let start = try shanghai("2026-07-06", 9, 31)
    let run = try everything(world, history, from: start, to: start.adding(seconds: 60))
    var stored = Tables().stored
    for (label, reason) in [("mairui-1", KeyParking.quota), ("mairui-0", .invalidLicence)] {
      stored.keyUsage.append(
        KeyUsage(
          source: .mairui, label: label, day: start.shanghaiDay, requests: 50,
          parkedUntil: start.adding(seconds: 3_600), parkedReason: reason))
    }
    let report = await (try run.engine(MemorySink(), stored: stored)).report(on: [])
    #expect(report.keys.configured == 1 && report.keys.parked == [.quota: 1])
  }

  private static func update(
    of engine: Engine, _ run: WorkerRun, workers: WorkerConfiguration
  ) async -> EngineUpdate {
    EngineUpdate(
      limits: await engine.limits, workers: workers, credentials: SourceCredentials())
  }

  @Test func `asks with other keys from the moment it has them`() async throws {
    let (world, history) = try world()
    let start = try shanghai("2026-07-06", 21, 31)
    let run = try everything(world, history, from: start, to: start.adding(seconds: 600))
    let engine = try run.engine(MemorySink())
    var other = run.workers
    (other.licences, other.alpacaKey) = (["mairui-2"], "alpaca-2")
    other.licenceRequestsPerDay += 1
    let update = await Self.update(of: engine, run, workers: try other.configuration())
    await world.follow(engine) { number in
      guard number == 1 else { return }
      // Whatever waits for the engine's next turn finds the new workers there.
      #expect(await engine.workersLeftOld(by: update) == [])
    }
    _ = try await engine.run()
    let keys = await world.keys.compactMap { $0 }
    #expect(Set(keys).isSuperset(of: ["mairui-2", "alpaca-2"]), "\(keys)")
    // The first questions of either worker were under way.
    let old = keys.filter { $0.hasSuffix("-1") }
    #expect(!old.isEmpty && Set(old).count == old.count, "\(keys)")
  }

  @Test func `reports nothing more of a source that a reload removed`() async throws {
    let (world, history) = try world { feedRequest, _ in
      feedRequest.source == .alpacaIEX ? .alpacaThrottled : nil
    }
    let start = try shanghai("2026-07-06", 21, 31)
    let run = try everything(world, history, from: start, to: start.adding(seconds: 600))
    let rows = Locked([SourceHealthRow]())
    let engine = try run.engine(
      MemorySink(inspect: { commit in
        rows.withLock { $0 += commit.reference.health.filter { $0.endpoint == "bars" } }
      }))
    var others = run.workers
    others.alpacaKey = nil
    let update = await Self.update(of: engine, run, workers: try others.configuration())
    await world.follow(engine) { _ in
      let bars = await engine.report(on: []).sources.first { $0.endpoint == "bars" }
      if bars?.state != nil { await engine.update(update) }
    }
    _ = try await engine.run()
    #expect(await engine.report(on: []).sources.map(\.endpoint) == ["quotes", "history", "lists"])
    let lastRow = try #require(rows.withLock { $0.last })
    #expect(lastRow.state == .up && lastRow.detail == "no longer configured")
  }

  @Test func `bars are as old as the oldest that are still asked for`() async throws {
    let (world, history) = try world()
    let start = try shanghai("2026-07-06", 21, 40)
    let run = try everything(world, history, from: start, to: start.adding(seconds: 120))
    var stored = Tables().stored
    // With one symbol fewer, until last week; then with all of them.
    stored.watermarks = [
      (Array(run.workers.usEquities.dropLast()), Int64(7 * 86_400)),
      (run.workers.usEquities, 3_600),
    ].map { symbols, age in
      BarWatermark(
        source: .alpacaIEX, chunk: BarsPlan.key(of: symbols), timeframe: .minute1,
        through: start.adding(seconds: -age))
    }
    let freshness = try #require(await run.barsFreshness(after: stored))
    #expect(freshness.isInSession && freshness.isFresh, "\(freshness)")
  }

  @Test func `bars that stand still are late also where the calendar is refused`() async throws {
    let start = try shanghai("2026-07-06", 21, 40)
    for (age, isFresh) in [(Int64(120), true), (900, false)] {
      let (world, history) = try world { request, _ in
        switch request.query {
        case .sessions, .bars: .alpacaForbidden
        default: nil
        }
      }
      let run = try everything(world, history, from: start, to: start.adding(seconds: 30))
      var stored = Tables().stored
      stored.watermarks = [
        BarWatermark(
          source: .alpacaIEX, chunk: BarsPlan.key(of: run.workers.usEquities), timeframe: .minute1,
          through: start.adding(seconds: -age))
      ]
      let freshness = try #require(await run.barsFreshness(after: stored))
      #expect(freshness.isInSession && freshness.isFresh == isFresh, "\(freshness)")
    }
  }

  @Test func `an upstream goes on answering for keys until nobody asks with them`() async throws {
    let folder = try PrivateCluster.freshDirectory()
    let file = try #require(fopen(folder + "/keys", "we"))
    fputs("PKTEST0001 secret-0001\n", file)
    fclose(file)
    #expect(chmod(folder + "/keys", 0o600) == 0)
    // Port 1 is reserved (tcpmux): nothing listens there.
    let bases = ["alpaca.base", "alpaca.trading_base", "mairui.bases"]
    let settings = try ConfigurationFile.load(
      nil,
      overrides: bases.map { "\($0)=http://127.0.0.1:1" }
        + ["alpaca.key_file=\(folder)/keys"], table: .candled)
    let credentials = try SourceCredentials(settings)
    let upstream = HTTPUpstream(
      client: try HTTPClient(), hosts: try HTTPUpstream.hosts(settings),
      credentials: credentials
    ).with(SourceCredentials())
    let key = try #require(
      credentials.keys(of: SourceRegistry.definition(of: .alpacaIEX)).first?.label)
    let response = await upstream.response(to: .alpacaAssets, key: key, host: 0)
    guard case .failure(let error) = response else {
      Issue.record("answered")
      return
    }
    #expect(error.code == .connect, "\(error)")
  }

  @Test func `the journal alone gives the same rows again`() async throws {
    let (world, history) = try world(days: 2, through: "2026-07-07")
    var run = try everything(
      world, history, from: try shanghai("2026-07-06", 21, 20),
      to: try shanghai("2026-07-06", 22, 40))
    run.workers.repairs.requestsPerNight = 50
    let feeds = FeedSink()
    let unsaved = try await run.run(feeds.sink)
    let replayed = try run.replay()
    #expect(unsaved.isNone && feeds.current == replayed)
    #expect(!replayed.bars.isEmpty && !replayed.usage.isEmpty && !replayed.sessions.isEmpty)
    #expect(!replayed.lists.isEmpty && !replayed.watermarks.isEmpty && !replayed.marks.isEmpty)
  }

  @Test func `ledgers are pruned to the end on each day of commits, whatever their market`()
    async throws
  {
    let (world, history) = try world()
    var run = try everything(
      world, history, from: try shanghai("2026-07-06", 22), to: try shanghai("2026-07-07", 0, 30))
    run.workers.wantsLists = false
    let sink = PrunedSink()
    _ = try await run.run(sink)
    let (days, certificates, prunes) = await (sink.days, sink.certificates, sink.prunes)
    #expect(days.count == 2 && certificates == 0)
    #expect(prunes == 6)
  }

  @Test func `asks for the factors of who trades ex dividend, and stores them`() async throws {
    let (world, history) = try world(days: 3, through: "2026-07-08")
    var truth = history
    let morning = try shanghai("2026-07-08", 9, 20)
    var paid: Set<Symbol> = []
    for symbol in history.symbols {
      let found = truth.factors(of: symbol, kind: .qfq, at: morning) ?? []
      let day = morning.shanghaiDay
      if found.contains(where: { $0.from > day.advanced(by: -2) }) { paid.insert(symbol) }
    }
    var run = try WorkerRun(
      world, history.symbols, from: try shanghai("2026-07-06", 14, 58), to: morning)
    run.workers.wantsLists = false
    let feeds = FeedSink()
    _ = try await run.run(feeds.sink)
    let asked = Set(feeds.current.factors.keys.map(\.symbol))
    #expect(!paid.isEmpty && asked.isSuperset(of: paid), "\(paid) and \(asked)")
    for symbol in asked {
      for kind in AdjustmentFactor.Kind.allCases {
        let known = truth.factors(of: symbol, kind: kind, at: morning)?.map(\.factor) ?? []
        let stored = feeds.current.factors.filter {
          $0.key.symbol == symbol && $0.key.kind == kind
        }
        #expect(Set(stored.values) == Set(known), "\(symbol)")
      }
    }
  }

  @Test func `knows the days it learnt also while only the journal remembers`() async throws {
    let (world, history) = try world()
    let first = try #require(CalendarFile.nextYear.first)
    let start = Timestamp(day: first, secondOfDay: 20 * 3_600)
    let run = try WorkerRun(world, [history.symbols[0]], from: start, to: start)
    var calendar = TradingCalendar.shanghai
    _ = calendar.declare(CalendarFile.days + CalendarFile.nextYear, on: first)
    let engine = try run.engine(MemorySink())
    await engine.learn(calendar)
    let request = FeedRequest.sinaKline(history.symbols[0], .day1, bars: 1)
    let workerResponse = await engine.responseWhileJournalOnly(
      .response(
        to: request, requestedAt: start, receivedAt: start, status: 200,
        body: Array(KlineText.days([first]).utf8)), to: request)
    guard case .candles(let page) = workerResponse.response else {
      Issue.record("\(workerResponse)")
      return
    }
    #expect(page.candles.map(\.tradingDay) == [first])
  }

  @Test func `a dividend found while catching up reaches the workers`() async throws {
    let (world, history) = try world()
    let start = try shanghai("2026-07-06", 10)
    let engine = try WorkerRun(world, [history.symbols[0]], from: start, to: start)
      .engine(MemorySink())
    #expect(try await engine.historyRequests(catchingUpOn: history.symbols[3]) == [0, 1])
  }

  @Test func `goes on polling in a year whose days it learnt`() async throws {
    let (world, history) = try world { feedRequest, _ in
      feedRequest == .sinaCalendar ? .text(CalendarFile.withNextYear) : nil
    }
    let run = try WorkerRun(
      world, [history.symbols[0]], from: try shanghai("2026-12-31", 14, 59),
      to: try shanghai("2027-01-04", 9, 31))
    _ = try await run.run(MemorySink())
    let first = try shanghai("2027-01-04", 9)
    #expect(try #require(await world.polledLast[history.symbols[0]]) >= first)
  }
}
