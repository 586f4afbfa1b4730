/// The lengths of Sina's K-line bars, and the interval a bar's stamp stands for.
///
/// A stamp is the bar's END on a Shanghai clock (docs/sources/sina.md#k-lines). Days and longer
/// bars are stamped with a date, the last trading day in them. All that is given here is the
/// nominal interval; that a bar still forms can only be judged by the time.

import Market

/// The raw value is the `scale` of the request.
package enum SinaKlineScale: Int, Sendable, CaseIterable {
  case minute1 = 1
  case minute5 = 5
  case minute15 = 15
  case minute30 = 30
  case hour1 = 60
  case day1 = 240
  case week1 = 1200
  case month1 = 7200

  package var timeframe: Timeframe {
    switch self {
    case .minute1: .minute1
    case .minute5: .minute5
    case .minute15: .minute15
    case .minute30: .minute30
    case .hour1: .hour1
    case .day1: .day1
    case .week1: .week1
    case .month1: .month1
    }
  }

  /// Minutes of trading in a bar that is stamped with a time of day; nil where it is a date.
  var minutes: Int? {
    switch self {
    case .minute1, .minute5, .minute15, .minute30, .hour1: rawValue
    case .day1, .week1, .month1: nil
    }
  }
}

/// When a bar opened and closed.
struct SinaKlineInterval: Equatable {
  let tradingDay: TradingDay
  let openedAt: Timestamp
  let closedAt: Timestamp

  /// - Parameter secondOfDay: of the stamp; nil where it was a date.
  /// - Throws: `malformed` where no bar of the scale ends there.
  init(scale: SinaKlineScale, day: TradingDay, secondOfDay: Int?) throws(RowFault) {
    tradingDay = day
    switch (scale.minutes, secondOfDay) {
    case (let minutes?, let second?):
      guard SinaKlineInterval.isOnGrid(second, minutes: minutes) else {
        throw .malformed("day: no \(minutes)-minute bar ends at this time")
      }
      closedAt = Timestamp(day: day, secondOfDay: second)
      openedAt = closedAt.adding(seconds: Int64(-60 * minutes))
    case (nil, nil):
      closedAt = Timestamp(day: day, secondOfDay: Session.afternoonClose)
      openedAt = Timestamp(
        day: SinaKlineInterval.firstDay(of: scale, around: day), secondOfDay: Session.morningOpen)
    case (_?, nil): throw .malformed("day: date and time expected, found a date")
    case (nil, _?): throw .malformed("day: a date expected, found date and time")
    }
  }

  /// Bars of one minute begin with 09:31 and a few with 09:30, the auction alone
  /// (docs/sources/sina.md#k-lines).
  private static func isOnGrid(_ second: Int, minutes: Int) -> Bool {
    if minutes == 1, second == Session.morningOpen { return true }
    let opening = second <= Session.morningClose ? Session.morningOpen : Session.afternoonOpen
    let isInSession = second > opening && second <= Session.afternoonClose
    return isInSession && (second - opening) % (60 * minutes) == 0
  }

  /// A week begins with its Monday and a month with its first, trading days or not, so that a bar
  /// keeps its opening while its stamp moves on.
  private static func firstDay(of scale: SinaKlineScale, around day: TradingDay) -> TradingDay {
    switch scale {
    case .week1: day.advanced(by: 1 - day.weekday)
    case .month1: day.advanced(by: 1 - day.civil.day)
    default: day
    }
  }
}
