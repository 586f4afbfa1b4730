import Market
import TestSupport
import Testing

@Suite struct TradingDayTests {
  @Test func `civil dates agree with counting day by day from year 1 to 2400`() throws {
    var date = (year: 1, month: 1, day: 1)
    var weekday = 1  // 0001-01-01 was a Monday
    let first = try #require(TradingDay(year: 1, month: 1, day: 1))
    for offset in 0..<876_582 {
      let day = first.advanced(by: offset)
      guard day.civil == date, day.weekday == weekday,
        TradingDay(year: date.year, month: date.month, day: date.day) == day
      else {
        Issue.record("day \(offset): \(day) instead of \(date), weekday \(day.weekday)")
        return
      }
      date = dayAfter(date)
      weekday = weekday % 7 + 1
    }
    #expect(date == (2401, 1, 1))
  }

  @Test func `day 0 is Thursday, the first of January 1970`() {
    let epoch = TradingDay(daysSince1970: 0)
    #expect(epoch.description == "1970-01-01")
    #expect(epoch.weekday == 4)
    #expect(!epoch.isWeekend)
    #expect(epoch.advanced(by: 2).isWeekend)
  }

  @Test(arguments: ["1990-12-19", "2024-02-29", "2026-07-06", "0001-01-01", "9999-12-31"])
  func `a date survives a round trip`(_ text: String) throws {
    #expect(try #require(TradingDay(text)).description == text)
  }

  @Test(arguments: [
    "", "2026-02-30", "2025-02-29", "1900-02-29", "2026-13-01", "2026-00-01", "2026-01-00",
    "2026-04-31", "2026-7-06", "20260706", "2026-07-06 ", "2026/07/06", "-026-07-06", "+026-07-06",
    "0000-01-01", "２０２６-07-06",
  ])
  func `what is no date is refused`(_ text: String) {
    #expect(TradingDay(text) == nil)
  }

  @Test func `a day the calendar never sees still prints`() {
    #expect(TradingDay(daysSince1970: .max).description.hasPrefix("588"))
  }
}

/// The rules as school teaches them, to hold the arithmetic against.
private func dayAfter(_ date: (year: Int, month: Int, day: Int)) -> (Int, Int, Int) {
  let isLeap = date.year % 4 == 0 && (date.year % 100 != 0 || date.year % 400 == 0)
  let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  if date.day < lengths[date.month - 1] { return (date.year, date.month, date.day + 1) }
  return date.month < 12 ? (date.year, date.month + 1, 1) : (date.year + 1, 1, 1)
}
