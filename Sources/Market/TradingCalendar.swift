public struct TradingCalendar: Sendable {
  public static let shanghai = TradingCalendar()
  public enum Status: Sendable { case trading, closed, unknown }
  public func status(of day: TradingDay) -> Status { day.isWeekend ? .closed : .trading }
}
