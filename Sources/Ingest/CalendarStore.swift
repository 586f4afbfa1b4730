import Market
import Platform

/// The trading calendar in force, for those who ask it from closures: the poller's schedule and the
/// plans. It changes once a year, when the next year's days are known.
package final class CalendarStore: Sendable {
  private let calendar: Locked<TradingCalendar>

  package init(_ calendar: TradingCalendar = .shanghai) { self.calendar = Locked(calendar) }

  package var current: TradingCalendar { calendar.withLock { $0 } }

  package func isTradingDay(_ day: TradingDay) -> Bool? { current.isTradingDay(day) }

  func set(_ longer: TradingCalendar) { calendar.withLock { $0 = longer } }
}

extension TradingCalendar {
  /// This calendar, with the days behind it that a daemon learnt and stored.
  package func extended(byStored sessions: [MarketSession]) -> TradingCalendar {
    let days = sessions.filter { $0.exchange == .shanghai }.map(\.day)
    // `extended(by:)` judges what is new by the last year of what is known.
    let known = (TradingDay.first(of: lastDay.civil.year)...lastDay)
      .filter { status(of: $0) == .trading }
    return extended(by: known + days.filter { $0 > lastDay }.sorted()) ?? self
  }
}
