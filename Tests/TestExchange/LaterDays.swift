import Market

/// The trading days of a year that the calendar file lacks until it is published, as happens in
/// January.
package struct LaterDays: Sendable {
  /// Ascending, behind those of candled's own table.
  private let days: [TradingDay]
  private let publishedAt: Timestamp

  package init(_ days: [TradingDay], publishedAt: Timestamp) {
    self.days = days
    self.publishedAt = publishedAt
  }

  package func days(at moment: Timestamp) -> [TradingDay] { moment < publishedAt ? [] : days }
}
