import Commits
import ExchangeSimulator
import Feeds
import Market
import TestSupport
import Testing

@testable import Ingest

/// Two sources of one exchange that does not move, or that one of them does not show.
@Suite struct `Sources that stand still` {
  private static let opens = Session.morningOpen

  /// From before the open on.
  private func run(
    _ outages: [TwoSources.Outage], to end: Int, from start: Int = FailoverRun.ten - 2_400
  ) throws -> FailoverRun {
    var run = try FailoverRun(outages)
    (run.start, run.end) = (start, end)
    return run
  }

  @Test func `a day that opens late is watched by both sources, and charged what was missed`()
    async throws
  {
    try await Second.registered {
      let late = -3_660..<1_860
      let run = try run(
        [.live, Second.source].map { FailoverRun.outage($0, late, .still) },
        to: FailoverRun.ten + 2_400)
      let sink = MemorySink()
      #expect(try await run.engine(sink).run().isNone)
      let requests = await run.world.requests
      run.expectOneAtATime(requests, turns: [.live])
      for source in [Source.live, Second.source] {
        let watched = requests.count {
          $0.source == source && $0.isProbe == (source == Second.source)
            && ((FailoverRun.ten - 1_740)..<(FailoverRun.ten + 1_860)).contains($0.second)
        }
        #expect((55...62).contains(watched), "\(source.name): \(watched)")
      }
      #expect(run.lines.count("the exchanges are closed on 2026-07-06") == 1)
      #expect(run.lines.count("the exchanges trade on 2026-07-06") == 1)
      let tables = await sink.tables
      // Of Friday the rows that stood all night are known.
      let gaps = tables.gaps.filter { $0.tradingDay == run.market.day }
      #expect(!gaps.isEmpty)
      #expect(tables.candles.keys.contains { $0.openedAt > run.moment(Self.opens) })
      let moved = run.moment(FailoverRun.ten + 1_860)
      #expect(
        gaps.allSatisfy {
          $0.from == run.moment(Self.opens)
            && (moved.adding(seconds: -10)...moved.adding(seconds: 62)).contains($0.to)
        }, "\(gaps)")
    }
  }

  @Test func `a source that keeps an old date is left for one that has today's`() async throws {
    try await Second.registered {
      let run = try run(
        [FailoverRun.outage(.live, -3_660..<3_600, .still)], to: FailoverRun.ten)
      let engine = try run.engine(MemorySink())
      #expect(try await engine.run().isNone)
      let requests = await run.world.requests
      run.expectOneAtATime(requests, turns: [.live, Second.source])
      let taken = try #require(requests.first { $0.source == Second.source && !$0.isProbe })
      #expect((Self.opens..<(Self.opens + 20)).contains(taken.second))
      #expect(run.lines.count("sina keeps rows of 2026-07-03") == 1)
      #expect(run.lines.count("closed") == 0)
      #expect(await engine.report(on: []).calendarNotice == nil)
    }
  }

  @Test func `a start beside a source with old rows does not close the day`() async throws {
    try await Second.registered {
      let run = try run(
        [FailoverRun.outage(.live, -3_660..<7_200, .still)], to: FailoverRun.ten + 2_400,
        from: FailoverRun.ten + 1_800)
      #expect(try await run.engine(MemorySink()).run().isNone)
      let requests = await run.world.requests
      run.expectOneAtATime(requests, turns: [.live, Second.source])
      #expect(run.lines.count("closed") == 0)
    }
  }

  @Test func `a day that one source closed is opened by another that is back`() async throws {
    try await Second.registered {
      let back = FailoverRun.ten + 1_200
      let run = try run(
        [
          FailoverRun.outage(.live, -3_660..<7_200, .still),
          FailoverRun.outage(Second.source, -3_660..<1_200, .silent),
        ], to: back + 600)
      #expect(try await run.engine(MemorySink()).run().isNone)
      let requests = await run.world.requests
      let taken = try #require(requests.first { $0.source == Second.source && !$0.isProbe })
      #expect((back..<(back + 120)).contains(taken.second), "\(taken.second)")
      #expect(run.lines.count("the exchanges are closed on 2026-07-06") == 1)
      #expect(run.lines.count("the exchanges trade on 2026-07-06") == 1)
    }
  }

  @Test func `one source of two does not confirm that a day is closed`() async throws {
    try await Second.registered {
      let day = -3_660..<21_600
      let run = try run(
        [
          FailoverRun.outage(.live, day, .still), FailoverRun.outage(Second.source, day, .silent),
        ], to: FailoverRun.ten + 19_200)
      #expect(try await run.engine(MemorySink()).run().isNone)
      #expect(run.lines.count("the exchanges are closed on 2026-07-06") == 1)
      #expect(run.lines.count("the exchanges were closed on 2026-07-06") == 0)
    }
  }

  @Test func `where the exchange stands still no source is left, and its minutes are untraded`()
    async throws
  {
    try await Second.registered {
      let run = try run(
        [.live, Second.source].map { FailoverRun.outage($0, 0..<600, .still) },
        to: FailoverRun.ten + 900, from: FailoverRun.ten - 120)
      let sink = MemorySink()
      #expect(try await run.engine(sink).run().isNone)
      run.expectOneAtATime(await run.world.requests, turns: [.live])
      #expect(run.lines.count("the exchange stands still") == 1)
      #expect(run.lines.count("the exchange moves again") == 1)
      var completed: [Int: MinuteComplete] = [:]
      for case .minuteComplete(let minute) in await sink.tables.events {
        completed[minute.openedAt.shanghaiSecondOfDay] = minute
      }
      for minute in 1..<9 {
        let complete = try #require(completed[FailoverRun.ten + minute * 60])
        #expect(complete.missing == 0 && complete.traded == 0, "\(complete)")
        #expect(complete.untraded > 10)
      }
      #expect(await sink.tables.gaps.allSatisfy { $0.to <= run.moment(FailoverRun.ten) })
    }
  }

  @Test func `a day that ends early is whole, its last minutes untraded`() async throws {
    try await Second.registered {
      let halted = (4 * 3_600 + 50 * 60)..<(6 * 3_600)
      let run = try run(
        [.live, Second.source].map { FailoverRun.outage($0, halted, .still) },
        to: FailoverRun.ten + 5 * 3_600 + 40 * 60, from: FailoverRun.ten + 4 * 3_600 + 45 * 60)
      let sink = MemorySink()
      #expect(try await run.engine(sink).run().isNone)
      run.expectOneAtATime(await run.world.requests, turns: [.live])
      #expect(run.lines.count("the exchange stands still") == 1)
      let certificates = await sink.tables.certificates.values
      #expect(certificates.count > 15)
      // What was before the start is missing, and nothing else.
      #expect(certificates.allSatisfy { $0.isBalanced && $0.minutesMissing <= 226 })
    }
  }

  @Test func `one source that stands still alone proves nothing`() async throws {
    try await Second.registered {
      var run = try run(
        [FailoverRun.outage(.live, 0..<300, .still)], to: FailoverRun.ten + 360,
        from: FailoverRun.ten - 120)
      run.sources = [.live]
      let sink = MemorySink()
      #expect(try await run.engine(sink).run().isNone)
      #expect(run.lines.count("the exchange stands still") == 0)
      #expect(await sink.tables.gaps.contains { $0.from >= run.moment(FailoverRun.ten - 30) })
    }
  }
}
