import Market

/// The place of an order in the queue of its price, as far as snapshots bound it.
package struct Queue: Sendable, Hashable {
  package let limit: ExactDecimal
  /// Whether no purchase can be above `limit` on that day, and no sale below it.
  package let isAtLimit: Bool
  /// What the order had left when it entered the book.
  let own: Int64
  /// Of that, filled since.
  var filled: Int64
  /// At most so many shares stand before it; nil: `limit` is worse than the five levels.
  package internal(set) var front: Int64?
  /// Volume that has come to its place, as `FillRules.counted` defines it.
  var counted: Int64 = 0
  /// Shares that other orders of its account get first.
  var yields: Int64
  /// What some flow of orders would have given it.
  var possibleVolume: Int64 = 0

  var left: Int64 { own - filled }

  /// Whether trades or offers at `price` reach it.
  func reaches(_ price: ExactDecimal, side: Side) -> Bool { side.reaches(price, from: limit) }
}

/// Two snapshots in a row of one instrument, and what its exchange did between them.
struct SnapshotPair {
  let before: Snapshot
  let after: Snapshot
  /// Whether `after` has a book in which orders rest.
  let isBookExact: Bool
  /// The price that the interval's only trades had, all of an auction.
  let auction: Auction?
  /// Whether trades of an auction may be among the interval's.
  let spansAuction: Bool

  struct Auction {
    let price: ExactDecimal
    let volume: Int64
  }

  /// How far the differences of the totals may lie from the exchange's.
  func slack(of instrument: Instrument) -> (volume: ExactDecimal, turnover: ExactDecimal) {
    let volume = Int64(before.rounding.volume) + Int64(after.rounding.volume)
    // Shanghai's turnover is whole yuan.
    let wholeMoney: Int64 = instrument.exchange == .shanghai ? 1 : 0
    let turnover = wholeMoney + Int64(before.rounding.turnover) + Int64(after.rounding.turnover)
    return (ExactDecimal(volume), ExactDecimal(turnover))
  }
}

extension Queue {
  /// The evidence of the interval, and the state behind it.
  mutating func advance(
    over pair: SnapshotPair, side: Side, instrument: Instrument
  ) -> [FillEvidence] {
    var found: [FillEvidence] = []
    var reaching: Int64 = 0
    // Who stands before it in an auction is not known, but at the limit price: there all are equal.
    if !pair.spansAuction || isAtLimit, isReached(by: pair.after, side: side),
      let interval = Interval(pair, side: side, instrument: instrument)
    {
      reaching = interval.certain(at: limit, side: side)
      possibleVolume += interval.possible(at: limit, side: side)
      let sum = FillRules.count(in: interval, of: self, side: side)
      // Most intervals fill nothing, and need no evidence.
      if FillRules.due(of: self, counted: sum) > 0 {
        book(evidence(over: pair, side: side, instrument: instrument), into: &found)
      }
      counted = sum
    }
    if pair.spansAuction, !isAtLimit {
      bookAuction(pair, side: side, into: &found)
    }
    updateFront(with: pair, side: side, reaching: reaching)
    return found
  }

  /// Whether the day's trades have come to its price.
  private func isReached(by row: Snapshot, side: Side) -> Bool {
    reaches(side == .buy ? row.low : row.high, side: side)
  }

  private func evidence(
    over pair: SnapshotPair, side: Side, instrument: Instrument
  ) -> FillEvidence {
    let (before, after) = (pair.before, pair.after)
    let slack = pair.slack(of: instrument)
    var numbers: [FillEvidence.Name: ExactDecimal] = [
      .limit: limit, .tick: instrument.tickSize, .own: ExactDecimal(own),
      .filled: ExactDecimal(filled), .yields: ExactDecimal(yields),
      .counted: ExactDecimal(counted), .volumeBefore: before.volume, .volumeAfter: after.volume,
      .turnoverBefore: before.turnover, .turnoverAfter: after.turnover, .high: after.high,
      .low: after.low, .volumeSlack: slack.volume, .turnoverSlack: slack.turnover,
    ]
    numbers[.front] = front.map { ExactDecimal($0) }
    return FillEvidence(
      basis: isAtLimit ? .limitQueue : .passive, side: side, before: before.stamp,
      after: after.stamp, numbers: numbers)
  }

  private mutating func book(_ evidence: FillEvidence, into found: inout [FillEvidence]) {
    guard let fill = FillRules.derive(evidence) else { return }
    filled += fill.quantity.wholeShares
    found.append(evidence)
  }

  /// What was left at the auction's price would have been its own, and a small order with a better
  /// price would have passed.
  private mutating func bookAuction(
    _ pair: SnapshotPair, side: Side, into found: inout [FillEvidence]
  ) {
    let price = pair.after.last
    guard pair.isBookExact, price.isPositive, reaches(price, side: side) else { return }
    if let level = pair.after.opposite(of: side).first, level.price == price {
      book(
        auctionEvidence(
          .auction, side: side, after: pair.after.stamp, price: price,
          offered: level.volume, slack: pair.after.isCoarse ? FillRules.levelSlack : 0),
        into: &found)
    }
    if let auction = pair.auction {
      found += passAuction(auction, at: pair.after.stamp, side: side)
    }
  }

  private func auctionEvidence(
    _ basis: FillBasis, side: Side, after: SnapshotStamp, price: ExactDecimal,
    offered: ExactDecimal, slack: Int64 = 0
  ) -> FillEvidence {
    FillEvidence(
      basis: basis, side: side, after: after,
      numbers: [
        .limit: limit, .own: ExactDecimal(own), .filled: ExactDecimal(filled),
        .yields: ExactDecimal(yields), .price: price, .offered: offered,
        .volumeSlack: ExactDecimal(slack),
      ])
  }

  /// Of an auction at a price better than its own, in which it took part.
  mutating func passAuction(
    _ auction: SnapshotPair.Auction, at stamp: SnapshotStamp, side: Side
  ) -> [FillEvidence] {
    guard auction.price != limit, reaches(auction.price, side: side) else { return [] }
    var found: [FillEvidence] = []
    book(
      auctionEvidence(
        .smallOrder, side: side, after: stamp, price: auction.price,
        offered: ExactDecimal(auction.volume)),
      into: &found)
    return found
  }

  private mutating func updateFront(with pair: SnapshotPair, side: Side, reaching: Int64) {
    let drained = front.map { max($0 - reaching, 0) }
    guard pair.isBookExact else {
      front = drained
      return
    }
    switch Queue.standing(at: limit, in: pair.after, side: side) {
    case .none: front = drained
    case .some(let visible): front = min(drained ?? visible, visible)
    }
  }

  /// The most that may stand at `limit` in an exact book; nil where it is worse than five levels.
  static func standing(at limit: ExactDecimal, in snapshot: Snapshot, side: Side) -> Int64? {
    if let best = snapshot.opposite(of: side).first,
      side == .buy ? best.price <= limit : best.price >= limit
    {
      return 0
    }
    let slack = snapshot.isCoarse ? FillRules.levelSlack : 0
    let levels = snapshot.own(of: side)
    if let level = levels.first(where: { $0.price == limit }) {
      return level.volume.wholeShares + slack
    }
    guard levels.count >= Snapshot.levelsMax, let worst = levels.last else { return slack }
    let isInside = side == .buy ? limit > worst.price : limit < worst.price
    return isInside ? slack : nil
  }
}
