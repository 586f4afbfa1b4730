import Testing

@testable import Market

@Suite struct HistoryPeriodTests {
  @Test func `five days are weekdays where no calendar reaches`() throws {
    let tuesday = try #require(TradingDay("2027-01-12"))
    #expect(HistoryPeriod.fiveDays.begins(endingWith: tuesday)?.description == "2027-01-06")
    // Behind the national holiday, which the table has.
    let friday = try #require(TradingDay("2026-10-09"))
    #expect(HistoryPeriod.fiveDays.begins(endingWith: friday)?.description == "2026-09-28")
  }

  @Test func `a day beyond the years that dates are written in ends no period`() {
    let later = TradingDay.first(of: 9999).advanced(by: 400)
    #expect(HistoryPeriod.yearToDate.begins(endingWith: later) == later)
    let days = (0..<240).map { later.advanced(by: $0) }
    var calendar = TradingCalendar.shanghai
    let declaration = calendar.declare(days, on: later)
    #expect(declaration == DayDeclaration())
    #expect(calendar.lastDay == TradingCalendar.shanghai.lastDay)
  }
}
