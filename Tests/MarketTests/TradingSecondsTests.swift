import Market
import Testing

@Suite struct TradingSecondsTests {
  /// A moment by Shanghai's clock, as the database would print it.
  private func at(_ text: String) throws -> Timestamp {
    let parts = text.split(separator: "T")
    let clock = parts[1].prefix(8).split(separator: ":").compactMap { Int($0) }
    let day = try #require(TradingDay(parts[0]))
    return Timestamp(day: day, secondOfDay: clock[0] * 3600 + clock[1] * 60 + clock[2])
  }

  /// 2026-07-03 is a Friday; the Monday after it trades too.
  @Test(arguments: [
    ("2026-07-06T09:31:00+08:00", "2026-07-06T09:31:07+08:00", Int64(7)),
    ("2026-07-06T11:29:58+08:00", "2026-07-06T13:00:03+08:00", 5),
    ("2026-07-06T11:30:00+08:00", "2026-07-06T12:59:00+08:00", 0),
    ("2026-07-03T15:00:01+08:00", "2026-07-06T09:30:09+08:00", 9),
    ("2026-07-03T14:59:00+08:00", "2026-07-06T10:30:00+08:00", 3660),
    ("2026-07-02T15:00:00+08:00", "2026-07-06T09:30:00+08:00", 14_400),
    ("2026-07-06T09:31:07+08:00", "2026-07-06T09:31:00+08:00", 0),
  ])
  func `only seconds of trading count`(start: String, end: String, seconds: Int64) throws {
    #expect(
      TradingCalendar.shanghai.tradingSeconds(from: try at(start), to: try at(end)) == seconds)
  }

  @Test(arguments: [
    ("2026-07-06T09:29:59+08:00", false), ("2026-07-06T09:30:00+08:00", true),
    ("2026-07-06T11:30:00+08:00", false), ("2026-07-06T13:00:00+08:00", true),
    ("2026-07-06T15:00:00+08:00", false), ("2026-07-05T10:00:00+08:00", false),
    ("2031-07-07T10:00:00+08:00", true), ("2031-07-07T12:00:00+08:00", false),
    ("2031-07-06T10:00:00+08:00", false),
  ])
  func `a session is the hours of continuous trading on a day that trades or may`(
    moment: String, isInSession: Bool
  ) throws {
    #expect(TradingCalendar.shanghai.isInSession(try at(moment)) == isInSession)
  }

  @Test func `beyond the known US trading days every weekday is assumed to trade`() throws {
    let days = try ["2026-07-02", "2026-07-06"].map { try #require(TradingDay($0)) }
    // 2026-07-03 is a holiday, and known to be one; 07-04 and 07-05 are a weekend.
    let known = days.map { day in
      MarketSession(
        exchange: .unitedStates, day: day,
        opens: Timestamp(day: day, newYorkSecondOfDay: 34_200),
        closes: Timestamp(day: day, newYorkSecondOfDay: 46_800))
    }
    let week = try #require(TradingDay("2026-07-01"))...(try #require(TradingDay("2026-07-07")))
    let supposed = known.supposingWeekdays(of: week).sorted { $0.day < $1.day }
    #expect(supposed.map(\.day.description.last) == ["1", "2", "6", "7"])
    #expect(supposed.map { $0.closes.newYorkSecondOfDay } == [57_600, 46_800, 46_800, 57_600])
    #expect([MarketSession]().supposingWeekdays(of: week).count == 5)
  }

  @Test func `a US session counts by its own hours`() throws {
    let day = try #require(TradingDay("2026-07-06"))
    let session = MarketSession(
      exchange: .unitedStates, day: day,
      opens: Timestamp(day: day, newYorkSecondOfDay: 34_200),
      closes: Timestamp(day: day, newYorkSecondOfDay: 57_600))
    let open = session.opens
    #expect([session].tradingSeconds(from: open.adding(seconds: -60), to: open) == 0)
    #expect(
      [session].tradingSeconds(from: open.adding(seconds: -60), to: open.adding(seconds: 9)) == 9)
    #expect(
      [session].tradingSeconds(from: open, to: session.closes.adding(seconds: 900)) == 23_400)
  }
}
