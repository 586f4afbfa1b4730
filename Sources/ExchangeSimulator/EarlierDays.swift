import Market

/// Day bars from before the days that are simulated trade by trade: a walk drawn backwards from the
/// price the first simulated day begins with. The minutes of a day are drawn from its bar.
///
/// A pure function of (seed, instrument, days), and longer days repeat shorter ones. Each bar's
/// successor knows its close as the previous close, ex days apart, so the series joins the
/// simulated days without a jump.
struct EarlierDays {
  let days: [TradingDay]
  /// Ascending, one for each day; all zero on a day without trading.
  private(set) var bars: [TrueLedger.Minute] = []
  /// Previous closes, one for each day; 0 where it is not listed.
  private(set) var references: [Int64] = []
  /// Ascending.
  private(set) var exDays: [ExDay] = []
  let seed: UInt64
  let place: Int
  let traits: Traits

  /// Neither end of a day strays further from the day before than that, in thousandths.
  static let movePerMilleMax: Int64 = 30

  /// Days of an instrument that opens its first simulated day at `traits.previousClose`; none of
  /// one that is listed on that day, or never.
  init(seed: UInt64, place: Int, traits: Traits, days: [TradingDay]) {
    self.days = days
    self.seed = seed
    self.place = place
    self.traits = traits
    bars = Array(repeating: TrueLedger.Minute(), count: days.count)
    references = Array(repeating: 0, count: days.count)
    switch traits.behaviour {
    case .notListed, .newListing: return
    default: drawBackwards()
    }
  }

  private mutating func drawBackwards() {
    let events = PastEvents(seed: seed, place: place, traits: traits)
    var random = Randomness(seed: Randomness.mixed(seed), stream: UInt64(place) &+ 0xEA71)
    var walk = Walk(close: traits.previousClose)
    for index in days.indices.reversed() {
      let day = days.count - index
      guard events.isListed(on: day) else { continue }
      references[index] = walk.close
      if events.trades(on: day) {
        references[index] = reference(before: walk, using: &random)
        bars[index] = bar(from: references[index], to: walk, using: &random)
      }
      walk.close = references[index]
      guard index > 0, events.isListed(on: day + 1) else { continue }
      if let exDay = exDay(at: index, of: events, reference: walk.close) {
        exDays.append(exDay)
        walk.step(over: exDay)
      }
    }
    exDays.reverse()
  }

  private func exDay(at index: Int, of events: PastEvents, reference: Int64) -> ExDay? {
    events.exDay(days.count - index, on: days[index], traits: traits, reference: reference)
      ?? ExDay(
        seed: seed, place: place, traits: traits, on: days[index], after: days[index - 1],
        reference: reference)
  }

  /// Where a walk backwards stands.
  private struct Walk {
    var close: Int64
    /// What it is pulled back to.
    let start: Int64
    /// Splits passed, in shares for ten.
    var sharesPerTen: Int64 = 10

    init(close: Int64) {
      self.close = close
      start = close
    }

    mutating func step(over exDay: ExDay) {
      close = exDay.close
      sharesPerTen = sharesPerTen * exDay.sharesPerTen / 10
    }

    var centre: Int64 { start * sharesPerTen / 10 }
  }

  /// Where a day that closed at `walk.close` began: pulled back to where the walk started from, so
  /// that five years neither explode nor vanish.
  private func reference(before walk: Walk, using random: inout Randomness) -> Int64 {
    let strayed = walk.close - walk.centre
    var perMille = random.below(2 * Self.movePerMilleMax + 1) - Self.movePerMilleMax
    if abs(strayed) > walk.centre / 2 {
      perMille = strayed > 0 ? -abs(perMille) : abs(perMille)
    }
    return max(traits.onTick(walk.close + walk.close * perMille / 1000), 20 * traits.tick)
  }

  private func bar(
    from open: Int64, to walk: Walk, using random: inout Randomness
  ) -> TrueLedger.Minute {
    let close = walk.close
    let reach = max(close / 100, traits.tick)
    let open = traits.onTick(open + (close - open) * random.below(300) / 1000)
    let high = max(open, close) + traits.onTick(random.below(reach + 1))
    let low = max(min(open, close) - traits.onTick(random.below(reach + 1)), traits.tick)
    let lots = random.around(traits.lotsPerDay) * 10 / walk.sharesPerTen
    let volume = traits.order.minimum * max(lots, 1)
    // The mean of the four prices lies within the day's range.
    let mean = (open + high + low + close) / 4
    return TrueLedger.Minute(
      open: open, high: high, low: low, close: close, volume: volume,
      turnover: turnover(of: volume, at: mean))
  }

  /// An index has no price of its own that its members trade at.
  func turnover(of volume: Int64, at mean: Int64) -> Int64 {
    traits.isIndex ? volume * 12_000 : volume * mean
  }
}

extension Traits {
  /// About what the simulated days trade.
  fileprivate var lotsPerDay: Int64 {
    switch behaviour {
    case .index: 5_000_000
    case .liquid: 250_000
    case .illiquid: 300
    default: 20_000
    }
  }
}
