import ExchangeSimulator
import Feeds
import Ledgers
import Market
import TestExchange
import TestSupport
import Testing

@testable import Ingest

/// The first days of a year that the calendar does not contain yet: they are recorded, whatever
/// they turn out to be.
@Suite struct `A year's turn` {
  private static let newYear = (4...8).compactMap { TradingDay("2027-01-0\($0)") }
  /// A tenth of a day's sweeps still sees each minute three times.
  private static let cadenceSeconds = 15

  private func run(
    _ days: [TradingDay], published: Timestamp?, until end: Timestamp
  ) throws -> WorkerRun {
    let eve = TradingCalendar.shanghai.lastDay
    let later = published.map { LaterDays(CalendarFile.nextYear, publishedAt: $0) }
    let history = SimulatedHistory(seed: 11, instruments: 14, days: [eve] + days)
    let world = SimulatedWorld(MemoryExchange(history: history, laterDays: later))
    var run = try WorkerRun(
      world, history.symbols, from: Timestamp(day: eve, secondOfDay: Session.afternoonClose - 60),
      to: end)
    run.cadenceSeconds = Self.cadenceSeconds
    run.lines = LogLines()
    return run
  }

  private func firstMinute(of day: TradingDay, in tables: Tables) -> [Symbol: Candle] {
    let opens = Timestamp(day: day, secondOfDay: Session.morningOpen)
    let found = tables.candles.filter { $0.key.openedAt == opens && $0.key.timeframe == .minute1 }
    return Dictionary(uniqueKeysWithValues: found.map { ($0.key.symbol, $0.value) })
  }

  @Test(arguments: [0, 1, 5, nil] as [Int?])
  func `the first minute is recorded, however late the calendar's file is`(_ days: Int?)
    async throws
  {
    let monday = Self.newYear[0]
    let last = days == 0 ? "2027-01-04" : days == 5 ? "2027-01-11" : "2027-01-05"
    let end = try shanghai(last, 9, 50)
    let published = try days.map { days in
      try shanghai("2027-01-04", 9, 40).adding(seconds: Int64(days) * 86_400)
    }
    let onTime = try run(
      [monday], published: try shanghai("2026-12-20", 9), until: try shanghai("2027-01-04", 9, 50))
    let known = MemorySink()
    #expect(try await onTime.run(known).isNone)
    let expected = firstMinute(of: monday, in: await known.tables)
    #expect(expected.count > 8)

    let late = try run(
      Self.newYear + [monday.advanced(by: 7)], published: published, until: end)
    let sink = MemorySink()
    let engine = try late.engine(sink)
    await late.world.follow(engine)
    #expect(try await engine.run().isNone)
    let tables = await sink.tables
    #expect(firstMinute(of: monday, in: tables) == expected)
    // Of the eve the last minute alone was seen.
    #expect(tables.gaps.allSatisfy { $0.tradingDay < monday }, "\(tables.gaps)")
    // A whole day is certified without a calendar.
    if days != 0 {
      let certified = tables.certificates.filter { $0.key.day == monday }.values
      #expect(certified.count > 8 && certified.allSatisfy(\.isBalanced))
    }
    let calendar = await engine.calendar
    let grade: CalendarReading.Grade = days == nil ? .supposed : .declared
    #expect(calendar.declaration(of: monday) == CalendarReading(trades: true, grade: grade))
    // Its own rows have shown it meanwhile.
    #expect(calendar.isTradingDay(monday) == true)
    // New Year's Day is a weekday, too.
    let supposed = days == 0 ? 2 : days == 5 ? 6 : 3
    #expect(late.lines?.count("the trading calendar ended on 2026-12-31") == supposed)
    let report = await engine.report(on: [])
    #expect((report.calendarNotice == nil) == (days != nil))
    #expect(report.quotes?.freshness?.isFresh == true)
  }

  @Test(arguments: [true, false])
  func `no calendar is waited for on a day that the operator declares`(_ trades: Bool)
    async throws
  {
    var run = try FailoverRun([])
    run.sources = [.live]
    run.market = SimulatedMarket(seed: 5, day: Self.newYear[0], instruments: 24)
    let engine = try run.engine()
    #expect(await engine.report(on: []).isDaySupposed)
    var calendar = TradingCalendar.shanghai
    calendar.overrides[run.market.day] = trades
    await engine.learn(calendar)
    let report = await engine.report(on: [])
    #expect(!report.isDaySupposed && report.calendarNotice == nil)
  }

  @Test func `a weekday that turns out to be closed leaves nothing behind`() async throws {
    // Closed on the first Monday, which no calendar says.
    let tuesday = Self.newYear[1]
    let closed = try shanghai("2027-01-04", 10, 30)
    for end in [closed, try shanghai("2027-01-05", 9, 35)] {
      let run = try run([tuesday], published: nil, until: end)
      let sink = MemorySink()
      let engine = try run.engine(sink)
      await run.world.follow(engine)
      #expect(try await engine.run().isNone)
      let tables = await sink.tables
      let days = Set(tables.candles.map(\.value.tradingDay) + tables.certificates.map(\.key.day))
      #expect(days == (end == closed ? [run.start.shanghaiDay] : [run.start.shanghaiDay, tuesday]))
      #expect(tables.gaps.allSatisfy { $0.tradingDay == run.start.shanghaiDay }, "\(tables.gaps)")
      #expect(tables.rejections.isEmpty)
      let levels = ["warning", "error", "critical"].map { "level=\($0)" }
      let alarms = (run.lines?.lines ?? []).filter { line in levels.contains { line.contains($0) } }
      #expect(alarms.count == (end == closed ? 2 : 3), "\(alarms)")
      guard end == closed else { continue }
      let polled = try #require(await run.world.polledLast.values.max())
      #expect(polled > closed.adding(seconds: -60))
      let report = await engine.report(on: [])
      #expect(report.quotes?.freshness?.isInSession == false)
      #expect(report.quotes?.freshness?.isFresh == true && !report.isCertificateOverdue)
      #expect(report.sessionText.hasPrefix("closed, which no calendar said"))
    }
  }
}
