import Market

/// Where a snapshot stands: the exchange's clock, and the row's position in the feed. Nothing else
/// dates a fill.
package struct SnapshotStamp: Sendable, Hashable {
  package let day: TradingDay
  /// On the market's clock.
  package let secondOfDay: Int32
  /// `changed_seq` of the row.
  package let sequence: Int64

  package init(day: TradingDay, secondOfDay: Int32, sequence: Int64) {
    self.day = day
    self.secondOfDay = secondOfDay
    self.sequence = sequence
  }
}

/// What the model sees of an instrument at one moment: the day's running totals and extremes, and
/// five levels a side.
package struct Snapshot: Sendable, Hashable {
  package var stamp: SnapshotStamp
  package var previousClose: ExactDecimal
  package var last: ExactDecimal
  package var high: ExactDecimal
  package var low: ExactDecimal
  /// Shares or units since the day began.
  package var volume: ExactDecimal
  package var turnover: ExactDecimal
  /// Best first; no level without a price and a volume.
  package var bids: [BookLevel]
  package var asks: [BookLevel]
  /// How far totals lie from the exchange's; volumes of levels are then rounded, too.
  package var rounding: Rounding
  package var trading: TradingState

  package init(
    stamp: SnapshotStamp, previousClose: ExactDecimal, last: ExactDecimal, high: ExactDecimal,
    low: ExactDecimal, volume: ExactDecimal, turnover: ExactDecimal, bids: [BookLevel],
    asks: [BookLevel], rounding: Rounding = .exact, trading: TradingState = .normal
  ) {
    self.stamp = stamp
    self.previousClose = previousClose
    self.last = last
    self.high = high
    self.low = low
    self.volume = volume
    self.turnover = turnover
    self.bids = bids
    self.asks = asks
    self.rounding = rounding
    self.trading = trading
  }

  package init(_ quote: Quote, sequence: Int64) {
    self.init(
      stamp: SnapshotStamp(
        day: quote.tradingDay, secondOfDay: quote.secondOfDay, sequence: sequence),
      previousClose: quote.previousClose, last: quote.last, high: quote.high, low: quote.low,
      volume: quote.volume, turnover: quote.turnover, bids: Self.levels(quote.bids),
      asks: Self.levels(quote.asks), rounding: quote.rounding, trading: quote.trading)
  }

  private static func levels(_ book: Quote.Book) -> [BookLevel] {
    book.indices.map { book[$0] }.filter { $0.price.isPositive && $0.volume.isPositive }
  }

  package static let levelsMax = 5

  /// On the market's clock.
  var second: Int { Int(stamp.secondOfDay) }

  package var isCoarse: Bool { rounding.volume > 0 }

  /// Whether the exchange may have sent it behind `other`: later, and not below its totals.
  package func continues(_ other: Snapshot) -> Bool {
    if stamp.day != other.stamp.day { return other.stamp.day < stamp.day }
    let slack = ExactDecimal(Int64(other.rounding.volume) + Int64(rounding.volume))
    guard let most = try? volume + slack else { return false }
    return (other.stamp.secondOfDay, other.stamp.sequence)
      < (stamp.secondOfDay, stamp.sequence) && other.volume <= most
  }

  /// Whether not both of them can be true, this one being the later.
  func contradicts(_ old: Snapshot) -> Bool {
    !continues(old) || old.high > high || old.low < low && old.low.isPositive
      || old.turnover > turnover && rounding == .exact && old.rounding == .exact
  }

  /// The levels that an order of `side` would meet.
  package func opposite(of side: Side) -> [BookLevel] { side == .buy ? asks : bids }

  /// The levels among which it would stand.
  package func own(of side: Side) -> [BookLevel] { side == .buy ? bids : asks }
}
