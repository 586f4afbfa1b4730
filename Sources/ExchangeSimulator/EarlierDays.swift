import Market

/// Day bars from before the days that are simulated trade by trade: a walk drawn backwards from the
/// price the first simulated day begins with.
///
/// A pure function of (seed, instrument, days). Each bar's successor knows its close as the
/// previous close, ex dividend apart, so the series joins the simulated days without a jump.
struct EarlierDays {
  /// Ascending, one for each day.
  private(set) var bars: [TrueLedger.Minute] = []
  /// Ascending.
  private(set) var dividends: [Dividend] = []

  /// Neither end of a day strays further from the day before than that, in thousandths.
  private static let movePerMilleMax: Int64 = 30

  /// Days of an instrument that opens its first simulated day at `traits.previousClose`; none for
  /// one that was not listed then.
  init(seed: UInt64, place: Int, traits: Traits, days: [TradingDay]) {
    switch traits.behaviour {
    case .delisted, .notListed, .newListing: return
    default: break
    }
    var random = Randomness(seed: Randomness.mixed(seed), stream: UInt64(place) &+ 0xEA71)
    var close = traits.previousClose
    for index in days.indices.reversed() {
      let reference = EarlierDays.reference(before: close, traits: traits, using: &random)
      bars.append(EarlierDays.bar(from: reference, to: close, traits: traits, using: &random))
      close = reference
      guard index > 0 else { break }
      let dividend = Dividend(
        seed: seed, place: place, traits: traits, on: days[index], after: days[index - 1],
        reference: reference)
      if let dividend {
        dividends.append(dividend)
        close = dividend.close
      }
    }
    bars.reverse()
    dividends.reverse()
  }

  /// Where a day that closed at `close` began: pulled back to where the walk started from, so that
  /// five years neither explode nor vanish.
  private static func reference(
    before close: Int64, traits: Traits, using random: inout Randomness
  ) -> Int64 {
    let strayed = close - traits.previousClose
    var perMille = random.below(2 * movePerMilleMax + 1) - movePerMilleMax
    if abs(strayed) > traits.previousClose / 2 {
      perMille = strayed > 0 ? -abs(perMille) : abs(perMille)
    }
    return max(traits.onTick(close + close * perMille / 1000), 20 * traits.tick)
  }

  private static func bar(
    from open: Int64, to close: Int64, traits: Traits, using random: inout Randomness
  ) -> TrueLedger.Minute {
    let reach = max(close / 100, traits.tick)
    let open = traits.onTick(open + (close - open) * random.below(300) / 1000)
    let high = max(open, close) + traits.onTick(random.below(reach + 1))
    let low = max(min(open, close) - traits.onTick(random.below(reach + 1)), traits.tick)
    let volume = traits.order.minimum * random.around(traits.isIndex ? 5_000_000 : 20_000)
    // The mean of the four prices lies within the day's range.
    let mean = (open + high + low + close) / 4
    let turnover = traits.isIndex ? volume * 12_000 : volume * mean
    return TrueLedger.Minute(
      open: open, high: high, low: low, close: close, volume: volume, turnover: turnover)
  }
}
