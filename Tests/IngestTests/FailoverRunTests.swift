import Commits
import ExchangeSimulator
import Feeds
import Journal
import Logging
import Market
import Operations
import Polling
import Store
import TestSupport
import Testing

@testable import Ingest

/// Two live sources of one market through an engine: which is requested when.
private struct FailoverRun {
  var market = SimulatedMarket(seed: 5, day: TradingDay(daysSince1970: 20_640), instruments: 24)
  var start = 9 * 3_600 + 58 * 60
  var end = 10 * 3_600 + 20 * 60
  let folder: JournalFolder
  let lines = LogLines()
  let world: TwoSources

  init(_ outages: [TwoSources.Outage]) throws {
    folder = try JournalFolder()
    world = TwoSources(market, outages)
  }

  func moment(_ second: Int) -> Timestamp { Timestamp(day: market.day, secondOfDay: second) }

  func quotes(_ source: Source) -> QuotesConfiguration {
    var configuration = PollerConfiguration(referenceSymbol: market.symbols[0], seed: 1)
    configuration.batchSymbolsMax = 13
    let isRequestable = SourceRegistry.quotes(of: source).isRequestable
    return QuotesConfiguration(
      source: source, poller: configuration, schedule: PollSchedule(seed: 1) { _ in true },
      symbols: market.symbols.filter(isRequestable))
  }

  func configuration(_ sources: [Source]) -> WorkerConfiguration {
    var configuration = WorkerConfiguration()
    configuration.quotes = sources.map(quotes)
    return configuration
  }

  func engine(_ sink: MemorySink, stored: StoredState? = nil) throws -> Engine {
    let journal = try JournalWriter(
      directory: folder.path, committed: stored?.position ?? .start)
    let parts = EngineParts(
      clock: .stepped(start: moment(start)),
      workers: SourceWorkers(configuration([.live, Second.source]), upstream: world),
      store: sink, journal: journal, journalDirectory: folder.path, log: lines.logger)
    var limits = EngineLimits()
    limits.stopAt = moment(end)
    let pipeline = try stored.map { try Pipeline(stored: $0) } ?? Pipeline()
    return Engine(parts: parts, pipeline: pipeline, limits: limits)
  }

  /// Sweeps of both at once would be twice the load; a change lies between two requests.
  func expectOneAtATime(_ requests: [TwoSources.Request]) {
    var turns: [Source] = []
    for request in requests where !request.isProbe && turns.last != request.source {
      turns.append(request.source)
    }
    #expect(turns.count <= 8, "\(turns.map(\.name))")
  }

  /// From one refusal to the next request of the same source.
  func expectCoolDowns(_ requests: [TwoSources.Request]) {
    for source in [Source.live, Second.source] {
      let own = requests.filter { $0.source == source }
      // Those of a sweep leave together.
      for (request, next) in zip(own, own.dropFirst()) where request.isRefused {
        let pause = next.at.microseconds(since: request.at) / 1_000_000
        #expect(pause == 0 || pause >= 60, "\(source.name) at \(next.at)")
      }
    }
  }
}

private func registered(_ work: () async throws -> Void) async throws {
  try await SourceRegistry.with(SourceRegistry.all + [Second()], work)
}

@Suite struct `Failover between live sources` {
  private static let ten = 10 * 3_600

  private func outage(
    _ source: Source, _ seconds: Range<Int>, _ fault: TwoSources.Fault
  ) -> TwoSources.Outage {
    TwoSources.Outage(
      source: source, seconds: (Self.ten + seconds.lowerBound)..<(Self.ten + seconds.upperBound),
      fault: fault)
  }

  @Test func `a ban lets the second serve with the next answer, and the first when it is sound`()
    async throws
  {
    try await registered {
      let run = try FailoverRun([outage(.live, 0..<30, .banned)])
      let engine = try run.engine(MemorySink())
      #expect(try await engine.run().isNone)
      let requests = await run.world.requests
      let refused = try #require(requests.first { $0.isRefused })
      let taken = try #require(requests.first { $0.source == Second.source })
      #expect(!taken.isProbe && taken.at.microseconds(since: refused.at) < 1_000_000)
      let back = try #require(
        requests.first { $0.source == .live && !$0.isProbe && $0.at > taken.at })
      #expect((360...420).contains(back.at.microseconds(since: refused.at) / 1_000_000))
      #expect(!requests.contains { $0.source == Second.source && $0.at > back.at })
      run.expectOneAtATime(requests)
      run.expectCoolDowns(requests)
      let report = await engine.report(on: [])
      #expect(report.status.quotes.failovers == [.live: 1, Second.source: 1])
      #expect(report.quotes?.source == .live && report.quotes?.freshness?.isFresh == true)
      #expect(run.lines.count("from=sina") == 1 && run.lines.count("to=sina") == 1)
      #expect(run.lines.count("it banned this address") == 1)
    }
  }

  @Test(arguments: [TwoSources.Fault.silent, .still])
  func `a source that is silent or stands still is left within 15 s`(
    _ fault: TwoSources.Fault
  ) async throws {
    try await registered {
      var run = try FailoverRun([outage(.live, 0..<1_200, fault)])
      run.end = Self.ten + 120
      let engine = try run.engine(MemorySink())
      #expect(try await engine.run().isNone)
      let requests = await run.world.requests
      let taken = try #require(requests.first { $0.source == Second.source })
      #expect((Self.ten..<(Self.ten + 15)).contains(taken.second))
      run.expectOneAtATime(requests)
      let report = await engine.report(on: [])
      #expect(report.quotes?.source == Second.source && report.quotes?.servingSince != nil)
      #expect(report.sources.first { $0.source == .live }?.freshness == nil)
    }
  }

  @Test func `where both ban, no request is inside a cool-down, and the first to end serves`()
    async throws
  {
    try await registered {
      let run = try FailoverRun([
        outage(.live, 0..<900, .banned), outage(Second.source, 0..<30, .banned),
      ])
      let engine = try run.engine(MemorySink())
      #expect(try await engine.run().isNone)
      let requests = await run.world.requests
      run.expectCoolDowns(requests)
      run.expectOneAtATime(requests)
      let served = try #require(
        requests.first {
          $0.source == Second.source && $0.second > Self.ten + 30 && !$0.isProbe
        })
      #expect(served.second < Self.ten + 90)
      #expect(await engine.report(on: []).quotes?.source == Second.source)
    }
  }

  @Test func `the second is never requested for what it does not quote`() async throws {
    try await registered {
      let run = try FailoverRun([outage(.live, 0..<600, .banned)])
      #expect(try await run.engine(MemorySink()).run().isNone)
      let requests = await run.world.requests.filter { $0.source == Second.source }
      #expect(!requests.isEmpty)
      #expect(requests.flatMap(\.symbols).allSatisfy(Second.isRequestable))
    }
  }

  @Test func `a restart while the second serves begins with the first, and leaves it again`()
    async throws
  {
    try await registered {
      var run = try FailoverRun([outage(.live, 0..<1_200, .banned)])
      run.end = Self.ten + 120
      let sink = MemorySink()
      #expect(try await run.engine(sink).run().isNone)
      run.start = run.end
      run.end += 120
      let engine = try run.engine(sink, stored: await sink.tables.stored)
      #expect(try await engine.run().isNone)
      #expect(await engine.report(on: []).quotes?.source == Second.source)
      let tables = await sink.tables
      #expect(tables.candlesTwice.isEmpty)
    }
  }

  @Test func `a reload may take a source out, and add one`() async throws {
    try await registered {
      let run = try FailoverRun([])
      let engine = try run.engine(MemorySink())
      let update = { @Sendable (sources: [Source]) in
        EngineUpdate(
          limits: EngineLimits(), workers: run.configuration(sources),
          credentials: SourceCredentials())
      }
      let (world, ten) = (run.world, Self.ten)
      await world.at(ten) {
        await engine.update(update([Second.source]))
        await world.at(ten + 300) { await engine.update(update([.live, Second.source])) }
      }
      #expect(try await engine.run().isNone)
      let requests = await world.requests
      let without = requests.filter { $0.second > ten + 3 && $0.second < ten + 300 }
      #expect(!without.isEmpty && without.allSatisfy { $0.source == Second.source })
      let back = try #require(
        requests.first { $0.source == .live && $0.second > ten + 3 && !$0.isProbe })
      #expect(((ten + 600)...(ten + 690)).contains(back.second))
      run.expectOneAtATime(requests)
    }
  }

  @Test func `a name that no live source has is an error that names those there are`() throws {
    var settings = Settings(.candled)
    try settings.overlay(key: "quotes.sources", value: "sina,lunar")
    let fault = try #require(ValidatedConfiguration(settings).fault)
    #expect("\(fault)" == "--set: quotes.sources: expected names of sina, tencent, found \"lunar\"")
  }
}
