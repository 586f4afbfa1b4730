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

  @Test func `the calendar warns 45 days before it ends and says when it has`() throws {
    #expect(try calendar.freshness(on: day("2026-11-15")) == .fresh)
    #expect(try calendar.freshness(on: day("2026-11-16")) == .endsSoon(daysLeft: 45))
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

  /// What a list makes of the calendar, read on a day.
  private func declared(
    _ days: [TradingDay], on today: String = "2026-12-20"
  ) throws -> (TradingCalendar, DayDeclaration) {
    var declared = calendar
    let declaration = declared.declare(days, on: try day(today))
    return (declared, declaration)
  }

  @Test func `a list that agrees with the table extends it by its years`() throws {
    let (extended, declaration) = try declared(daysThrough2027())
    #expect(declaration == DayDeclaration())
    #expect(try extended.status(of: day("2027-02-05")) == .closed)
    #expect(try extended.status(of: day("2027-02-15")) == .trading)
    #expect(try extended.next(after: day("2026-12-31")) == day("2027-01-01"))
    #expect(try extended.lastDay == day("2027-12-31"))
    #expect(try extended.status(of: day("1992-05-04")) == .trading)
  }

  @Test func `a list of nothing but days behind the last one known extends it`() throws {
    let (extended, declaration) = try declared(
      daysThrough2027().filter { $0.description > "2027" })
    #expect(try declaration == DayDeclaration() && extended.lastDay == day("2027-12-31"))
  }

  @Test func `half a year is half a year, and behind it weekdays are supposed`() throws {
    let half = try daysThrough2027().filter { $0.description < "2027-07-01" }
    let (extended, _) = try declared(half)
    #expect(try extended.lastDay == day("2027-06-30"))
    #expect(try extended.reading(of: day("2027-02-05")).grade == .declared)
    #expect(
      try extended.reading(of: day("2027-07-01"))
        == CalendarReading(trades: true, grade: .supposed))
    // The other half comes later.
    var whole = extended
    _ = whole.declare(try daysThrough2027(), on: try day("2027-06-01"))
    #expect(try whole.lastDay == day("2027-12-31"))
  }

  @Test func `a year with a long closure is taken, and one with a hole up to the hole`() throws {
    let days = try daysThrough2027()
    let spring = try day("2027-02-01")...day("2027-02-25")
    let (closed, _) = try declared(days.filter { !spring.contains($0) })
    #expect(try closed.lastDay == day("2027-12-31"))
    #expect(closed.next(after: spring.lowerBound) == spring.upperBound.advanced(by: 1))
    let summer = try day("2027-05-01")...day("2027-08-31")
    let (cut, _) = try declared(days.filter { !summer.contains($0) })
    #expect(try cut.lastDay == day("2027-04-30"))
  }

  @Test func `a known day that is to come can be withdrawn or added`() throws {
    let (storm, sunday) = (try day("2026-12-24"), try day("2026-12-27"))
    let days = try (daysThrough2027() + [sunday]).filter { $0 != storm }.sorted()
    let (changed, declaration) = try declared(days)
    #expect(declaration.changed == [storm, sunday] && declaration.contradicted.isEmpty)
    #expect(changed.reading(of: storm) == CalendarReading(trades: false, grade: .declared))
    #expect(changed.status(of: sunday) == .trading)
    // Another file gives it back; once the day is over the table keeps what it had.
    var restored = changed
    let again = restored.declare(try daysThrough2027(), on: try day("2026-12-21"))
    #expect(again.changed.count == 2)
    #expect(restored.status(of: storm) == .trading)
    let (late, silence) = try declared(days, on: "2026-12-28")
    #expect(silence == DayDeclaration() && late.status(of: storm) == .trading)
  }

  @Test func `what was observed stands, whatever is declared later`() throws {
    var calendar = self.calendar
    let (closed, opened) = (try day("2027-01-04"), try day("2027-01-05"))
    #expect(calendar.reading(of: closed) == CalendarReading(trades: true, grade: .supposed))
    let news = [(closed, false), (opened, true), (opened, true)].map { day, trades in
      calendar.observe(day, trades: trades)
    }
    #expect(news == [true, true, false])
    let days = try daysThrough2027().filter { $0 != opened }
    // The closed day may yet trade.
    var early = calendar
    #expect(early.declare(days, on: closed).contradicted == [opened])
    let declaration = calendar.declare(days, on: try day("2027-01-11"))
    #expect(declaration.contradicted == [closed, opened] && declaration.changed.isEmpty)
    #expect(calendar.reading(of: closed) == CalendarReading(trades: false, grade: .observed))
    #expect(calendar.next(after: closed) == opened)
    #expect(calendar.declaration(of: opened) == CalendarReading(trades: false, grade: .declared))
  }

  @Test func `what the operator declares holds until a day is observed`() throws {
    var calendar = self.calendar
    let (closed, opened) = (try day("2026-12-24"), try day("2027-01-02"))
    calendar.overrides = [closed: false, opened: true]
    #expect(calendar.reading(of: closed) == CalendarReading(trades: false, grade: .declared))
    #expect(calendar.status(of: opened) == .trading)
    // A file that says otherwise changes what is declared without it.
    let declaration = calendar.declare(try daysThrough2027(), on: try day("2026-12-20"))
    #expect(declaration == DayDeclaration() && calendar.status(of: closed) == .closed)
    #expect(calendar.exchangeDeclaration(of: closed).trades)
    let isNews = calendar.observe(closed, trades: true)
    #expect(isNews && calendar.status(of: closed) == .trading)
  }

  @Test func `a list that contradicts many days to come changes nothing`() throws {
    let march = try daysThrough2027().filter { $0.description.hasPrefix("2026-03") }.prefix(11)
    let days = try daysThrough2027().filter { !march.contains($0) }
    let (refused, declaration) = try declared(days, on: "2026-01-05")
    #expect(declaration.isRefused && refused.lastDay == calendar.lastDay)
    let (empty, nothing) = try declared([])
    #expect(nothing == DayDeclaration() && empty.lastDay == calendar.lastDay)
  }

  @Test func `what was stored is what was known`() throws {
    var known = calendar
    let days = try daysThrough2027()
    let (withdrawn, closed) = (try day("2026-12-24"), try day("2027-03-01"))
    _ = known.declare(days.filter { $0 != withdrawn }, on: try day("2026-12-20"))
    _ = known.observe(closed, trades: false)
    let stored = try (day("2026-12-01")...day("2027-12-31")).compactMap { day in
      let reading = known.reading(of: day)
      let opens = Timestamp(day: day, secondOfDay: Session.morningOpen)
      // As the daemon has it: trading days, and those that were known to be some.
      guard reading.trades || [withdrawn, closed].contains(day) else { return MarketSession?.none }
      return MarketSession(
        exchange: .shanghai, day: day, opens: opens,
        closes: reading.trades ? opens.adding(seconds: 60) : opens, grade: reading.grade)
    }
    let again = calendar.extended(byStored: stored)
    #expect(again.lastDay == known.lastDay)
    for day in try day("2026-01-01")...day("2028-01-31") {
      #expect(again.reading(of: day) == known.reading(of: day), "\(day)")
    }
  }
}

/// A date the test vouches for.
func day(_ text: String) throws -> TradingDay {
  try #require(TradingDay(text))
}
