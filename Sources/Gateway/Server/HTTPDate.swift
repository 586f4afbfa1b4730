/// The field `Date` of answers (RFC 9110 §5.6.7), made anew each second.

import Market
import Platform

enum HTTPDate {
  private static let newest = Locked((second: Int64.min, text: ""))

  static func now() -> String {
    let second = SystemClock.realMicroseconds() / 1_000_000
    return newest.withLock { newest in
      if newest.second != second { newest = (second, text(atSecond: second)) }
      return newest.text
    }
  }

  /// - Parameter second: since 1970.
  static func text(atSecond second: Int64) -> String {
    let day = TradingDay(daysSince1970: Int32(second / 86_400))
    let (year, month, number) = day.civil
    let clock = [second / 3_600 % 24, second / 60 % 60, second % 60]
      .map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    let date = "\(number < 10 ? "0" : "")\(number) \(months[month - 1]) \(year)"
    return "\(weekdays[day.weekday - 1]), \(date) \(clock) GMT"
  }

  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
