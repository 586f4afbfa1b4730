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

  /// Over a midnight, into a database.
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

  private func candles(_ run: Run, of series: String) throws -> [Candle] {
    var query = CandleQuery(Orbit.coin, timeframe: .minute1)
    query.source = series
    return try run.reader.candles(query)
  }

  @Test func `its quotes and bars become exact minutes, over midnight, and balanced days`()
    async throws
  {
    try await registered {
      let run = try await run(seed: 7)
      let built = try candles(run, of: "orbit")
      #expect(built.count >= 20, "\(built.count)")
      for candle in built where candle.flags == [] {
        #expect(try run.world.minute(opening: candle.openedAt) == .init(candle), "\(candle)")
      }
      // The first may hold what traded before anybody looked.
      #expect(built.count { $0.flags == [] } >= built.count - 1)
      #expect(Set(built.map(\.tradingDay)).count == 2)
      let bars = try candles(run, of: "orbit_bars")
      #expect(bars.count > 1_440)
      for bar in bars {
        #expect(try run.world.minute(opening: bar.openedAt) == .init(bar), "\(bar)")
      }
    }
  }
}
