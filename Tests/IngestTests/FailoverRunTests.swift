import Commits
import ExchangeSimulator
import Feeds
import Journal
import Logging
import Market
import Operations
import Polling
import Store
import TestExchange
import TestSupport
import Testing

@testable import Ingest

@Suite struct `Failover between live sources` {
  @Test func `a ban lets the second serve with the next answer, and the first when it is sound`()
    async throws
  {
    try await Second.registered {
      let run = try FailoverRun([FailoverRun.outage(.live, 0..<30, .banned)])
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
      run.expectOneAtATime(requests, turns: [.live, Second.source, .live])
      run.expectCoolDowns(requests)
      let report = await engine.report(on: [])
      #expect(report.status.quotes.failovers == [.live: 1, Second.source: 1])
      #expect(report.quotes?.source == .live && report.quotes?.freshness?.isFresh == true)
      #expect(run.lines.count("from=sina") == 1 && run.lines.count("to=sina") == 1)
      #expect(run.lines.count("it banned this address") == 1)
    }
  }

  @Test(arguments: [TwoSources.Fault.silent, .still, .hundredfold])
  func `a source that is silent, stands still or changed its unit is left within 15 s`(
    _ fault: TwoSources.Fault
  ) async throws {
    try await Second.registered {
      // A changed unit shows in several rows of a board.
      var run = try FailoverRun([FailoverRun.outage(.live, 0..<1_200, fault)], instruments: 96)
      run.batchSymbols = 100
      run.end = FailoverRun.ten + 120
      let engine = try run.engine(MemorySink())
      #expect(try await engine.run().isNone)
      let requests = await run.world.requests
      let taken = try #require(requests.first { $0.source == Second.source })
      #expect((FailoverRun.ten..<(FailoverRun.ten + 15)).contains(taken.second))
      run.expectOneAtATime(requests, turns: [.live, Second.source])
      let report = await engine.report(on: [])
      #expect(report.quotes?.source == Second.source && report.quotes?.servingSince != nil)
      #expect(report.sources.first { $0.source == .live }?.freshness == nil)
    }
  }

  @Test func `where both ban, no request is inside a cool-down, and the first to end serves`()
    async throws
  {
    try await Second.registered {
      let run = try FailoverRun([
        FailoverRun.outage(.live, 0..<900, .banned),
        FailoverRun.outage(Second.source, 0..<30, .banned),
      ])
      let engine = try run.engine(MemorySink())
      #expect(try await engine.run().isNone)
      let requests = await run.world.requests
      run.expectCoolDowns(requests)
      run.expectOneAtATime(requests, turns: [.live, Second.source])
      let served = try #require(
        requests.first {
          $0.source == Second.source && $0.second > FailoverRun.ten + 30 && !$0.isProbe
        })
      #expect(served.second < FailoverRun.ten + 90)
      #expect(await engine.report(on: []).quotes?.source == Second.source)
    }
  }

  @Test func `the second is never requested for what it does not quote`() async throws {
    try await Second.registered {
      let run = try FailoverRun([FailoverRun.outage(.live, 0..<600, .banned)])
      #expect(try await run.engine(MemorySink()).run().isNone)
      let requests = await run.world.requests.filter { $0.source == Second.source }
      #expect(!requests.isEmpty)
      #expect(requests.flatMap(\.symbols).allSatisfy(Second.isRequestable))
    }
  }

  @Test func `a source that answers half of its batches is left, one that answers more is not`()
    async throws
  {
    try await Second.registered {
      for (answered, turns) in [
        ([1, 4, 6], [Source.live, Second.source]), ([0, 1, 2, 4, 5, 7], [Source.live]),
      ] as [(Set<UInt16>, [Source])] {
        var run = try FailoverRun([FailoverRun.outage(.live, 0..<1_200, .partly(answered))])
        (run.batchSymbols, run.end) = (4, FailoverRun.ten + 120)
        #expect(try await run.engine().run().isNone)
        let requests = await run.world.requests
        run.expectOneAtATime(requests, turns: turns)
        let taken = requests.first { $0.source == Second.source && !$0.isProbe }
        #expect(
          taken.map { (FailoverRun.ten..<(FailoverRun.ten + 15)).contains($0.second) } ?? true)
      }
    }
  }

  @Test func `a symbol that voids its batch is found, and no source is left for it`() async throws {
    try await Second.registered {
      var run = try FailoverRun([])
      let culprit = run.market.symbols[7]
      run = try FailoverRun([FailoverRun.outage(.live, 0..<1_200, .poisoned(culprit))])
      run.end = FailoverRun.ten + 120
      let engine = try run.engine()
      #expect(try await engine.run().isNone)
      run.expectOneAtATime(await run.world.requests, turns: [.live])
      #expect(run.lines.count("symbol quarantined") == 1)
    }
  }

  @Test func `a reload may take a source out, and add one`() async throws {
    try await Second.registered {
      let run = try FailoverRun([])
      let engine = try run.engine(MemorySink())
      let update = { @Sendable (sources: [Source]) in
        EngineUpdate(
          limits: EngineLimits(), workers: run.configuration(sources),
          credentials: SourceCredentials())
      }
      let (world, ten) = (run.world, FailoverRun.ten)
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
      run.expectOneAtATime(requests, turns: [.live, Second.source, .live])
    }
  }

  @Test func `a name that no live source has is an error that names those there are`() throws {
    var settings = Settings(.candled)
    try settings.overlay(key: "quotes.sources", value: "sina,lunar")
    let fault = try #require(ValidatedConfiguration(settings).fault)
    #expect("\(fault)" == "--set: quotes.sources: expected names of sina, tencent, found \"lunar\"")
  }
}
