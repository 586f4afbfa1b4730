import AppStore
import Commits
import Foundation
import HTTPTypes
import Market
import Platform
import Postgres
import Store
import TestSupport
import TestTraits
import Testing

@testable import Gateway
@testable import Reader

/// What is stored of a day is read once and then follows the feed: it is never other than the view.
@Suite(.ownThread) struct CoverageMemoryTests {
  private static let path = "/v1/coverage?day=2026-07-06"
  /// A reading: a transaction, its plans, the place in the feed, the rows.
  private static let reading = 5

  private static func certificate(of number: Int) -> DayCertificate {
    DayCertificate(
      symbol: StoreSamples.symbol(number), tradingDay: StoreSamples.day,
      exchangeVolume: ExactDecimal(900), exchangeTurnover: ExactDecimal(9_000),
      minuteVolume: ExactDecimal(880), minuteTurnover: ExactDecimal(8_800),
      gapVolume: ExactDecimal(20), gapTurnover: ExactDecimal(200), afterHoursVolume: .zero,
      afterHoursTurnover: .zero, minutesTraded: 238, minutesUntraded: 1, minutesMissing: 1)
  }

  /// - Parameter statements: how many the answer takes.
  private static func expectAsStored(
    in fixture: ServedFixture, path: String = path, statements: Int, after change: String
  ) async throws {
    let count = Locked(0)
    let reply = try await StatementCount.$current.withValue(count) { try await fixture.get(path) }
    let rows = try reply.json["coverage"] as? [[String: Any]] ?? []
    let shown = rows.map { row in
      [
        "symbol", "traded", "untraded", "missing", "minuteVolume", "gapVolume", "residualVolume",
      ].map { name -> String? in (row[name] as? Int).map { "\($0)" } ?? row[name] as? String }
        + ["\(row["certified"] as? Bool ?? false)"]
    }
    let stored = try fixture.database.execute(
      """
      select symbol, traded, untraded, missing, minute_volume, gap_volume, residual_volume,
        certified::text
      from candled.coverage
      where trading_day = '2026-07-06'
      order by symbol, source
      """)
    #expect(shown == stored && stored.count == 3, "after \(change): \(reply.body)")
    #expect(count.withLock { $0 } == statements, "after \(change)")
  }

  @Test("new minutes, revisions, gaps and certificates change what is kept of a day")
  func follows() async throws {
    let fixture = try await ServedFixture()
    // Opens the connection, which takes statements of its own.
    _ = try await fixture.get("/v1/disagreements")
    let writer = try await GatewayFixture.openWriter(fixture.database)
    var samples = StoreSamples(seed: 15)
    var seq: Int64 = 120
    func commit(_ change: (inout Commit) -> Void) async throws {
      seq += 1
      var commit = Commit(
        position: JournalPosition(seq), knownAt: StoreSamples.start.adding(seconds: 60 * seq))
      change(&commit)
      _ = try await writer.commit(commit)
      try await fixture.wait { [seq] in $0.seq >= seq }
    }
    try await Self.expectAsStored(in: fixture, statements: Self.reading, after: "a start")
    for minute in 120...121 {
      try await commit { commit in
        commit.candles = (0..<3).map { samples.candle($0, minute: minute) }
        commit.candles[1].flags = .noTrade
      }
      try await Self.expectAsStored(in: fixture, statements: 0, after: "a minute")
    }
    try await commit { commit in
      commit.revisions = [Revision(candle: samples.candle(0, minute: 30), cause: .latePrint)]
      commit.candles = [samples.candle(0, minute: 122)]
    }
    try await Self.expectAsStored(in: fixture, statements: Self.reading, after: "a late print")
    try await Self.expectAsStored(in: fixture, statements: 0, after: "a reading")
    try await commit { commit in
      let from = Timestamp(day: StoreSamples.day, secondOfDay: 50_000)
      commit.gaps = [
        Gap(
          symbol: StoreSamples.symbol(2), tradingDay: StoreSamples.day, from: from,
          to: from.adding(seconds: 60), volume: ExactDecimal(5), turnover: ExactDecimal(50),
          cause: .outage)
      ]
    }
    try await Self.expectAsStored(in: fixture, statements: 0, after: "a gap")
    try await commit { $0.certificates = [Self.certificate(of: 1)] }
    try await Self.expectAsStored(in: fixture, statements: Self.reading, after: "a certificate")
    try await commit { $0.candles = (0..<3).map { samples.candle($0, minute: 123) } }
    try await Self.expectAsStored(in: fixture, statements: 0, after: "a minute behind it")
  }

  @Test("many requests at once read a day once")
  func singleReading() async throws {
    let fixture = try await ServedFixture()
    // Opens the connection, which takes statements of its own.
    _ = try await fixture.get("/v1/disagreements")
    let count = Locked(0)
    try await StatementCount.$current.withValue(count) {
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<16 { group.addTask { try await fixture.get(Self.path).status } }
        for try await status in group { #expect(status == 200) }
      }
    }
    #expect(count.withLock { $0 } == Self.reading)
  }

  private static func directory() throws -> InstrumentDirectory {
    InstrumentDirectory().updated(
      with: try (0..<2).map {
        try InstrumentDirectoryTests.record(
          Int32($0) + 1, StoreSamples.symbol($0).description, name: nil)
      })
  }

  private static func reading(at seq: Int64, of series: [Int32]) -> CoverageMemory.Reading {
    CoverageMemory.Reading(
      seq: seq,
      rows: series.map {
        CoverageRecord(
          id: $0, symbol: StoreSamples.symbol(Int($0) - 1), source: "source0",
          tradingDay: StoreSamples.day, traded: Int32(seq))
      })
  }

  @Test("what changes while others are read again is read by the next request")
  func changedMeanwhile() async throws {
    let (memory, directory) = (CoverageMemory(), try Self.directory())
    let asked = Locked<[[Int32]?]>([])
    @Sendable func apply(_ seq: Int64, to number: Int) {
      var change = FeedChange(
        seq: seq, committedAt: StoreSamples.start, knownAt: StoreSamples.start, rejections: 0)
      change.certificates = [Self.certificate(of: number)]
      memory.apply(change, by: directory)
    }
    let read: CoverageMemory.Read = { series in
      let number = asked.withLock { asked in
        asked.append(series)
        return asked.count
      }
      // A certificate of the other comes while the first's row is read.
      if number == 2 { apply(2, to: 1) }
      return Self.reading(at: Int64(min(number - 1, 1) * 2), of: series ?? [1, 2])
    }
    _ = try await memory.rows(of: StoreSamples.day, by: read)
    apply(1, to: 0)
    for _ in 0..<3 { _ = try await memory.rows(of: StoreSamples.day, by: read) }
    #expect(asked.withLock { $0 } == [nil, [1], [2]])
    let rows = try await memory.rows(of: StoreSamples.day, by: read)
    #expect(rows.map(\.traded) == [2, 2])
  }

  @Test("a day that many wait for is read in nobody's turn")
  func turn() async throws {
    let client = Locked<AccessKey?>(.user(1))
    try await AccessKey.$current.withValue(.user(1)) {
      _ = try await CoverageMemory().rows(of: StoreSamples.day) { _ in
        client.withLock { $0 = AccessKey.current }
        return Self.reading(at: 0, of: [1, 2])
      }
    }
    #expect(client.withLock { $0 } == .everybody)
  }
}
