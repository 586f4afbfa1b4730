/// New York's clock, for the American exchanges: UTC−5, and UTC−4 in summer.
///
/// Summer time runs from the second Sunday of March to the first Sunday of November, changing at
/// 02:00 (Energy Policy Act of 2005, in force since 2007; candled's American history begins in
/// 2016). No time zone database is read: a server without one must not store other candles.

public enum NewYork {
  static let winterOffsetSeconds: Int64 = -5 * 3600
  static let summerOffsetSeconds: Int64 = -4 * 3600
  /// The regular session, on the wall clock; `MarketDefinition` has the same.
  static let regularOpen = 9 * 3600 + 30 * 60
  static let regularClose = 16 * 3600

  /// Seconds to add to UTC at `moment`.
  static func offsetSeconds(at moment: Timestamp) -> Int64 {
    let winterSeconds = moment.seconds + winterOffsetSeconds
    let day = TradingDay(
      daysSince1970: Int32(winterSeconds.flooredQuotient(Shanghai.secondsPerDay)))
    let year = day.civil.year
    // What clients name may lie beyond all calendars.
    guard TradingDay.years.contains(year) else { return winterOffsetSeconds }
    // Both changes happen at 02:00 of the time in force: 02:00 winter, 01:00 winter time.
    let begins = seconds(of: sunday(2, of: 3, in: year)) + 2 * 3600
    let ends = seconds(of: sunday(1, of: 11, in: year)) + 3600
    return (begins..<ends).contains(winterSeconds) ? summerOffsetSeconds : winterOffsetSeconds
  }

  private static func seconds(of day: TradingDay) -> Int64 {
    Int64(day.daysSince1970) * Shanghai.secondsPerDay
  }

  private static func sunday(_ count: Int, of month: Int, in year: Int) -> TradingDay {
    guard var day = TradingDay(year: year, month: month, day: 1) else {
      preconditionFailure("every month begins with a first")
    }
    while day.weekday != 7 { day = day.advanced(by: 1) }
    return day.advanced(by: 7 * (count - 1))
  }
}

extension Timestamp {
  /// The calendar day on a New York wall clock.
  public var newYorkDay: TradingDay {
    let local = seconds + NewYork.offsetSeconds(at: self)
    return TradingDay(daysSince1970: Int32(local.flooredQuotient(Shanghai.secondsPerDay)))
  }

  /// Seconds since New York midnight, as its wall clock shows, 0…86399.
  public var newYorkSecondOfDay: Int {
    let local = seconds + NewYork.offsetSeconds(at: self)
    return Int(local - local.flooredQuotient(Shanghai.secondsPerDay) * Shanghai.secondsPerDay)
  }

  /// The moment a New York wall clock showed `newYorkSecondOfDay` on `day`. An hour that came twice
  /// is the second one, one that was skipped the hour before.
  public init(day: TradingDay, newYorkSecondOfDay secondOfDay: Int) {
    let local = Int64(day.daysSince1970) * Shanghai.secondsPerDay + Int64(secondOfDay)
    let guess = Timestamp(seconds: local - NewYork.winterOffsetSeconds)
    self.init(seconds: local - NewYork.offsetSeconds(at: guess))
  }
}
