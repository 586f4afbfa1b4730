import Market

/// A day an instrument trades ex dividend: the reference price is the last close less the dividend.
///
/// At most one a year and instrument, in June or July, drawn from (seed, place, year). The factors
/// of qfq.js and hfq.js are made of nothing else.
struct Dividend: Sendable, Hashable {
  var day: TradingDay
  /// The close before it, and the previous close the exchange shows on the day instead.
  var close: Int64
  var reference: Int64

  private static let perMilleOfYears: Int64 = 600
  private static let seasonDays: Int64 = 60

  /// nil if `day` is no ex-day. `close` is the last close.
  init?(
    seed: UInt64, place: Int, traits: Traits, on day: TradingDay, after previous: TradingDay,
    close: Int64
  ) {
    guard close > 0, !traits.isIndex,
      let perMille = Dividend.perMille(seed: seed, place: place, on: day, after: previous)
    else { return nil }
    let reference = traits.onTick(close - close * perMille / 1000)
    guard reference > 10 * traits.tick, reference < close else { return nil }
    self.init(day: day, close: close, reference: reference)
  }

  /// Backwards: the close before a day whose reference price is known.
  init?(
    seed: UInt64, place: Int, traits: Traits, on day: TradingDay, after previous: TradingDay,
    reference: Int64
  ) {
    guard !traits.isIndex,
      let perMille = Dividend.perMille(seed: seed, place: place, on: day, after: previous)
    else { return nil }
    let close = traits.onTick(reference * 1000 / (1000 - perMille))
    guard reference < close else { return nil }
    self.init(day: day, close: close, reference: reference)
  }

  private init(day: TradingDay, close: Int64, reference: Int64) {
    self.day = day
    self.close = close
    self.reference = reference
  }

  /// How much of the close is paid out, if `day` is the first trading day of this year's date.
  private static func perMille(
    seed: UInt64, place: Int, on day: TradingDay, after previous: TradingDay
  ) -> Int64? {
    let year = day.civil.year
    guard let season = TradingDay(year: year, month: 6, day: 1) else { return nil }
    var random = Randomness(
      seed: Randomness.mixed(seed &+ UInt64(year)), stream: UInt64(place) &+ 0xD1F1)
    guard random.chance(perMille: perMilleOfYears) else { return nil }
    let date = season.advanced(by: Int(random.below(seasonDays)))
    guard previous < date, date <= day else { return nil }
    return 5 + random.below(30)
  }
}
