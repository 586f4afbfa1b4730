import ExchangeSimulator
import Feeds
import Journal
import Market
import Polling
import TestSupport
import Testing

@testable import Ingest

/// A process is gone at some moment, and the next one has the journal: who is requested then.
@Suite struct `Failover over a restart` {
  @Test(arguments: [true, false])
  func `a restart goes on with the source that served, with a database or without`(
    _ hasDatabase: Bool
  ) async throws {
    try await Second.registered {
      var run = try FailoverRun([FailoverRun.outage(.live, 0..<30, .banned)])
      run.end = FailoverRun.ten + 20
      let sink = MemorySink()
      #expect(try await run.engine(sink).run().isNone)
      run.restart(after: 5, for: 600)
      let stored = hasDatabase ? await sink.tables.stored : nil
      let engine = try run.engine(hasDatabase ? sink : MemorySink(), stored: stored)
      #expect(try await engine.run().isNone)
      let requests = await run.world.requests
      run.expectOneAtATime(requests, turns: [.live, Second.source, .live])
      run.expectCoolDowns(requests)
      let refused = try #require(requests.first { $0.isRefused })
      let probe = try #require(requests.first { $0.source == .live && $0.at > refused.at })
      #expect((60...95).contains(probe.at.microseconds(since: refused.at) / 1_000_000))
      #expect(run.lines.count("live quotes go on from the source that served") == 1)
      #expect(await engine.report(on: []).status.quotes.failovers == [.live: 1])
      if hasDatabase { #expect(await sink.tables.candlesTwice.isEmpty) }
    }
  }

  @Test func `a restart right after a refusal sends nothing more to that source`() async throws {
    try await Second.registered {
      // The second never answers: no sweep of it is in the journal.
      for seconds in [3, 4, 9] {
        var run = try FailoverRun([
          FailoverRun.outage(.live, 0..<1_200, .banned),
          FailoverRun.outage(Second.source, 0..<1_200, .silent),
        ])
        run.end = FailoverRun.ten + seconds
        #expect(try await run.engine().run().isNone)
        run.restart(after: 0, for: 40)
        #expect(try await run.engine().run().isNone)
        let requests = await run.world.requests
        run.expectCoolDowns(requests)
        run.expectOneAtATime(requests, turns: [.live, Second.source])
        let after = requests.filter { $0.second >= run.start }
        #expect(!after.isEmpty && after.allSatisfy { $0.source == Second.source })
      }
    }
  }

  @Test func `wherever a kill falls, a refusal that is journaled has its cool-down`() async throws {
    try await Second.registered {
      var run = try FailoverRun([
        FailoverRun.outage(.live, 0..<700, .banned),
        FailoverRun.outage(Second.source, 100..<200, .banned),
      ])
      run.end = FailoverRun.ten + 900
      #expect(try await run.engine().run().isNone)
      var until: [Source: Timestamp] = [:]
      var (refusals, coolDowns) = (0, 0)
      let reader = try JournalReader(directory: run.folder.path)
      while let (position, entry) = try reader.next() {
        if entry.key == RecordedCoolDown.series {
          coolDowns += 1
          let text = String(decoding: entry.request, as: UTF8.self)
          let recorded = try #require(RecordedCoolDown(text: text)).coolDown
          until[entry.source] = entry.receivedAt.adding(
            milliseconds: recorded.microseconds / 1_000)
        } else if entry.status == 403 {
          refusals += 1
          // The journal up to here is what the next process finds.
          let known = try #require(until[entry.source], "entry \(position.sequence)")
          #expect(known > entry.receivedAt, "entry \(position.sequence)")
        }
      }
      // Of each change one entry: two bans, two relapses of the first, two ends.
      #expect(refusals > 3 && coolDowns <= refusals + 2, "\(refusals), \(coolDowns)")
    }
  }

  @Test
  func `the only source stays alone for the rest of its cool-down, however often it restarts`()
    async throws
  {
    try await Second.registered {
      var run = try FailoverRun([FailoverRun.outage(.live, 0..<1_200, .banned)])
      (run.sources, run.end) = ([.live], FailoverRun.ten + 5)
      #expect(try await run.engine().run().isNone)
      for _ in 0..<12 {
        run.restart(after: 1, for: 60)
        let engine = try run.engine()
        #expect(try await engine.run().isNone)
        #expect(await engine.report(on: []).sources.first?.state?.condition == .banned)
      }
      let requests = await run.world.requests.filter { $0.second >= FailoverRun.ten + 5 }
      run.expectCoolDowns(await run.world.requests)
      // The cool-downs end after 1 and 11 minutes.
      #expect(requests.count == 2 && requests.allSatisfy { $0.symbols.count == 1 })
    }
  }

  @Test func `a start long after the last answer begins with the first`() async throws {
    try await Second.registered {
      for (seconds, source) in [(240, Second.source), (400, .live), (3_000, .live)] {
        var run = try FailoverRun([FailoverRun.outage(.live, 0..<30, .banned)])
        run.end = FailoverRun.ten + 20
        #expect(try await run.engine().run().isNone)
        run.restart(after: seconds, for: 20)
        #expect(try await run.engine().run().isNone)
        let requests = await run.world.requests
        run.expectCoolDowns(requests)
        let first = try #require(requests.first { $0.at >= run.moment(run.start) })
        #expect(first.source == source, "after \(seconds) s")
        let nextDay = run.moment(run.start).adding(seconds: 86_400)
        let tail = try LiveTail(directory: run.folder.path, at: nextDay)
        #expect(tail.serving.isEmpty && tail.coolDowns.isEmpty)
      }
    }
  }

  @Test func `another host is another matter, and so is a source that came back by reloads`()
    async throws
  {
    try await Second.registered {
      var run = try FailoverRun([FailoverRun.outage(.live, 0..<10, .banned)])
      (run.sources, run.end) = ([.live], FailoverRun.ten + 12)
      #expect(try await run.engine().run().isNone)
      run.restart(after: 0, for: 20)
      run.host = "another.test"
      #expect(try await run.engine().run().isNone)
      let swept = await run.world.requests.first { $0.second >= run.start }
      #expect(swept.map { $0.second < run.start + 3 && $0.symbols.count > 1 } ?? false)

      let other = try FailoverRun([FailoverRun.outage(.live, 0..<60, .banned)])
      let engine = try other.engine()
      let update = { @Sendable (sources: [Source]) in
        EngineUpdate(
          limits: EngineLimits(), workers: other.configuration(sources),
          credentials: SourceCredentials())
      }
      let (world, ten) = (other.world, FailoverRun.ten)
      await world.at(ten + 9) {
        await engine.update(update([Second.source]))
        await engine.update(update([Second.source, .live]))
      }
      var next = other
      next.end = ten + 12
      #expect(try await engine.run().isNone)
      let tail = try LiveTail(directory: other.folder.path, at: other.moment(ten + 12))
      #expect(tail.coolDowns[.live] == nil && tail.serving[.live] == Second.source)
    }
  }

  @Test func `what is no cool-down is none`() {
    let sound = ["banned 60000 0 hq.test", "over 0 1 -", "throttled 12000 2 a"]
    for text in sound { #expect(RecordedCoolDown(text: text)?.text == text) }
    let unsound = [
      "", "banned", "banned 60000 0", "banned -1 0 a", "banned 9223372036854775807 0 a",
      "silent 1 0 a", "banned 1 x a", "banned 1 0 a b",
    ]
    for text in unsound { #expect(RecordedCoolDown(text: text) == nil, "\(text)") }
  }

  @Test func `through random refusals and restarts no request is inside a cool-down`() async throws
  {
    try await Second.registered {
      for seed: UInt64 in 1...6 {
        var random = SplitMix(seed: seed)
        let outages = (0..<6).map { _ in
          let from = Int.random(in: 0...1_200, using: &random)
          let length = Int.random(in: 5...400, using: &random)
          let isBan = Int.random(in: 0..<3, using: &random) > 0
          return FailoverRun.outage(
            Bool.random(using: &random) ? .live : Second.source, from..<(from + length),
            isBan ? .banned : .silent)
        }
        var run = try FailoverRun(outages)
        run.end = FailoverRun.ten + 60
        #expect(try await run.engine().run().isNone)
        while run.end < FailoverRun.ten + 1_500 {
          let before = await run.world.requests
          run.restart(
            after: .random(in: 0...20, using: &random), for: .random(in: 2...300, using: &random))
          #expect(try await run.engine().run().isNone)
          let (requests, note) = (await run.world.requests, "seed \(seed)")
          run.expectCoolDowns(requests, note)
          // It goes on with whoever answered last, unless that one must be left alone.
          let served = before.last { !$0.isProbe && !$0.isSilent }
          let next = requests.dropFirst(before.count).first { !$0.isProbe }
          guard let served, let next, !served.isRefused else { continue }
          let isRecent = run.moment(run.start).microseconds(since: served.at) < 300_000_000
          #expect(next.source == served.source || !isRecent, "\(note) at \(next.at)")
        }
      }
    }
  }
}
