import ExchangeSimulator
import Market

/// Histories by their days, and what really traded in them.
extension SimulatedHistory {
  /// - Parameters:
  ///   - days: trading days in ascending order, at least one; simulated trade by trade.
  ///   - earlierDays: those before, in ascending order, for day bars.
  ///   - earlierMinuteDays: how many of the last of those have minutes, too.
  package init(
    seed: UInt64, instruments: Int = SimulatedMarket.instrumentsDefault, days: [TradingDay],
    earlierDays: [TradingDay] = [], earlierMinuteDays: Int = 0
  ) {
    precondition(!days.isEmpty, "a history has at least one day")
    self.init(
      SimulatedMarket(
        seed: seed, day: days[0], instruments: instruments,
        previousDay: earlierDays.last),
      days: days, earlierDays: earlierDays, earlierMinuteDays: earlierMinuteDays,
      following: { SimulatedMarket(following: $0, on: $1) })
  }

  /// `count` Shanghai trading days, the last of them `day` or the last before it, and
  /// `earlierCount` days with day bars alone ahead of them.
  package init(
    seed: UInt64, instruments: Int = SimulatedMarket.instrumentsDefault, through day: TradingDay,
    days count: Int, earlierDays earlierCount: Int = 0
  ) {
    let known = SimulatedHistory.tradingDays(count + earlierCount, through: day)
    self.init(
      seed: seed, instruments: instruments, days: Array(known.suffix(count)),
      earlierDays: Array(known.dropLast(count)))
  }

  /// What really traded on one of `days`, up to the last publication at or before `moment`; the
  /// whole day if nil.
  package mutating func trueLedger(on day: TradingDay, until moment: Timestamp? = nil)
    -> TrueLedger
  {
    guard let place = days.firstIndex(of: day) else {
      preconditionFailure("\(day) is no day of this history")
    }
    return ledger(place, at: moment.map { morning(place).publication(at: $0) } ?? Grid.dayEnd)
  }
}
