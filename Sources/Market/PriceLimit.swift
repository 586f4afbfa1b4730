/// The prices between which an instrument may trade on a day.
///
/// A band is for plausibility and for naming limit-up and limit-down. Code and name do not show
/// that of a fund, which moves by 10, 20 or 30 %: it has none here since funds of 20 % exist. Nor
/// do they show a relisting and the first day of a delisting period (both unlimited), which are not
/// modelled. The exchange's own limits, where a source states them, prevail.

public struct PriceBand: Sendable, Hashable {
  /// Limit-down and limit-up, with as many places as the tick.
  public let lower: ExactDecimal
  public let upper: ExactDecimal

  package init(lower: ExactDecimal, upper: ExactDecimal) {
    self.lower = lower
    self.upper = upper
  }

  @inlinable
  public func contains(_ price: ExactDecimal) -> Bool { lower <= price && price <= upper }
}

public enum PriceLimit {
  /// The band of one day.
  /// - Parameters:
  ///   - previousClose: the exchange's reference price of the day: adjusted when ex-right, the
  ///     issue price on the day of listing.
  ///   - specialTreatment: the name carries ST or *ST (`NameMarks`).
  ///   - tradingDaysSinceListing: 0 on the day of listing; nil for long ago.
  /// - Returns: nil where no limit applies: indexes, repos, the unlimited first days, times before
  ///   limits; where it is not known, as of funds; and where `previousClose` is no price: zero,
  ///   negative, beyond 64 bits.
  public static func band(
    for instrument: Instrument, previousClose: ExactDecimal, on day: TradingDay,
    specialTreatment: Bool, tradingDaysSinceListing: Int?, rules: RuleBook = .current
  ) -> PriceBand? {
    let rule = LimitRule.of(
      instrument, on: day, specialTreatment: specialTreatment,
      age: tradingDaysSinceListing ?? .max, rules: rules)
    guard case .move(let up, let down) = rule, previousClose.isPositive else { return nil }
    return try? band(
      around: previousClose, up: up, down: down, tick: rules.tick(of: instrument, on: day))
  }

  /// Whether code and name show how far it may move.
  package static func isKnown(for instrument: Instrument, on day: TradingDay) -> Bool {
    let rule = LimitRule.of(
      instrument, on: day, specialTreatment: false, age: .max, rules: .current)
    if case .unknown = rule { return false }
    return true
  }

  /// The widest band that it can have where its own is not known: a bound, and nobody's limit-up.
  package static func widest(
    for instrument: Instrument, previousClose: ExactDecimal, on day: TradingDay
  ) -> PriceBand? {
    let rule = LimitRule.of(
      instrument, on: day, specialTreatment: false, age: .max, rules: .current)
    guard case .unknown(let most) = rule, previousClose.isPositive else { return nil }
    return try? band(
      around: previousClose, up: most, down: most, tick: instrument.tickSize(on: day))
  }

  /// The band where no more is known of an instrument than its name: it tells how long it is
  /// listed, N on the first day, C on those that follow.
  package static func band(
    for instrument: Instrument, marks: NameMarks, previousClose: ExactDecimal, on day: TradingDay
  ) -> PriceBand? {
    let age: Int? = marks.contains(.firstDay) ? 0 : marks.contains(.firstDays) ? 1 : nil
    return band(
      for: instrument, previousClose: previousClose, on: day,
      specialTreatment: marks.contains(.specialTreatment), tradingDaysSinceListing: age)
  }

  /// Rounded half up to the tick, but at least one tick off the close and one off zero.
  private static func band(
    around close: ExactDecimal, up: Int64, down: Int64, tick: ExactDecimal
  ) throws(ExactDecimalError) -> PriceBand {
    let upper = try toTick(close * ExactDecimal(units: 1000 + up, scale: 3), tick: tick)
    let lower = try toTick(close * ExactDecimal(units: 1000 - down, scale: 3), tick: tick)
    return PriceBand(
      lower: max(min(lower, try close - tick), tick), upper: max(upper, try close + tick))
  }

  private static func toTick(
    _ price: ExactDecimal, tick: ExactDecimal
  ) throws(ExactDecimalError) -> ExactDecimal {
    try price.divided(by: tick, scale: 0) * tick
  }
}
