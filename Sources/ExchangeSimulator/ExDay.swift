import Market

/// A day whose reference price is not the last close: an instrument trades ex dividend, or after a
/// split.
///
/// The factors of qfq.js and hfq.js are made of nothing else. At most one dividend a year and
/// instrument, in June or July, is drawn from (seed, place, year); splits are events of the past
/// alone (`PastEvents`).
package struct ExDay: Sendable, Hashable {
  var day: TradingDay
  /// The close before it, and the previous close the exchange shows on the day instead.
  var close: Int64
  package var reference: Int64
  /// Shares a holder has on the day for ten on the day before.
  var sharesPerTen: Int64 = 10
}

/// How it is drawn.
extension ExDay {
  private static let perMilleOfYears: Int64 = 600
  private static let seasonDays: Int64 = 60

  /// The dividend of a day; nil if it has none. `close` is the last close.
  init?(
    seed: UInt64, place: Int, traits: Traits, on day: TradingDay, after previous: TradingDay,
    close: Int64
  ) {
    guard close > 0, !traits.isIndex,
      let perMille = ExDay.perMille(seed: seed, place: place, on: day, after: previous)
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
      let perMille = ExDay.perMille(seed: seed, place: place, on: day, after: previous)
    else { return nil }
    self.init(paying: perMille, traits: traits, on: day, reference: reference)
  }

  /// Backwards: a dividend of so many thousandths of the close before it.
  init?(paying perMille: Int64, traits: Traits, on day: TradingDay, reference: Int64) {
    let close = traits.onTick(reference * 1000 / (1000 - perMille))
    guard reference < close else { return nil }
    self.init(day: day, close: close, reference: reference)
  }

  /// Backwards: a split into so many shares for ten.
  init(splitInto sharesPerTen: Int64, traits: Traits, on day: TradingDay, reference: Int64) {
    self.init(
      day: day, close: traits.onTick(reference * sharesPerTen / 10), reference: reference,
      sharesPerTen: sharesPerTen)
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
