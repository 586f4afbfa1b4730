import Market
import Testing

@Suite struct TradingCalendarTests {
  private let calendar = TradingCalendar.shanghai

  private func tradingDays(_ from: String, _ through: String) throws -> [TradingDay] {
    try (day(from)...day(through)).filter { calendar.status(of: $0) == .trading }
  }

  @Test func `the exchange traded on 8797 days from its first to the end of 2026`() throws {
    #expect(try tradingDays("1990-12-19", "2026-12-31").count == 8797)
  }

  /// Computed outside Swift from the decoded `klc_td_sh.txt` and 1992-05-04.
  @Test func `every single day is the source's`() throws {
    let digest = try tradingDays("1990-12-19", "2026-12-31")
      .reduce(UInt64(0)) { $0 &* 31 &+ UInt64($1.daysSince1970) }
    #expect(digest == 0xDE3F_AD37_F7E9_542A)
  }

  @Test(arguments: [(1991, 255), (1992, 255), (2008, 246), (2020, 243), (2025, 243), (2026, 242)])
  func `a year has its known number of trading days`(_ year: Int, _ count: Int) throws {
    #expect(try tradingDays("\(year)-01-01", "\(year)-12-31").count == count)
  }

  @Test func `2026 closes on the weekdays the exchange announced`() throws {
    let closed = try (day("2026-01-01")...day("2026-12-31"))
      .filter { calendar.status(of: $0) == .closed && !$0.isWeekend }
      .map { String($0.description.dropFirst(5)) }
    #expect(
      closed == [
        "01-01", "01-02", "02-16", "02-17", "02-18", "02-19", "02-20", "02-23", "04-06", "05-01",
        "05-04", "05-05", "06-19", "09-25", "10-01", "10-02", "10-05", "10-06", "10-07",
      ])
  }

  @Test func `no weekend is a trading day, make-up workdays included`() throws {
    #expect(try tradingDays("1990-12-19", "2026-12-31").allSatisfy { !$0.isWeekend })
    #expect(try calendar.status(of: day("2026-02-14")) == .closed)
  }

  @Test func `the day Sina's own file lacks is a trading day`() throws {
    #expect(try calendar.status(of: day("1992-05-04")) == .trading)
  }

  @Test(arguments: ["1990-12-18", "2027-01-01", "2027-01-04", "1970-01-01"])
  func `a date outside the table is unknown`(_ text: String) throws {
    #expect(try calendar.status(of: day(text)) == .unknown)
  }

  @Test func `next and previous walk the same days in both directions`() throws {
    var forward = [calendar.firstDay]
    while let last = forward.last, let next = calendar.next(after: last) { forward.append(next) }
    var backward = [calendar.lastDay]
    while let last = backward.last, let previous = calendar.previous(before: last) {
      backward.append(previous)
    }
    #expect(forward.count == 8797)
    #expect(forward == backward.reversed())
  }

  @Test func `next and previous step over holidays and weekends`() throws {
    #expect(try calendar.next(after: day("2026-02-13")) == day("2026-02-24"))
    #expect(try calendar.previous(before: day("2026-02-24")) == day("2026-02-13"))
    #expect(try calendar.next(after: day("2026-12-31")) == nil)
    #expect(try calendar.previous(before: day("1990-12-19")) == nil)
    #expect(try calendar.next(after: day("2030-01-01")) == nil)
  }

  @Test func `the calendar warns thirty days before it ends and says when it has`() throws {
    #expect(try calendar.freshness(on: day("2026-11-30")) == .fresh)
    #expect(try calendar.freshness(on: day("2026-12-01")) == .endsSoon(daysLeft: 30))
    #expect(try calendar.freshness(on: day("2026-12-31")) == .endsSoon(daysLeft: 0))
    #expect(try calendar.freshness(on: day("2027-01-01")) == .ended)
  }

  /// What the table says of 2026, and the weekdays of 2027 without a closure of two weeks.
  private func daysThrough2027() throws -> [TradingDay] {
    let known = try (day("2026-01-01")...day("2026-12-31"))
      .filter { calendar.status(of: $0) == .trading }
    let closed = try day("2027-02-01")...day("2027-02-14")
    let next = try (day("2027-01-01")...day("2027-12-31"))
      .filter { !$0.isWeekend && !closed.contains($0) }
    return known + next
  }

  @Test func `a list that agrees with the table extends it by its years`() throws {
    let extended = try #require(calendar.extended(by: daysThrough2027()))
    #expect(try extended.status(of: day("2027-02-05")) == .closed)
    #expect(try extended.status(of: day("2027-02-15")) == .trading)
    #expect(try extended.next(after: day("2026-12-31")) == day("2027-01-01"))
    #expect(try extended.lastDay == day("2027-12-31"))
    #expect(try extended.status(of: day("1992-05-04")) == .trading)
  }

  @Test func `a day that was closed for a storm keeps no list from extending the table`() throws {
    let storm = try day("2026-03-02")
    let extended = try #require(calendar.extended(by: daysThrough2027().filter { $0 != storm }))
    #expect(try extended.lastDay == day("2027-12-31"))
    #expect(extended.status(of: storm) == .trading)
  }

  @Test func `a list that contradicts the table, or is cut short, extends nothing`() throws {
    let days = try daysThrough2027()
    let march = days.filter { $0.description.hasPrefix("2026-03") }.prefix(11)
    #expect(calendar.extended(by: days.filter { !march.contains($0) }) == nil)
    #expect(calendar.extended(by: Array(days.dropLast(60))) == nil)
    #expect(calendar.extended(by: days.filter { $0 <= calendar.lastDay }) == nil)
    #expect(calendar.extended(by: []) == nil)
  }
}

/// A date the test vouches for.
func day(_ text: String) throws -> TradingDay {
  try #require(TradingDay(text))
}
