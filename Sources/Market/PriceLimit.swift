/// The prices between which an instrument may trade on a day.
///
/// A band is for plausibility and for naming limit-up and limit-down. What a code and a name cannot
/// tell is not modelled: funds that track ChiNext or STAR (20 %), the first day of a REIT (30 %), a
/// relisting and the first day of a delisting period (both unlimited). The exchange's own limits
/// are in Sina's `_i` companion line; where they disagree with this, they are right.

public struct PriceBand: Sendable, Hashable {
  /// Limit-down and limit-up, with as many places as the tick.
  public let lower: ExactDecimal
  public let upper: ExactDecimal

  package init(lower: ExactDecimal, upper: ExactDecimal) {
    self.lower = lower
    self.upper = upper
  }

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
  ///   limits; and where `previousClose` is no price: zero, negative, beyond 64 bits.
  public static func band(
    for instrument: Instrument, previousClose: ExactDecimal, on day: TradingDay,
    specialTreatment: Bool, tradingDaysSinceListing: Int?
  ) -> PriceBand? {
    let rule = LimitRule.of(
      instrument, on: day, specialTreatment: specialTreatment,
      age: tradingDaysSinceListing ?? .max)
    guard case .move(let up, let down) = rule, previousClose.isPositive else { return nil }
    return try? band(around: previousClose, up: up, down: down, tick: instrument.tickSize)
  }

  /// The same where no more is known of an instrument than its name: it tells how long it is
  /// listed, N on the first day, C on those that follow.
  package static func band(
    for instrument: Instrument, marks: NameMarks, previousClose: ExactDecimal, on day: TradingDay
  ) -> PriceBand? {
    let age: Int? = marks.contains(.firstDay) ? 0 : marks.contains(.firstDays) ? 1 : nil
    return band(
      for: instrument, previousClose: previousClose, on: day,
      specialTreatment: marks.specialTreatment, tradingDaysSinceListing: age)
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
