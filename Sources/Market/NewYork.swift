/// New York's clock, for the American exchanges: UTC−5, and UTC−4 in summer.
///
/// Summer time runs from the second Sunday of March to the first Sunday of November, changing at
/// 02:00 (Energy Policy Act of 2005, in force since 2007; candled's American history begins in
/// 2016). No time zone database is read: a server without one must not store other candles.

public enum NewYork {
  static let winter = LocalClock(offsetSeconds: -5 * 3600)
  private static let summer = LocalClock(offsetSeconds: -4 * 3600)
  /// The regular session, on the wall clock; `MarketDefinition` has the same.
  static let regularOpen = 9 * 3600 + 30 * 60
  static let regularClose = 16 * 3600

  /// The one in force at `moment`.
  static func clock(at moment: Timestamp) -> LocalClock {
    let year = winter.day(at: moment).civil.year
    // What clients name may lie beyond all calendars.
    guard TradingDay.years.contains(year) else { return winter }
    // Both changes happen at 02:00 of the time in force: 02:00 winter, 01:00 winter time.
    let begins = winter.moment(on: sunday(2, of: 3, in: year), secondOfDay: 2 * 3600)
    let ends = winter.moment(on: sunday(1, of: 11, in: year), secondOfDay: 3600)
    return begins <= moment && moment < ends ? summer : winter
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
  public var newYorkDay: TradingDay { NewYork.clock(at: self).day(at: self) }

  /// Seconds since New York midnight, as its wall clock shows, 0…86399.
  public var newYorkSecondOfDay: Int { NewYork.clock(at: self).secondOfDay(at: self) }

  /// The moment a New York wall clock showed `newYorkSecondOfDay` on `day`. An hour that came twice
  /// is the second one, one that was skipped the hour before.
  public init(day: TradingDay, newYorkSecondOfDay secondOfDay: Int) {
    let guess = NewYork.winter.moment(on: day, secondOfDay: secondOfDay)
    self = NewYork.clock(at: guess).moment(on: day, secondOfDay: secondOfDay)
  }
}
