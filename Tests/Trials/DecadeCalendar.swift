import ExchangeSimulator
import Market

/// Which days trade in the ten years, and what the calendar's file says of them at a moment: the
/// real days to 2026; behind them the closures of ten years before, as nobody knows them yet.
struct DecadeCalendar: Sendable {
  /// Days on which the exchange does other than its calendar said, and since when the file has it.
  struct Change: Sendable {
    var day: TradingDay
    var trades: Bool
    /// nil: never.
    var filedFrom: TradingDay?
  }

  var changes: [TradingDay: Change] = [:]
  /// When the file has a year's days; by default from the Christmas before.
  var published: [Int: TradingDay] = [:]
  /// Years of which the file has half at first, and when it has all.
  var halves: [Int: TradingDay] = [:]

  /// Whether a calendar lists it in the end.
  func isListed(_ day: TradingDay) -> Bool {
    guard !day.isWeekend else { return false }
    if let known = TradingCalendar.shanghai.isTradingDay(day) { return known }
    let (_, month, date) = day.civil
    if month == 1, date == 1 { return false }
    return day.earlierDecade.map { $0.isWeekend || TradingCalendar.shanghai.mayTrade($0) } ?? true
  }

  func trades(_ day: TradingDay) -> Bool { changes[day]?.trades ?? isListed(day) }

  func publicationDay(of year: Int) -> TradingDay {
    published[year] ?? .of(year - 1, 12, 24)
  }

  /// The days that the file lists at a moment.
  func filed(on today: TradingDay) -> [TradingDay] {
    var last = today.civil.year
    if publicationDay(of: last) > today { last -= 1 }
    if publicationDay(of: last + 1) <= today { last += 1 }
    var end = TradingDay.of(last, 12, 31)
    if let whole = halves[last], today < whole { end = .of(last, 6, 30) }
    let missing = TradingDay.of(1992, 5, 4)
    return (TradingCalendar.shanghai.firstDay...end).filter { day in
      if let change = changes[day] {
        return !day.isWeekend && change.trades == (change.filedFrom.map { $0 <= today } ?? false)
      }
      return isListed(day) && day != missing
    }
  }

  /// The file at a moment.
  func file(on today: TradingDay) -> String {
    "var datelist=\"\(PackedCalendar.text(filed(on: today)))\";var KLC_TD_SH=datelist;"
  }

  /// What a daemon's own table has where it begins.
  static func table(before day: TradingDay) -> TradingCalendar? {
    let known = TradingCalendar.shanghai
    guard day <= known.lastDay else { return known }
    let sessions = (known.firstDay..<day).filter(known.mayTrade).map { day in
      MarketSession(
        exchange: .shanghai, day: day, opens: Timestamp(day: day, secondOfDay: 34_200),
        closes: Timestamp(day: day, secondOfDay: 54_000))
    }
    return TradingCalendar(of: .shanghai, stored: sessions)
  }
}

extension TradingDay {
  static func of(_ year: Int, _ month: Int, _ day: Int) -> TradingDay {
    guard let found = TradingDay(year: year, month: month, day: day) else {
      preconditionFailure("\(year)-\(month)-\(day) is no date")
    }
    return found
  }

  /// The same date ten years before; nil for 29 February.
  fileprivate var earlierDecade: TradingDay? {
    let (year, month, day) = civil
    return TradingDay(year: year - 10, month: month, day: day)
  }
}
