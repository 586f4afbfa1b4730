import Foundation
import Market
import TestSupport
import Testing

@Suite struct NewYorkTests {
  @Test func `the clock agrees with the time zone database from 2007 to 2060`() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "America/New_York"))
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix(seed: seed)
    for _ in 0..<20_000 {
      let second = Int64.random(in: 1_167_696_000...2_840_000_000, using: &generator)
      let parts = calendar.dateComponents(
        [.year, .month, .day, .hour, .minute, .second],
        from: Date(timeIntervalSince1970: TimeInterval(second)))
      let moment = Timestamp(seconds: second)
      let (year, month, day) = moment.newYorkDay.civil
      #expect([year, month, day] == [parts.year, parts.month, parts.day], "seed \(seed)")
      let clock = moment.newYorkSecondOfDay
      #expect(
        [clock / 3600, clock / 60 % 60, clock % 60] == [parts.hour, parts.minute, parts.second],
        "seed \(seed) \(second)")
    }
  }

  @Test(arguments: [
    ("2026-03-08", 1, "2026-03-08T14:00:00+08:00"), ("2026-03-08", 3, "2026-03-08T15:00:00+08:00"),
    ("2026-07-06", 9, "2026-07-06T21:00:00+08:00"), ("2026-11-01", 0, "2026-11-01T12:00:00+08:00"),
    ("2026-11-01", 1, "2026-11-01T14:00:00+08:00"), ("2026-11-21", 9, "2026-11-21T22:00:00+08:00"),
  ])
  func `a wall clock's hour is that moment`(_ day: String, _ hour: Int, _ moment: String) throws {
    let day = try #require(TradingDay(day))
    let shown = Timestamp(day: day, newYorkSecondOfDay: hour * 3600)
    #expect(shown.description == moment)
    #expect(shown.newYorkDay == day && shown.newYorkSecondOfDay == hour * 3600)
  }

  @Test func `a Chinese morning is a day in China, and the US evening before`() throws {
    let day = try #require(TradingDay("2026-11-20"))
    let morning = Timestamp(day: day, secondOfDay: 10 * 3600)
    let markets = [MarketDefinition.mainlandChina, .unitedStates]
    #expect(markets.map { $0.day(at: morning).description } == ["2026-11-20", "2026-11-19"])
  }
}
