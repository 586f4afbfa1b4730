import Foundation
import Market
import Operations
import Platform
import Store
import TestSupport
import TestTraits
import Testing

@testable import Ingest

/// When the daemon puts closed months of candles in key order.
@Suite(.ownThread) struct IdleReclusteringTests {
  @Test(arguments: [
    ("08:59", true), ("09:01", false), ("11:15", false), ("12:10", true), ("12:31", false),
    ("15:29", false), ("15:31", true), ("23:00", true),
  ])
  func `a market is idle half an hour before and behind its sessions`(
    time: String, isIdle: Bool
  ) async throws {
    let parts = time.split(separator: ":").compactMap { Int($0) }
    var run = try EngineRun()
    run.start = parts[0] * 3600 + parts[1] * 60
    run.end = run.start + 1
    #expect(try await run.engine(MemorySink()).isMarketIdle == isIdle)
  }

  @Test func `a month is closed eight days after its end in UTC`() throws {
    let end = TradingDay(daysSince1970: 20_635)  // 2026-07-01
    let last = try #require(Timestamp(rfc3339: "2026-07-08T23:59:59Z"))
    #expect(Reclustering.closedBy(last) < end)
    #expect(Reclustering.closedBy(last.adding(seconds: 1)) == end)
  }

  @Test func `a daemon puts a closed month in order while no market trades`() async throws {
    let month = try ClosedMonth(on: StoreDatabase(), instruments: 2, days: 2)
    let before = try month.contents()
    let folder = try PrivateCluster.freshDirectory()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let lines = LogLines()
    let daemon = try Daemon.withoutUpstream(
      in: folder, store: month.database.daemonURL(),
      more: """
        clock.mode = "scaled"
        clock.start = "2026-07-20T20:00:00+08:00"
        clock.speed = 60
        store.data_directory = "/tmp"
        """, log: lines.logger)
    let running = Task { try await daemon.run() }
    let deadline = Date().addingTimeInterval(180)
    while lines.count("the candles of 2026-06 are in key order") == 0, Date() < deadline {
      try await Task.sleep(nanoseconds: 50_000_000)
    }
    let engine = try #require(daemon.state.engine)
    // The log says so first.
    while await engine.status.store.monthsLeft != 0, Date() < deadline {
      try await Task.sleep(nanoseconds: 50_000_000)
    }
    #expect(await engine.status.store.monthsLeft == 0)
    #expect(await engine.status.store.candlesReclustered == before[0][0].flatMap { Int64($0) })
    daemon.stop()
    _ = try await running.value
    #expect(lines.count("putting the candles of 2026-06 in key order") == 1)
    #expect(try month.contents() == before)
    #expect(try month.misplaced() == "0")
  }
}
