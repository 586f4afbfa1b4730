import Market

/// The days the American exchanges trade, by the rules of NYSE (Rule 7.2): ten holidays, and three
/// days that end at 13:00. Closures on other grounds (a state funeral) are not in it.
package struct USCalendar: Sendable {
  /// Seconds since New York midnight.
  package struct Session: Sendable, Hashable {
    package let day: TradingDay
    let closes: Int
    static let opens = 9 * 3600 + 30 * 60
    static let extendedOpens = 4 * 3600
    /// Trading after hours lasts four hours.
    var extendedCloses: Int { closes + 4 * 3600 }
    var isHalf: Bool { closes == USCalendar.halfCloses }
  }

  static let closes = 16 * 3600
  static let halfCloses = 13 * 3600

  /// Ascending; the vendor's history begins in 2016.
  package let sessions: [Session]

  package init() { sessions = (2016...2027).flatMap { USCalendar.sessions(in: $0) } }

  private static func sessions(in year: Int) -> [Session] {
    let holidays = holidays(in: year)
    let halfDays = halfDays(in: year)
    let days = date(year, month: 1, day: 1)..<date(year + 1, month: 1, day: 1)
    return days.filter { !$0.isWeekend && !holidays.contains($0) }.map {
      Session(day: $0, closes: halfDays.contains($0) ? halfCloses : closes)
    }
  }

  private static func holidays(in year: Int) -> Set<TradingDay> {
    var days: Set<TradingDay> = [
      weekday(1, number: 3, of: date(year, month: 1, day: 1)),
      weekday(1, number: 3, of: date(year, month: 2, day: 1)),
      goodFriday(year), weekday(1, number: 1, of: date(year, month: 5, day: 25)),
      observed(date(year, month: 7, day: 4)),
      weekday(1, number: 1, of: date(year, month: 9, day: 1)), thanksgiving(year),
      observed(date(year, month: 12, day: 25)),
    ]
    // A New Year's Day on a Saturday is not made up for.
    if date(year, month: 1, day: 1).weekday != 6 {
      days.insert(observed(date(year, month: 1, day: 1)))
    }
    if year >= 2022 { days.insert(observed(date(year, month: 6, day: 19))) }
    return days
  }

  private static func halfDays(in year: Int) -> Set<TradingDay> {
    var days: Set<TradingDay> = [thanksgiving(year).advanced(by: 1)]
    // The eves of holidays that fall on a weekday after Monday.
    for holiday in [date(year, month: 7, day: 4), date(year, month: 12, day: 25)]
    where (2...5).contains(holiday.weekday) {
      days.insert(holiday.advanced(by: -1))
    }
    return days
  }

  private static func thanksgiving(_ year: Int) -> TradingDay {
    weekday(4, number: 4, of: date(year, month: 11, day: 1))
  }

  /// Two days before the Sunday of the Gregorian Easter (Meeus, Astronomical Algorithms, ch. 8).
  private static func goodFriday(_ year: Int) -> TradingDay {
    let (a, b, c) = (year % 19, year / 100, year % 100)
    let g = (8 * b + 13) / 25
    let h = (19 * a + b - b / 4 - g + 15) % 30
    let m = (a + 11 * h) / 319
    let l = (2 * (b % 4) + 2 * (c / 4) - c % 4 - h + m + 32) % 7
    let month = (h - m + l + 90) / 25
    return date(year, month: month, day: (h - m + l + month + 19) % 32).advanced(by: -2)
  }

  private static func observed(_ day: TradingDay) -> TradingDay {
    day.weekday == 6 ? day.advanced(by: -1) : day.weekday == 7 ? day.advanced(by: 1) : day
  }

  /// The `count`th such weekday from `start` on.
  private static func weekday(_ weekday: Int, number count: Int, of start: TradingDay) -> TradingDay
  {
    start.advanced(by: (weekday - start.weekday + 7) % 7 + 7 * (count - 1))
  }

  private static func date(_ year: Int, month: Int, day: Int) -> TradingDay {
    guard let date = TradingDay(year: year, month: month, day: day) else {
      preconditionFailure("\(year)-\(month)-\(day) is no date")
    }
    return date
  }
}
