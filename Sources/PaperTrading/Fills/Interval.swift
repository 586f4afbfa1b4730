import Market

/// What is certain of the trades between two snapshots, from the day's totals alone: how many
/// shares D and how much money M, and the extremes that bound each price.
///
/// If w shares traded at L or below and the rest at L+τ or above, M ≥ w·lo + (D−w)·(L+τ), which
/// bounds w from below; from above it is M ≤ w·L + (D−w)·hi. A sale is a purchase with all prices
/// negated. Wide integers: no rounding, no overflow.
struct Interval {
  private let volume: ClosedRange<Int128>
  private let money: ClosedRange<Int128>
  private let low: Int128
  private let high: Int128
  private let tick: Int128

  /// nil where a number is finer than any exchange publishes.
  init?(_ evidence: FillEvidence) {
    self.init(
      volume: (evidence[.volumeBefore], evidence[.volumeAfter], evidence[.volumeSlack]),
      turnover: (evidence[.turnoverBefore], evidence[.turnoverAfter], evidence[.turnoverSlack]),
      prices: (evidence[.low], evidence[.high], evidence[.tick]), side: evidence.side)
  }

  /// The same that `Queue.evidence` would give.
  init?(_ pair: SnapshotPair, side: Side, instrument: Instrument) {
    let (before, after, slack) = (pair.before, pair.after, pair.slack(of: instrument))
    self.init(
      volume: (before.volume, after.volume, slack.volume),
      turnover: (before.turnover, after.turnover, slack.turnover),
      prices: (after.low, after.high, instrument.tickSize(on: after.stamp.day)), side: side)
  }

  private typealias Totals = (before: ExactDecimal, after: ExactDecimal, slack: ExactDecimal)

  private init?(
    volume: Totals, turnover: Totals,
    prices: (low: ExactDecimal, high: ExactDecimal, tick: ExactDecimal), side: Side
  ) {
    guard let volumeBefore = volume.before.wide(places: 0),
      let volumeAfter = volume.after.wide(places: 0),
      let turnoverBefore = turnover.before.wide(places: Self.places),
      let turnoverAfter = turnover.after.wide(places: Self.places),
      let volumeSlack = volume.slack.wide(places: 0),
      let turnoverSlack = turnover.slack.wide(places: Self.places),
      let low = prices.low.wide(places: Self.places),
      let high = prices.high.wide(places: Self.places),
      let tick = prices.tick.wide(places: Self.places)
    else { return nil }
    let shares = volumeAfter - volumeBefore
    let amount = turnoverAfter - turnoverBefore
    self.volume = max(shares - volumeSlack, 0)...max(shares + volumeSlack, 0)
    let (least, most) = (amount - turnoverSlack, amount + turnoverSlack)
    money = side == .buy ? least...most : -most...(-least)
    self.low = side == .buy ? low : -high
    self.high = side == .buy ? high : -low
    self.tick = tick
  }

  /// The decimal places of prices and money.
  private static let places: UInt8 = 9

  /// Shares that certainly traded at `limit` or beyond it: of a purchase at 10.00, at prices of at
  /// most 10.00.
  func certain(at limit: ExactDecimal, side: Side) -> Int64 {
    guard let price = signed(limit, side: side) else { return 0 }
    if volume.lowerBound == 0 || low > price { return 0 }
    if high <= price { return Self.shares(volume.lowerBound) }
    let next = price + tick
    let shares = next > 0 ? volume.lowerBound : volume.upperBound
    let surplus = next * shares - money.upperBound
    guard surplus > 0 else { return 0 }
    let width = next - low
    return Self.shares(min((surplus + width - 1) / width, volume.lowerBound))
  }

  /// Shares that may have traded there.
  func possible(at limit: ExactDecimal, side: Side) -> Int64 {
    guard let price = signed(limit, side: side), low <= price else { return 0 }
    if high <= price { return Self.shares(volume.upperBound) }
    let shares = high > 0 ? volume.upperBound : volume.lowerBound
    let surplus = max(high * shares - money.lowerBound, 0)
    return Self.shares(min(surplus / (high - price), volume.upperBound))
  }

  private func signed(_ price: ExactDecimal, side: Side) -> Int128? {
    price.wide(places: Self.places).map { side == .buy ? $0 : -$0 }
  }

  private static func shares(_ count: Int128) -> Int64 { Int64(clamping: count) }
}

extension ExactDecimal {
  /// The units it has at `places`; nil if it has more places than that.
  func wide(places: UInt8) -> Int128? {
    let plain = scale <= places ? self : normalized
    guard plain.scale <= places else { return nil }
    return (plain.scale..<places).reduce(Int128(plain.units)) { units, _ in units * 10 }
  }

  /// Whole shares; a part of one does not count.
  var wholeShares: Int64 { (0..<scale).reduce(units) { units, _ in units / 10 } }
}
