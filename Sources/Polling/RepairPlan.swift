// Which days' minutes are asked for again after a close.
//
// The ledger says what is wanting: gaps first, then days whose account does not balance, then
// minutes that were seen in part, and at last, as far as the night's budget goes, days that only
// want confirming. One answer reaches back eight days, so an instrument is asked once for all of
// its days. A hole that two occasions, half a day apart, do not fill is permanent: that judgement
// is the store's, the plan only keeps the occasions apart.
import Market

/// Instruments to ask for, the neediest first.
package struct RepairPlan: Sendable {
  /// One instrument, and how far back its bars must reach.
  package struct Order: Sendable, Hashable {
    package let symbol: Symbol
    package let firstDay: TradingDay
    package let want: RepairCandidate.Want
  }

  /// 0 asks for nothing.
  package var requestsPerNight = 6_000
  package var confirmSeconds: Int64 = 12 * 3_600
  /// 1,970 minute bars are eight days and a little (docs/sources/sina.md#k-lines).
  package static let daysBack = 8

  package init() {}

  /// The first day whose minutes can still be had on `today`.
  package func firstDay(
    on today: TradingDay, isTradingDay: (TradingDay) -> Bool?
  ) -> TradingDay {
    var day = today
    var left = Self.daysBack - (isTradingDay(today) == false ? 0 : 1)
    while left > 0 {
      day = day.advanced(by: -1)
      if isTradingDay(day) ?? !day.isWeekend { left -= 1 }
    }
    return day
  }

  /// What to ask tonight, in order, within the budget. Days sought in vain a little while ago rest.
  package func orders(_ candidates: [RepairCandidate], at now: Timestamp) -> [Order] {
    var orders: [Symbol: Order] = [:]
    for candidate in candidates where !isResting(candidate, at: now) {
      let known = orders[candidate.symbol]
      orders[candidate.symbol] = Order(
        symbol: candidate.symbol, firstDay: min(known?.firstDay ?? candidate.day, candidate.day),
        want: max(known?.want ?? candidate.want, candidate.want))
    }
    let sorted = orders.values.sorted { left, right in
      left.want == right.want ? left.symbol < right.symbol : left.want > right.want
    }
    return Array(sorted.prefix(requestsPerNight))
  }

  /// When the days that rest have rested enough; nil if none does.
  package func nextCheck(_ candidates: [RepairCandidate], at now: Timestamp) -> Timestamp? {
    candidates.filter { isResting($0, at: now) }
      .compactMap { $0.lastCheckedAt?.adding(seconds: confirmSeconds) }.min()
  }

  private func isResting(_ candidate: RepairCandidate, at now: Timestamp) -> Bool {
    guard let last = candidate.lastCheckedAt else { return false }
    return now < last.adding(seconds: confirmSeconds)
  }
}
