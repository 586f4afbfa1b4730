/// The interval that the stamp of a bar stands for.
///
/// A stamp is the bar's END on a Shanghai clock (docs/sources/sina.md#k-lines). Days and longer
/// bars are stamped with a date, the last trading day in them. All that is given here is the
/// nominal interval; that a bar still forms can only be judged by the time.

import Market

struct SinaKlineInterval: Equatable {
  let tradingDay: TradingDay
  let openedAt: Timestamp
  let closedAt: Timestamp

  /// - Parameter secondOfDay: of the stamp; nil where it was a date.
  /// - Throws: `malformed` where no bar of the timeframe ends there.
  init(timeframe: Timeframe, day: TradingDay, secondOfDay: Int?) throws(RowFault) {
    tradingDay = day
    switch (timeframe.minutes, secondOfDay) {
    case (let minutes?, let second?):
      guard SinaKlineInterval.isOnGrid(second, on: day, minutes: minutes) else {
        throw .malformed("day: no \(minutes)-minute bar ends at this time")
      }
      closedAt = Timestamp(day: day, secondOfDay: second)
      openedAt = closedAt.adding(seconds: Int64(-60 * minutes))
    case (nil, nil):
      let first = SinaKlineInterval.firstDay(of: timeframe, around: day)
      closedAt = Timestamp(day: day, secondOfDay: TradingHours.mainlandChina(on: day).closes)
      openedAt = Timestamp(
        day: first, secondOfDay: TradingHours.mainlandChina(on: first).opens)
    case (_?, nil): throw .malformed("day: date and time expected, found a date")
    case (nil, _?): throw .malformed("day: a date expected, found date and time")
    }
  }

  /// Bars of one minute begin with 09:31 and a few with 09:30, the auction alone
  /// (docs/sources/sina.md#k-lines).
  private static func isOnGrid(_ second: Int, on day: TradingDay, minutes: Int) -> Bool {
    let hours = TradingHours.mainlandChina(on: day)
    if minutes == 1, second == hours.opens { return true }
    let pause = hours.breakSeconds
    let opening = second <= pause.lowerBound ? hours.opens : pause.upperBound
    let isInSession = second > opening && second <= hours.closes
    return isInSession && (second - opening) % (60 * minutes) == 0
  }

  /// A week begins with its Monday and a month with its first, trading days or not, so that a bar
  /// keeps its opening while its stamp moves on.
  private static func firstDay(of timeframe: Timeframe, around day: TradingDay) -> TradingDay {
    switch timeframe {
    case .week1: day.advanced(by: 1 - day.weekday)
    case .month1: day.advanced(by: 1 - day.civil.day)
    default: day
    }
  }
}
