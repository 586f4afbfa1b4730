import Market

/// One account's open orders in one instrument, and what a row does to them. A value, so that a row
/// can be taken back by keeping what was.
///
/// Accounts do not see each other: each has the offers of the exchange to itself.
struct AccountInBook: Sendable {
  /// What a row led to, before it is confirmed.
  enum Result: Sendable, Hashable {
    case fill(order: Int64, FillEvidence)
    case cancelled(Int64, reason: String?)
    case released(Int64)
  }

  let instrument: Instrument
  /// In the order of their acceptance, which is that of their ids.
  var orders: [RestingOrder] = []
  var takings = Takings()

  init(_ instrument: Instrument) { self.instrument = instrument }

  mutating func end(_ id: Int64) {
    guard let index = orders.firstIndex(where: { $0.order.id == id && !$0.isDone }) else { return }
    orders[index].stage = .done
  }

  /// As they were, those that are known still: others came later, or are gone for good.
  mutating func restore(_ before: [RestingOrder.Standing], takings: Takings) {
    for old in before {
      guard let index = orders.firstIndex(where: { $0.order.id == old.id }) else { continue }
      (orders[index].stage, orders[index].filled) = (old.stage, old.filled)
    }
    self.takings = takings
  }

  mutating func accept(_ seen: SeenBook) -> [Result] {
    let row = seen.row
    if let before = seen.before {
      takings.advance(from: before, to: row, isBookExact: seen.isExact)
    }
    var results: [Result] = []
    for index in turns {
      if orders[index].day < row.stamp.day { orders[index].stage = .done }
      switch orders[index].stage {
      case .done: continue
      case .untriggered:
        guard orders[index].isOpen(to: row), orders[index].isReached(by: row) else { continue }
        orders[index].stage = .waiting
        results.append(.released(orders[index].order.id))
      case .waiting: meet(seen, at: index, into: &results)
      case .queued(let queue):
        guard let pair = seen.pair else { continue }
        advance(at: index, queue, over: pair, into: &results)
      }
    }
    return results
  }

  /// Who rests in the book comes first, by price and then by time; then who enters it.
  private var turns: [Int] {
    guard orders.count > 1 else { return Array(orders.indices) }
    return orders.indices.sorted { left, right in
      guard let first = orders[left].queue, let second = orders[right].queue else {
        let isFirst = (orders[left].queue != nil, orders[right].queue != nil)
        return isFirst.0 == isFirst.1 ? left < right : isFirst.0
      }
      let sides = (orders[left].order.side, orders[right].order.side)
      if sides.0 != sides.1 { return sides.0 == .buy }
      if first.limit == second.limit { return left < right }
      return sides.0.reaches(second.limit, from: first.limit)
    }
  }

  private mutating func advance(
    at index: Int, _ queue: Queue, over pair: SnapshotPair, into results: inout [Result]
  ) {
    var queue = queue
    let order = orders[index].order
    let evidence = queue.advance(
      over: pair, side: order.side, instrument: instrument, takings: &takings)
    results += evidence.map { .fill(order: order.id, $0) }
    if queue == orders[index].queue { return }
    orders[index].filled += queue.filled - (orders[index].queue?.filled ?? 0)
    orders[index].stage = queue.left > 0 ? .queued(queue) : .done
  }

  private mutating func meet(_ seen: SeenBook, at index: Int, into results: inout [Result]) {
    let (order, id) = (orders[index], orders[index].order.id)
    if let end = order.missedPhase(by: seen) {
      orders[index].stage = .done
      results.append(.cancelled(id, reason: "\(end.rawValue) ended before its book was seen"))
      return
    }
    guard seen.isExact, order.isOpen(to: seen.row), order.meets(seen) else { return }
    if let reason = order.cageReason(in: seen, of: instrument) {
      orders[index].stage = .done
      results.append(.cancelled(id, reason: reason))
      return
    }
    enter(at: index, seen, into: &results)
  }

  private mutating func enter(
    at index: Int, _ seen: SeenBook, into results: inout [Result]
  ) {
    let resting = orders[index]
    let (id, side, row) = (resting.order.id, resting.order.side, seen.row)
    let ownSharesAhead = orders.reduce(Int64(0)) { sum, other in
      guard other.order.side == side, let queue = other.queue, queue.isAtLimit else { return sum }
      return sum + queue.left
    }
    var entry: Entry
    if let opened = seen.auctionOpened, let limit = resting.order.limit {
      // One that came before the auction may have been filled at its limit before.
      let basis = resting.entersAt >= opened ? FillBasis.auction : .passive
      entry = Entry(queue: resting.queue(at: limit, in: row, ownSharesAhead: ownSharesAhead))
      entry.fills = entry.queue?.meet(row, side: side, basis: basis, takings: &takings) ?? []
    } else {
      entry = resting.enter(row, takings: takings, ownSharesAhead: ownSharesAhead)
      for fill in entry.fills.lazy.compactMap({ FillRules.derive($0) }) {
        takings.add(fill.quantity.wholeShares, at: fill.price, side: side)
      }
    }
    if let auction = seen.auction {
      entry.fills += entry.queue?.passAuction(auction, at: row.stamp, side: side) ?? []
    }
    for evidence in entry.fills {
      guard let fill = FillRules.derive(evidence) else { continue }
      orders[index].filled += fill.quantity.wholeShares
      results.append(.fill(order: id, evidence))
    }
    if let queue = entry.queue, queue.left > 0 {
      orders[index].stage = .queued(queue)
    } else {
      orders[index].stage = .done
      if orders[index].filled < resting.quantity.wholeShares {
        results.append(.cancelled(id, reason: nil))
      }
    }
  }
}

extension RestingOrder {
  fileprivate func isOpen(to row: Snapshot) -> Bool {
    day == row.stamp.day && Int(row.stamp.secondOfDay) > entersAt
  }

  /// Of an order for the book of its moment: the phase whose book nobody saw before it ended. The
  /// book of a break in which the exchange takes nothing is the one that the phase ended with.
  fileprivate func missedPhase(by seen: SeenBook) -> TradingPhase.Name? {
    guard order.kind.isMarket || order.timeInForce.isImmediate, isOpen(to: seen.row),
      let phase = seen.phases.first(where: { $0.name == .continuous && entersAt < $0.closes })
    else { return nil }
    let next = seen.phases.first { $0.opens >= phase.closes && $0.name != .afterHours }
    return seen.second >= next?.opens ?? phase.closes ? phase.name : nil
  }

  /// Whether orders were matched between its acceptance and the row. A stop that was reached is an
  /// order for continuous trading alone: neither the auction that reached it nor the book behind
  /// that fills it.
  fileprivate func meets(_ seen: SeenBook) -> Bool {
    seen.phases.contains { phase in
      order.kind.isStop
        ? phase.name == .continuous && phase.contains(seen.second)
        : phase.hasMatched(by: seen.second, since: entersAt)
    }
  }

  /// Why the exchange voids an order that the house sends into continuous trading: one of the
  /// minutes before it or of noon, or a stop that was reached. It is judged by the book that it
  /// meets.
  fileprivate func cageReason(in seen: SeenBook, of instrument: Instrument) -> String? {
    let isSentLater =
      order.kind == .stopLimit
      || order.kind == .limit
        && seen.phases.contains {
          $0.name == .continuous && $0.opens == entersAt
            || $0.name == .lunch && $0.contains(entersAt)
        }
    guard isSentLater, seen.auctionOpened == nil else { return nil }
    return PriceCage.sentence(on: order, of: instrument, in: seen.row).map { $0 + " as it came" }
  }
}
