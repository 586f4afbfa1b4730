import Market
import Platform

/// The trading calendar in force, for those who ask it from closures: the poller's schedule and the
/// plans. It changes once a year, when the next year's days are known.
public final class CalendarBox: Sendable {
  private let calendar: Guarded<TradingCalendar>

  public init(_ calendar: TradingCalendar = .shanghai) { self.calendar = Guarded(calendar) }

  public var current: TradingCalendar { calendar.withLock { $0 } }

  public func isTradingDay(_ day: TradingDay) -> Bool? { current.isTradingDay(day) }

  func set(_ longer: TradingCalendar) { calendar.withLock { $0 = longer } }
}
