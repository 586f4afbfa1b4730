import Admin
import Candles
import Commits
import ExchangeSimulator
import Feeds
import Journal
import Logging
import Market
import Operations
import Polling
import Postgres
import Reader
import Store
import TestSupport
import Testing

@testable import Ingest

/// A source that only the tests know, of a market that never closes: what it says goes all the way
/// through, and its registration is all that the rest of candled has of it.
@Suite struct `A made-up source` {
  private static let start = OrbitWorld.midnight.adding(seconds: 86_400 - 600)
  private static let end = OrbitWorld.midnight.adding(seconds: 86_400 + 720)

  private struct Run {
    let world: OrbitWorld
    let folder: JournalFolder
    let reader: StoreReader
    let report: EngineReport
  }

  /// Ten minutes of one day and twelve of the next, into a database.
  private func run(seed: UInt64) async throws -> Run {
    let world = OrbitWorld(seed: seed)
    let database = try StoreDatabase()
    try Schema.apply(url: database.url, sources: SourceRegistry.rows)
    let writer = StoreWriter(url: database.url)
    try await writer.connect()
    let stored = try await writer.load()
    let folder = try JournalFolder()
    let parts = EngineParts(
      clock: .stepped(start: Self.start),
      workers: SourceWorkers(try configuration(), upstream: world), store: writer,
      journal: try JournalWriter(directory: folder.path), journalDirectory: folder.path,
      log: Logger(label: "engine", factory: { _ in SwiftLogNoOpLogHandler() }))
    var limits = EngineLimits()
    limits.stopAt = Self.end
    let engine = Engine(parts: parts, pipeline: try Pipeline(stored: stored), limits: limits)
    #expect(try await engine.run().isNone)
    return Run(
      world: world, folder: folder, reader: try StoreReader(following: database.url),
      report: await engine.report(on: [Orbit.coin]))
  }

  private func configuration() throws -> WorkerConfiguration {
    var settings = Settings(.candled)
    try settings.overlay(key: "orbit.symbols", value: "COIN")
    try settings.overlay(key: "repair.requests_per_night", value: "0")
    var configuration = WorkerConfiguration(
      settings, credentials: SourceCredentials(), speed: 1, seed: 1)
    configuration.sources.removeAll { $0.definition.name != "orbit" }
    let schedule = PollSchedule(
      windows: PollWindow.windows(of: Orbit().market, every: 5), zone: .utc, seed: 1,
      isTradingDay: { _ in true })
    configuration.quotes = [
      QuotesConfiguration(
        source: Orbit.quotes, poller: PollerConfiguration(referenceSymbol: Orbit.coin, seed: 1),
        schedule: schedule, symbols: [Orbit.coin])
    ]
    return configuration
  }

  private func registered(_ work: () async throws -> Void) async throws {
    try await SourceRegistry.with(SourceRegistry.all + [Orbit()], work)
  }

  /// What a follower of the change feed was told.
  private struct Followed {
    var quotes: [Reader.LatestQuote] = []
    var candles: [Candle] = []
    var gaps: [Gap] = []
    var certificates: [DayCertificate] = []

    init(_ reader: StoreReader) throws {
      var seq: Int64 = 0
      while true {
        let batch = try reader.changes(after: seq)
        guard let last = batch.changes.last else { return }
        for change in batch.changes {
          quotes += change.quotes
          candles += change.candles.map(\.candle)
          gaps += change.gaps
          certificates += change.certificates
        }
        seq = last.seq
      }
    }
  }

  /// What the journal says the candles of live quotes are, read from its beginning.
  private func replay(_ folder: JournalFolder) throws -> (candles: [Candle], sources: Set<Source>) {
    var pipeline = Pipeline()
    let reader = try JournalReader(directory: folder.path)
    var (candles, sources) = ([Candle](), Set<Source>())
    while let (position, entry) = try reader.next() {
      if entry.kind == .response { sources.insert(entry.source) }
      pipeline.process(entry, at: position)
      candles += pipeline.takeCommit()?.candles ?? []
    }
    return (candles, sources)
  }

  @Test func `its quotes and bars go through journal, book, store, feed, status and metrics`()
    async throws
  {
    try await registered {
      let run = try await run(seed: 7)
      let (world, built) = (run.world, try Followed(run.reader))
      // Book: each minute exactly what traded, over midnight.
      let minutes = built.candles.filter {
        $0.timeframe == .minute1 && $0.source == Orbit.quotes
      }
      #expect(minutes.count >= 20 && Set(minutes.map(\.tradingDay)).count == 2)
      for candle in minutes where !candle.flags.contains(.partial) {
        #expect(try world.minute(opening: candle.openedAt) == .init(candle), "\(candle)")
      }
      #expect(minutes.count { $0.flags.contains(.partial) } <= 1)
      // The day that was seen in part: what its minutes lack is in gaps.
      let certificate = try #require(
        built.certificates.first { $0.tradingDay == OrbitWorld.day })
      let traded = world.trades(
        after: OrbitWorld.midnight, through: OrbitWorld.midnight.adding(seconds: 86_400))
      #expect(certificate.isBalanced && certificate.source == Orbit.quotes)
      #expect(certificate.exchangeVolume == (try OrbitWorld.sum(traded.map(\.volume))))
      let ofDay = minutes.filter { $0.tradingDay == OrbitWorld.day }.map(\.volume)
      let inGaps = built.gaps.filter { $0.tradingDay == OrbitWorld.day }.map(\.volume)
      #expect(try OrbitWorld.sum(ofDay + inGaps) == certificate.exchangeVolume)
      // Store: the bars of a day and more, to the eighth decimal.
      var query = CandleQuery(Orbit.coin, timeframe: .minute1)
      query.source = "orbit_bars"
      let bars = try run.reader.candles(query)
      #expect(bars.count > 1_440)
      for bar in bars {
        #expect(try world.minute(opening: bar.openedAt) == .init(bar), "\(bar)")
      }
      // Feed and journal.
      #expect(built.quotes.contains { $0.quote.symbol == Orbit.coin && $0.source == Orbit.quotes })
      let replayed = try replay(run.folder)
      #expect(replayed.sources == [Orbit.quotes, Orbit.bars])
      #expect(replayed.candles == built.candles.filter { $0.source == Orbit.quotes })
      // Status and metrics.
      let names = run.report.sources.map(\.name)
      #expect(names == ["orbit quotes", "orbit_bars orbit_bars"])
      #expect(run.report.sources.allSatisfy { $0.state?.condition == .ok })
      #expect(run.report.sources.allSatisfy { $0.freshness?.isFresh == true })
      #expect(run.report.snapshots.first?.quote.symbol == Orbit.coin)
      let report = DaemonReport(
        at: run.report.now, startedAt: Self.start, role: .leading(term: 1), engine: run.report)
      let status = StatusDocument(report)
      #expect(status.json.contains(#""source":"orbit""#))
      let page = MetricTable.families.exposition(of: report)
      #expect(page.contains(#"source="orbit",endpoint="quotes""#))
      #expect(page.contains(#"source="orbit_bars""#))
    }
  }
}

extension OrbitWorld.Minute {
  fileprivate init?(_ record: CandleRecord) {
    guard let open = record.open, let high = record.high, let low = record.low,
      let close = record.close, let turnover = record.turnover
    else { return nil }
    self.init(
      open: open, high: high, low: low, close: close, volume: record.volume, turnover: turnover)
  }
}
