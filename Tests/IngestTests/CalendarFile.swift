import ExchangeSimulator
import Market

/// Sina's packed calendar, as its file says it.
enum CalendarFile {
  /// As far as candled's own table goes.
  static let known = file(days)
  /// A year longer: every weekday of it but the first.
  static let withNextYear = file(days + nextYear)

  static let nextYear: [TradingDay] = {
    let first = TradingCalendar.shanghai.lastDay.advanced(by: 2)
    let year = (first...first.advanced(by: 363)).filter { !$0.isWeekend }
    // As many holidays as a year has.
    return year.enumerated().filter { $0.offset % 14 != 13 }.map(\.element)
  }()

  static let days = {
    let known = TradingCalendar.shanghai
    return (known.firstDay...known.lastDay).filter { known.isTradingDay($0) == true }
  }()

  static func file(_ days: [TradingDay]) -> String {
    "var datelist=\"\(PackedCalendar.text(days))\";var KLC_TD_SH=datelist;"
  }
}
