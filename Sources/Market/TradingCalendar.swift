/// The days the Shanghai exchange trades, 1990-12-19 to 2026-12-31; Shenzhen and Beijing keep them.
///
/// In the table every weekday is a trading day but the closures, and no weekend ever is: a make-up
/// workday is none for the exchanges. What a calendar file declares beyond it or otherwise, and
/// what was observed, is kept beside it (`TradingCalendar+Readings.swift`). Of any other date
/// nothing is known, and `freshness(on:)` alarms before that begins.
///
/// The closures are the weekdays absent from Sina's `klc_td_sh.txt` of 2026-09-10, which itself
/// lacks the trading day 1992-05-04. With that day added its 8797 days equal, day for day, the XSHG
/// sessions of exchange_calendars 4.13.2 (PyPI), and 2026 is the SSE notice of 2025-12-22. The next
/// year's closures are announced in late December: add its line and move `lastDay`.

public struct TradingCalendar: Sendable {
  public let firstDay: TradingDay
  /// The last day that is declared.
  public internal(set) var lastDay: TradingDay
  private let tradesOnWeekends: Bool
  var closures: Set<TradingDay>
  /// Days that a file declares otherwise than the table does.
  var redeclared: [TradingDay: Bool] = [:]
  /// Whether a day traded that somebody saw.
  var observed: [TradingDay: Bool] = [:]
  /// Days that the operator declares, over whatever the exchange's calendar says of them.
  package var overrides: [TradingDay: Bool] = [:]

  public enum Status: Sendable, Hashable {
    case trading
    case closed
    /// Nothing is known of this day.
    case unknown
  }

  public enum Freshness: Sendable, Hashable {
    case fresh
    /// Calendar days until the last one declared.
    case endsSoon(daysLeft: Int)
    case ended
  }

  /// Next year's closures are out by late December.
  public static let alarmDaysLeftMax = 45

  /// - Parameter closures: the weekdays without trading, by year, as `MMDD` or `MMDD-MMDD`.
  init(firstDay: TradingDay, lastDay: TradingDay, closures: KeyValuePairs<Int, String>) {
    self.init(
      firstDay: firstDay, lastDay: lastDay,
      closures: Set(closures.flatMap { TradingCalendar.days(of: $0.value, in: $0.key) }))
  }

  init(
    firstDay: TradingDay, lastDay: TradingDay, closures: Set<TradingDay>,
    tradesOnWeekends: Bool = false
  ) {
    self.firstDay = firstDay
    self.lastDay = lastDay
    self.closures = closures
    self.tradesOnWeekends = tradesOnWeekends
  }

  /// What is known of a day. What was observed counts for more than what is declared.
  public func reading(of day: TradingDay) -> CalendarReading {
    observed[day].map { CalendarReading(trades: $0, grade: .observed) } ?? declaration(of: day)
  }

  /// What is known of a day, whatever was observed: declared or supposed.
  public func declaration(of day: TradingDay) -> CalendarReading {
    overrides[day].map { CalendarReading(trades: $0, grade: .declared) }
      ?? exchangeDeclaration(of: day)
  }

  /// The same without what the operator declares: this much of it is stored.
  package func exchangeDeclaration(of day: TradingDay) -> CalendarReading {
    if let trades = redeclared[day] { return CalendarReading(trades: trades, grade: .declared) }
    let isWeekday = !day.isWeekend || tradesOnWeekends
    guard firstDay <= day, day <= lastDay else {
      return CalendarReading(trades: isWeekday, grade: .supposed)
    }
    return CalendarReading(trades: isWeekday && !closures.contains(day), grade: .declared)
  }

  public func status(of day: TradingDay) -> Status {
    let reading = reading(of: day)
    return reading.grade == .supposed ? .unknown : reading.trades ? .trading : .closed
  }

  /// Whether the exchange trades that day; nil where nothing is known.
  public func isTradingDay(_ day: TradingDay) -> Bool? {
    let reading = reading(of: day)
    return reading.grade == .supposed ? nil : reading.trades
  }

  /// Whether to ask for what trades that day: it is a trading day, or supposed to be one. The rows
  /// that come have dates of their own, and decide.
  package func mayTrade(_ day: TradingDay) -> Bool { reading(of: day).trades }

  /// A weekday without trading, which an exchange may yet turn into a trading day. It never does
  /// that with a weekend.
  package func isClosedWeekday(_ day: TradingDay) -> Bool {
    !day.isWeekend && status(of: day) == .closed
  }

  /// The first trading day behind `day`; nil where nothing is known.
  public func next(after day: TradingDay) -> TradingDay? { step(from: day, by: 1) }

  /// The last trading day ahead of `day`; nil where nothing is known.
  public func previous(before day: TradingDay) -> TradingDay? { step(from: day, by: -1) }

  private func step(from day: TradingDay, by direction: Int) -> TradingDay? {
    var day = day.advanced(by: direction)
    while status(of: day) == .closed { day = day.advanced(by: direction) }
    return status(of: day) == .trading ? day : nil
  }

  /// This calendar, with every weekday behind it taken for a trading day. To read by what others
  /// say of those days, never to ask or to certify by.
  public func supposingWeekdays(through day: TradingDay) -> TradingCalendar {
    var supposing = self
    supposing.lastDay = max(lastDay, day)
    return supposing
  }

  /// Whether the table still reaches far enough for a daemon that runs on `day`.
  public func freshness(on day: TradingDay) -> Freshness {
    let daysLeft = day.distance(to: lastDay)
    if daysLeft < 0 { return .ended }
    return daysLeft <= TradingCalendar.alarmDaysLeftMax ? .endsSoon(daysLeft: daysLeft) : .fresh
  }
}

extension TradingCalendar {
  /// Of a market that never closes: all days, weekends included.
  package static let everyDay = TradingCalendar(
    firstDay: .first(of: 1970), lastDay: .first(of: 9999), closures: [], tradesOnWeekends: true)

  /// The calendar of the three mainland exchanges.
  public static let shanghai = TradingCalendar(
    firstDay: date(in: 1990, monthAndDay: "1219"), lastDay: date(in: 2026, monthAndDay: "1231"),
    closures: shanghaiClosures)

  private static let shanghaiClosures: KeyValuePairs = [
    1991: "0101 0215-0218 0501 1001-1002",
    1992: "0101 0204-0206 0501 1001-1002",
    1993: "0101 0125-0126 1001",
    1994: "0207-0211 0502 1003-1004",
    1995: "0102 0130-0203 0501 1002-1003",
    1996: "0101 0219-0301 0501 0930-1002",
    1997: "0101 0203-0214 0501-0502 0630-0701 1001-1003",
    1998: "0101-0102 0126-0206 0501 1001-1002",
    1999: "0101 0210-0226 0503 1001-1007 1220 1231",
    2000: "0103 0131-0211 0501-0505 1002-1006",
    2001: "0101 0122-0202 0501-0507 1001-1005",
    2002: "0101-0103 0211-0222 0501-0507 0930-1007",
    2003: "0101 0130-0207 0501-0509 1001-1007",
    2004: "0101 0119-0128 0503-0507 1001-1007",
    2005: "0103 0207-0215 0502-0506 1003-1007",
    2006: "0102-0103 0126-0203 0501-0505 1002-1006",
    2007: "0101-0103 0219-0223 0501-0507 1001-1005 1231",
    2008: "0101 0206-0212 0404 0501-0502 0609 0915 0929-1003",
    2009: "0101-0102 0126-0130 0406 0501 0528-0529 1001-1008",
    2010: "0101 0215-0219 0405 0503 0614-0616 0922-0924 1001-1007",
    2011: "0103 0202-0208 0404-0405 0502 0606 0912 1003-1007",
    2012: "0102-0103 0123-0127 0402-0404 0430-0501 0622 1001-1005",
    2013: "0101-0103 0211-0215 0404-0405 0429-0501 0610-0612 0919-0920 1001-1007",
    2014: "0101 0131-0206 0407 0501-0502 0602 0908 1001-1007",
    2015: "0101-0102 0218-0224 0406 0501 0622 0903-0904 1001-1007",
    2016: "0101 0208-0212 0404 0502 0609-0610 0915-0916 1003-1007",
    2017: "0102 0127-0202 0403-0404 0501 0529-0530 1002-1006",
    2018: "0101 0215-0221 0405-0406 0430-0501 0618 0924 1001-1005 1231",
    2019: "0101 0204-0208 0405 0501-0503 0607 0913 1001-1007",
    2020: "0101 0124-0131 0406 0501-0505 0625-0626 1001-1008",
    2021: "0101 0211-0217 0405 0503-0505 0614 0920-0921 1001-1007",
    2022: "0103 0131-0204 0404-0405 0502-0504 0603 0912 1003-1007",
    2023: "0102 0123-0127 0405 0501-0503 0622-0623 0929-1006",
    2024: "0101 0209-0216 0404-0405 0501-0503 0610 0916-0917 1001-1007",
    2025: "0101 0128-0204 0404 0501-0505 0602 1001-1008",
    2026: "0101-0102 0216-0223 0406 0501-0505 0619 0925 1001-1007",
  ]

  private static func days(of closures: String, in year: Int) -> [TradingDay] {
    closures.split(separator: " ").flatMap { closure in
      let ends = closure.split(separator: "-").map { date(in: year, monthAndDay: $0) }
      return Array(ends[0]...ends[ends.count - 1])
    }
  }

  private static func date(in year: Int, monthAndDay: Substring) -> TradingDay {
    guard let number = Int(monthAndDay),
      let day = TradingDay(year: year, month: number / 100, day: number % 100)
    else { preconditionFailure("\(year) \(monthAndDay) is no date: a misprint in the table") }
    return day
  }
}
