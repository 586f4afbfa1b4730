import ExchangeSimulator
import Feeds
import Logging
import Market
import Polling
import TestExchange
import TestSupport
import Testing

@testable import Ingest
@testable import Journal
@testable import Transport

/// Sweeps of an engine against an exchange whose rows are shown a while after their stamps.
@Suite struct ArrivalRunTests {
  private actor LateUpstream: QuotesUpstream {
    private var market: SimulatedMarket
    private let milliseconds: Int64

    init(_ market: SimulatedMarket, late milliseconds: Int64) {
      self.market = market
      self.milliseconds = milliseconds
    }

    func response(to request: QuotesQuery, at now: Timestamp) -> UpstreamResponse {
      market.advance(to: now.adding(milliseconds: -milliseconds))
      return .response(status: 200, body: market.body(for: request.symbols), retryAfter: nil)
    }
  }

  /// The phase after five minutes, begun at 1.2 s.
  private func phase(late milliseconds: Int64) async throws -> Int? {
    var run = try EngineRun()
    // A third of rows with stamps of their own is late at every phase: on one grid, a row's age is
    // the exchange's alone.
    run.market = SimulatedMarket(
      seed: run.market.seed, day: run.market.day, instruments: run.market.symbols.count,
      stamps: .shared)
    var configuration = PollerConfiguration(referenceSymbol: run.market.symbols[0], seed: 1)
    configuration.batchSymbolsMax = 13
    let quotes = QuotesConfiguration(
      source: .sina, poller: configuration,
      schedule: PollSchedule(spreadMilliseconds: 0, seed: 1) { _ in true },
      symbols: run.market.symbols)
    let parts = EngineParts(
      clock: .stepped(start: run.moment(10 * 3600)),
      workers: SourceWorkers(quotes, upstream: LateUpstream(run.market, late: milliseconds)),
      store: MemorySink(),
      journal: try JournalWriter(directory: run.folder.path), journalDirectory: run.folder.path,
      log: Logger(label: "engine", factory: { _ in SwiftLogNoOpLogHandler() }))
    var limits = EngineLimits()
    limits.stopAt = run.moment(10 * 3600 + 300)
    let engine = Engine(parts: parts, pipeline: Pipeline(), limits: limits)
    _ = try await engine.run()
    return await engine.phaseMilliseconds
  }

  @Test func `an engine's sweeps begin later until their rows are there, and no later`()
    async throws
  {
    #expect(try await phase(late: 0) == 1_200)
    #expect(try await phase(late: 1_100) == 1_200)
    #expect(try await phase(late: 1_310) == 1_350)
  }
}

extension Engine {
  fileprivate var phaseMilliseconds: Int? {
    (workers.slots[0].worker as? QuotesWorker)?.poller.schedule.phaseMilliseconds
  }
}
