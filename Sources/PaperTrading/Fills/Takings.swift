import Market

/// What an account's orders have taken of offers, by price: what its next orders do not find there.
///
/// It does not count for ever. The market trades on, and who was displaced is served in the end:
/// what was taken drops by the volume that the market trades, and is forgotten once the price has
/// left the book. So the tenth market order of a day is filled as the first one was, if the book
/// was renewed in between.
struct Takings: Sendable, Hashable {
  /// Shares that were taken, by the side of the orders and by price.
  private var volumes: [Side: [ExactDecimal: Int64]] = [:]

  /// All of them, in no order.
  var levels: [(side: Side, price: ExactDecimal, shares: Int64)] {
    volumes.flatMap { side, prices in prices.map { (side, $0.key, $0.value) } }
  }

  var isEmpty: Bool { volumes.isEmpty }

  func volume(at price: ExactDecimal, side: Side) -> Int64 { volumes[side]?[price] ?? 0 }

  mutating func add(_ shares: Int64, at price: ExactDecimal, side: Side) {
    volumes[side, default: [:]][price, default: 0] += shares
  }

  /// Shares that an order got of offers, the best first.
  mutating func add(_ shares: Int64, of offers: Offers, side: Side) {
    var left = shares
    for level in offers.levels {
      let taken = min(left, level.free)
      if taken > 0 { add(taken, at: level.price, side: side) }
      left -= taken
    }
  }

  /// - Parameter isBookExact: whether `row` has a book from which a price can have gone.
  mutating func advance(from before: Snapshot, to row: Snapshot, isBookExact: Bool) {
    if volumes.isEmpty { return }
    let traded = max(row.volume.wholeShares - before.volume.wholeShares, 0)
    for (side, prices) in volumes {
      let levels = row.opposite(of: side)
      let kept = prices.compactMapValues { $0 > traded ? $0 - traded : nil }.filter { price, _ in
        !isBookExact || Self.mayStand(at: price, in: levels, side: side)
      }
      volumes[side] = kept.isEmpty ? nil : kept
    }
  }

  /// Whether the levels show offers at the price, or end before it.
  private static func mayStand(
    at price: ExactDecimal, in levels: [BookLevel], side: Side
  ) -> Bool {
    if levels.contains(where: { $0.price == price }) { return true }
    guard levels.count >= Snapshot.levelsMax, let worst = levels.last else { return false }
    return !side.reaches(price, from: worst.price)
  }
}

/// The visible levels that an order reaches, less what other orders of its account took of them.
struct Offers {
  struct Level {
    let price: ExactDecimal
    /// Certain to be there.
    let volume: Int64
    /// The part of `volume` that is not taken.
    let free: Int64
  }

  private(set) var levels: [Level] = []
  /// The volume that the source shows, and how much of it may not be there.
  private(set) var offered: Int64 = 0
  private(set) var slack: Int64 = 0

  init(to side: Side, limit: ExactDecimal, in snapshot: Snapshot, takings: Takings) {
    let roundedBy = snapshot.isCoarse ? FillRules.levelSlack : 0
    for level in snapshot.opposite(of: side).prefix(Snapshot.levelsMax) {
      guard side.reaches(level.price, from: limit) else { break }
      let volume = level.volume.wholeShares
      let certain = max(volume - roundedBy, 0)
      let taken = min(takings.volume(at: level.price, side: side), certain)
      levels.append(Level(price: level.price, volume: certain, free: certain - taken))
      offered += volume
      slack += volume - certain
    }
  }

  var taken: Int64 { levels.reduce(0) { $0 + $1.volume - $1.free } }

  /// The one price of an auction that an order of `own` shares takes part in: that of the first
  /// level which it would not take whole, its limit where there is none.
  func auctionPrice(own: Int64, limit: ExactDecimal) -> ExactDecimal {
    var sum: Int64 = 0
    for level in levels {
      sum += level.volume
      if sum > own { return level.price }
    }
    return limit
  }
}
