/// The trading days that a daemon learnt from a source.
extension TradingCalendar {
  /// This calendar, with the days behind it that a daemon learnt and stored.
  package func extended(byStored sessions: [MarketSession]) -> TradingCalendar {
    let days = sessions.filter { $0.exchange == .shanghai }.map(\.day)
    // `extended(by:)` judges what is new by the last year of what is known.
    let known = (TradingDay.first(of: lastDay.civil.year)...lastDay)
      .filter { status(of: $0) == .trading }
    return extended(by: known + days.filter { $0 > lastDay }.sorted()) ?? self
  }

  /// Of an exchange, what a daemon learnt and stored; nil where that is nothing.
  package init?(of exchange: Exchange, stored sessions: [MarketSession]) {
    let days = Set(sessions.filter { $0.exchange == exchange }.map(\.day))
    guard let first = days.min(), let last = days.max() else { return nil }
    self.init(
      firstDay: first, lastDay: last,
      closures: Set((first...last).filter { !$0.isWeekend && !days.contains($0) }))
  }
}
