import Market

/// The place of an order in the queue of its price, as far as snapshots bound it.
package struct Queue: Sendable, Hashable {
  package let limit: ExactDecimal
  /// Whether no purchase can be above `limit` on that day, and no sale below it.
  package let isAtLimit: Bool
  /// What the order had left when it entered the book.
  let own: Int64
  /// The part of `own` that was filled since.
  var filled: Int64
  /// At most so many shares stand before it; nil unless `isAtLimit`: elsewhere a better order may
  /// come before all that stand there.
  package internal(set) var front: Int64?
  /// Volume that has come to its place, as `FillRules.counted` defines it.
  var counted: Int64 = 0
  /// Shares that earlier orders of its account had left in the same queue.
  var ownSharesAhead: Int64 = 0
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
  /// Whether orders were matched between them at all.
  let isMatched: Bool
  /// The price that the interval's only trades had, all of an auction.
  let auction: Auction?

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
    over pair: SnapshotPair, side: Side, instrument: Instrument, takings: inout Takings
  ) -> [FillEvidence] {
    var found: [FillEvidence] = []
    var reaching: Int64 = 0
    if pair.isMatched, reaches(side == .buy ? pair.after.low : pair.after.high, side: side),
      let interval = Interval(pair, side: side, instrument: instrument)
    {
      possibleVolume += interval.possible(at: limit, side: side)
      if isAtLimit {
        reaching = interval.certain(at: limit, side: side)
        let sum = FillRules.count(in: interval, of: self, side: side)
        // Most intervals fill nothing, and need no evidence.
        if FillRules.due(of: self, counted: sum) > 0 {
          book(evidence(over: pair, side: side, instrument: instrument), into: &found)
        }
        counted = sum
      }
    }
    if pair.isMatched, pair.isBookExact {
      found += meet(pair.after, side: side, basis: .passive, takings: &takings)
    }
    if let auction = pair.auction {
      found += passAuction(auction, at: pair.after.stamp, side: side)
    }
    updateFront(with: pair, side: side, reaching: reaching)
    return found
  }

  private func evidence(
    over pair: SnapshotPair, side: Side, instrument: Instrument
  ) -> FillEvidence {
    let (before, after) = (pair.before, pair.after)
    let slack = pair.slack(of: instrument)
    var numbers: [FillEvidence.Name: ExactDecimal] = [
      .limit: limit, .tick: instrument.tickSize(on: after.stamp.day), .own: ExactDecimal(own),
      .filled: ExactDecimal(filled), .ownSharesAhead: ExactDecimal(ownSharesAhead),
      .counted: ExactDecimal(counted), .volumeBefore: before.volume, .volumeAfter: after.volume,
      .turnoverBefore: before.turnover, .turnoverAfter: after.turnover, .high: after.high,
      .low: after.low, .volumeSlack: slack.volume, .turnoverSlack: slack.turnover,
    ]
    numbers[.front] = front.map { ExactDecimal($0) }
    return FillEvidence(
      basis: .limitQueue, side: side, before: before.stamp, after: after.stamp, numbers: numbers)
  }

  private mutating func book(_ evidence: FillEvidence, into found: inout [FillEvidence]) {
    guard let fill = FillRules.derive(evidence) else { return }
    filled += fill.quantity.wholeShares
    found.append(evidence)
  }

  /// Meets the offers of an exact book. While it is open none of them can stand beside it: what the
  /// public book shows at its limit or better was sold to it.
  mutating func meet(
    _ row: Snapshot, side: Side, basis: FillBasis, takings: inout Takings
  ) -> [FillEvidence] {
    guard let best = row.opposite(of: side).first, reaches(best.price, side: side) else {
      return []
    }
    let offers = Offers(to: side, limit: limit, in: row, takings: takings)
    var numbers: [FillEvidence.Name: ExactDecimal] = [
      .limit: limit, .own: ExactDecimal(own), .filled: ExactDecimal(filled),
      .offered: ExactDecimal(offers.offered), .taken: ExactDecimal(offers.taken),
      .volumeSlack: ExactDecimal(offers.slack),
    ]
    if basis == .auction { numbers[.price] = offers.auctionPrice(own: own, limit: limit) }
    var found: [FillEvidence] = []
    let before = filled
    book(
      FillEvidence(basis: basis, side: side, after: row.stamp, numbers: numbers), into: &found)
    takings.add(filled - before, of: offers, side: side)
    return found
  }

  /// A small order would have passed an auction at a price better than its own, in which it took
  /// part.
  mutating func passAuction(
    _ auction: SnapshotPair.Auction, at stamp: SnapshotStamp, side: Side
  ) -> [FillEvidence] {
    guard !isAtLimit, auction.price != limit, reaches(auction.price, side: side) else { return [] }
    var found: [FillEvidence] = []
    book(
      FillEvidence(
        basis: .smallOrder, side: side, after: stamp,
        numbers: [
          .limit: limit, .own: ExactDecimal(own), .filled: ExactDecimal(filled),
          .price: auction.price, .offered: ExactDecimal(auction.volume),
        ]),
      into: &found)
    return found
  }

  private mutating func updateFront(with pair: SnapshotPair, side: Side, reaching: Int64) {
    guard isAtLimit else { return }
    let drained = front.map { max($0 - reaching, 0) }
    guard pair.isBookExact else {
      front = drained
      return
    }
    let visible = Queue.standing(at: limit, in: pair.after, side: side)
    front = min(drained ?? visible, visible)
  }

  /// The most that may stand at the day's price limit in an exact book.
  static func standing(at limit: ExactDecimal, in snapshot: Snapshot, side: Side) -> Int64 {
    if let best = snapshot.opposite(of: side).first, side.reaches(best.price, from: limit) {
      return 0
    }
    let slack = snapshot.isCoarse ? FillRules.levelSlack : 0
    guard let best = snapshot.own(of: side).first, best.price == limit else { return slack }
    return best.volume.wholeShares + slack
  }
}
