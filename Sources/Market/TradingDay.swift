/// A calendar date of an exchange, as days since 1970-01-01. Whether it is a trading day is for
/// `TradingCalendar` to say.
public struct TradingDay: Sendable, Hashable, Comparable, Strideable {
  /// Those that dates are written in.
  public static let years = 1...9999

  public let daysSince1970: Int32

  @inlinable
  public init(daysSince1970: Int32) { self.daysSince1970 = daysSince1970 }

  /// The proleptic Gregorian date, or nil if there is none such (February 30).
  public init?(year: Int, month: Int, day: Int) {
    guard (1...12).contains(month), (1...31).contains(day), Self.years.contains(year) else {
      return nil
    }
    // Days from civil: years start in March so that the leap day is the last of its year.
    let marchYear = month <= 2 ? year - 1 : year
    let era = marchYear / 400
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    self.init(daysSince1970: Int32(era * 146_097 + dayOfEra - 719_468))
    guard civil == (year, month, day) else { return nil }
  }

  /// Parses exactly `YYYY-MM-DD`.
  public init?(_ text: some StringProtocol) {
    var copy = String(text)
    guard let day = copy.withUTF8({ TradingDay(ascii: UnsafeRawBufferPointer($0)) }) else {
      return nil
    }
    self = day
  }

  /// Year, month 1…12 and day 1…31.
  public var civil: (year: Int, month: Int, day: Int) {
    let shifted = Int(daysSince1970) + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }

  /// January the first.
  /// - Precondition: a year 1…9999.
  public static func first(of year: Int) -> TradingDay {
    guard let day = TradingDay(year: year, month: 1, day: 1) else {
      preconditionFailure("\(year) is no year of the calendar")
    }
    return day
  }

  /// 1 for Monday … 7 for Sunday.
  public var weekday: Int { ((Int(daysSince1970) + 3) % 7 + 7) % 7 + 1 }

  public var isWeekend: Bool { weekday >= 6 }

  /// `Mon`
  package var weekdayName: String {
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][weekday - 1]
  }

  public static func < (left: TradingDay, right: TradingDay) -> Bool {
    left.daysSince1970 < right.daysSince1970
  }

  public func distance(to other: TradingDay) -> Int {
    Int(other.daysSince1970 - daysSince1970)
  }

  public func advanced(by days: Int) -> TradingDay {
    TradingDay(daysSince1970: daysSince1970 + Int32(days))
  }
}

extension TradingDay: CustomStringConvertible {
  /// `YYYY-MM-DD`.
  public var description: String {
    let (year, month, day) = civil
    let digits = String(year)
    let padded = String(repeating: "0", count: max(4 - digits.utf8.count, 0)) + digits
    return "\(padded)-\(twoDigits(month))-\(twoDigits(day))"
  }
}
