import Market

/// One accepted order between its acceptance and its end.
///
/// It sees only snapshots whose stamp is later than its acceptance. The first of them with a real
/// book is what it meets: the volume of each level is exact there, and so is the queue it joins.
package struct RestingOrder: Sendable, Hashable {
  package enum Stage: Sendable, Hashable {
    /// A stop order whose price was not reached.
    case untriggered
    case waiting
    case queued(Queue)
    case done

    var queue: Queue? { if case .queued(let queue) = self { queue } else { nil } }
  }

  /// All that rows change of an order.
  struct Standing: Sendable, Hashable {
    let id: Int64
    let stage: Stage
    let filled: Int64
  }

  package let order: Order
  /// What was left of the order's quantity when the day began.
  package let quantity: ExactDecimal
  /// Its trading day: one that lives longer enters the book anew on each.
  package let day: TradingDay
  /// The second after which it may enter.
  package let entersAt: Int
  /// The worst price of a market order.
  let worstPrice: ExactDecimal?
  /// The day's limit on its own side: none can bid more, or offer for less.
  let dayLimit: ExactDecimal?
  package internal(set) var stage: Stage
  /// The quantity that is certain so far, on this day.
  package internal(set) var filled: Int64 = 0

  /// - Parameters:
  ///   - band: of the day; nil where no limit applies.
  ///   - isReleased: of a stop order that was reached on an earlier day.
  package init(
    _ order: Order, quantity: ExactDecimal? = nil, acceptance: Acceptance, on day: TradingDay,
    band: PriceBand?, isReleased: Bool = false
  ) {
    self.init(
      order, quantity: quantity ?? order.quantity, entersAt: acceptance.entersAt,
      worstPrice: acceptance.worstPrice, dayLimit: order.side == .buy ? band?.upper : band?.lower,
      day: day,
      isReleased: isReleased)
  }

  /// As it was stored.
  init(
    _ order: Order, quantity: ExactDecimal, entersAt: Int, worstPrice: ExactDecimal?,
    dayLimit: ExactDecimal?, day: TradingDay, isReleased: Bool
  ) {
    self.order = order
    self.day = day
    self.quantity = quantity
    self.entersAt = entersAt
    self.worstPrice = worstPrice
    self.dayLimit = dayLimit
    stage = order.kind.isStop && !isReleased ? .untriggered : .waiting
  }

  var isDone: Bool { stage == .done }

  var standing: Standing { Standing(id: order.id, stage: stage, filled: filled) }

  package var queue: Queue? { stage.queue }

  /// What some flow of orders would have given it: a figure, not a bound.
  package func possible(in snapshot: Snapshot) -> ExactDecimal {
    guard let queue else { return ExactDecimal(filled) }
    let offered = snapshot.opposite(of: order.side).filter {
      queue.reaches($0.price, side: order.side)
    }.reduce(0) { $0 + $1.volume.wholeShares }
    let reached = min(queue.own, queue.possibleVolume + offered)
    return ExactDecimal(filled - queue.filled + max(reached, queue.filled))
  }

  /// Whether the last price releases it. Before the day's first trade it is none of the day's.
  func isReached(by row: Snapshot) -> Bool {
    guard let stop = order.stop, row.last.isPositive, row.volume.isPositive else { return false }
    return order.side == .buy ? row.last >= stop : row.last <= stop
  }
}

/// What an order does as it meets a book.
struct Entry {
  /// The levels it fills from; more than one may be empty-handed.
  var fills: [FillEvidence] = []
  /// nil: what is left is cancelled.
  var queue: Queue?
}

extension RestingOrder {
  /// - Parameters:
  ///   - takings: of the account's other orders, which these offers lack.
  ///   - ownSharesAhead: what those have left that stand before it at its limit.
  func enter(_ snapshot: Snapshot, takings: Takings, ownSharesAhead: Int64) -> Entry {
    guard let limit = entryLimit(in: snapshot) else { return Entry() }
    let evidence = walk(snapshot, limit: limit, takings: takings)
    let fills = evidence.compactMap { FillRules.derive($0) }
    let sum = fills.reduce(0) { $0 + $1.quantity.wholeShares }
    let own = quantity.wholeShares
    let mustBeWhole = order.timeInForce == .fillOrKill || order.kind == .allOrCancel
    if mustBeWhole, sum < own { return Entry() }
    guard sum < own else { return Entry(fills: evidence) }
    guard let rest = restLimit(behind: fills.last?.price, limit: limit, in: snapshot) else {
      return Entry(fills: evidence)
    }
    return Entry(
      fills: evidence,
      queue: queue(at: rest, filled: sum, in: snapshot, ownSharesAhead: ownSharesAhead))
  }

  /// The order's place among those that rest at the price.
  func queue(
    at limit: ExactDecimal, filled: Int64 = 0, in snapshot: Snapshot, ownSharesAhead: Int64
  ) -> Queue {
    let isAtLimit = limit == dayLimit
    return Queue(
      limit: limit, isAtLimit: isAtLimit, own: quantity.wholeShares, filled: filled,
      front: isAtLimit ? Queue.standing(at: limit, in: snapshot, side: order.side) : nil,
      ownSharesAhead: isAtLimit ? ownSharesAhead : 0)
  }

  /// How far it reaches into the book; nil where it has nothing to be priced by.
  private func entryLimit(in snapshot: Snapshot) -> ExactDecimal? {
    switch order.kind {
    case .limit, .stopLimit, .fiveBestThenCancel, .fiveBestThenLimit, .immediateOrCancel,
      .allOrCancel:
      order.limit ?? worstPrice
    case .stop: worstPrice ?? (order.side == .sell ? .zero : nil)
    case .ownBest: snapshot.own(of: order.side).first.map { protected($0.price) }
    case .oppositeBest: snapshot.opposite(of: order.side).first.map { protected($0.price) }
    }
  }

  private func protected(_ price: ExactDecimal) -> ExactDecimal {
    guard let worstPrice else { return price }
    return order.side == .buy ? min(price, worstPrice) : max(price, worstPrice)
  }

  /// Where the rest stays; nil: it is cancelled.
  private func restLimit(
    behind lastPrice: ExactDecimal?, limit: ExactDecimal, in snapshot: Snapshot
  ) -> ExactDecimal? {
    if order.timeInForce.isImmediate { return nil }
    switch order.kind {
    case .limit, .stopLimit, .ownBest, .oppositeBest: return limit
    case .fiveBestThenLimit:
      return lastPrice ?? snapshot.own(of: order.side).first.map { protected($0.price) }
    case .fiveBestThenCancel, .immediateOrCancel, .allOrCancel, .stop: return nil
    }
  }

  private func walk(
    _ snapshot: Snapshot, limit: ExactDecimal, takings: Takings
  ) -> [FillEvidence] {
    let slack = snapshot.isCoarse ? FillRules.levelSlack : 0
    var filled: Int64 = 0
    var found: [FillEvidence] = []
    for level in snapshot.opposite(of: order.side).prefix(Snapshot.levelsMax) {
      guard order.side.reaches(level.price, from: limit) else { break }
      let evidence = FillEvidence(
        basis: .book, side: order.side, after: snapshot.stamp,
        numbers: [
          .limit: limit, .own: quantity, .filled: ExactDecimal(filled), .price: level.price,
          .offered: level.volume,
          .taken: ExactDecimal(takings.volume(at: level.price, side: order.side)),
          .volumeSlack: ExactDecimal(slack),
        ])
      guard let fill = FillRules.derive(evidence) else { continue }
      filled += fill.quantity.wholeShares
      found.append(evidence)
    }
    return found
  }
}
