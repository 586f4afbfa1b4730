import Market

/// The open orders of one account in one instrument, as of one row: what a row, an order or a
/// cancellation does to them. A value, so that a row can be taken back by keeping what was.
///
/// Accounts do not see each other: each is alone with the exchange.
struct OrderWorld: Sendable, Hashable {
  enum Step: Sendable, Hashable {
    case row(Snapshot)
    case order(RestingOrder)
    case cancellation(Int64)
  }

  /// What a step led to, before it is confirmed.
  enum Result: Sendable, Hashable {
    case fill(order: Int64, FillEvidence)
    case cancelled(Int64)
    case released(Int64)

    var order: Int64 {
      switch self {
      case .fill(let order, _), .cancelled(let order), .released(let order): order
      }
    }
  }

  let instrument: Instrument
  /// In the order of their acceptance, which is that of their ids.
  var orders: [RestingOrder] = []
  private(set) var last: Snapshot?
  /// What the account's ended orders of the day may have taken, by their side and limit. It stays
  /// taken: who would have got it stands before later orders, or has taken what they would meet.
  private(set) var spent: [Side: [ExactDecimal: Claim]] = [:]

  /// What orders claim of trades and offers.
  struct Claim: Sendable, Hashable {
    /// Of those that reach the limit.
    var own: Int64 = 0
    /// Of all others.
    var filled: Int64 = 0
  }

  init(_ instrument: Instrument) { self.instrument = instrument }

  /// As a checkpoint has it.
  init(
    _ instrument: Instrument, orders: [RestingOrder], last: Snapshot?,
    spent: [Side: [ExactDecimal: Claim]]
  ) {
    self.init(instrument)
    (self.orders, self.last, self.spent) = (orders, last, spent)
  }

  mutating func apply(_ step: Step) -> [Result] {
    switch step {
    case .row(let row): return accept(row)
    case .order(let order):
      orders.append(order)
      return []
    case .cancellation(let id):
      end(id)
      return []
    }
  }

  mutating func end(_ id: Int64) {
    guard let index = orders.firstIndex(where: { $0.order.id == id && !$0.isDone }) else { return }
    // A queue that was left may have given more than is certain.
    if let queue = orders[index].queue { spend(queue, side: orders[index].order.side) }
    orders[index].stage = .done
  }

  private mutating func spend(_ queue: Queue, side: Side) {
    spend(Claim(own: queue.own, filled: queue.filled), at: queue.limit, side: side)
  }

  private mutating func spend(_ claim: Claim, at limit: ExactDecimal, side: Side) {
    var sum = spent[side]?[limit] ?? Claim()
    sum.own += claim.own
    sum.filled += claim.filled
    spent[side, default: [:]][limit] = sum
  }

  /// Whether the row continues the day: later, and not below its totals.
  func continues(_ row: Snapshot) -> Bool { last.map { row.continues($0) } ?? true }

  private mutating func accept(_ row: Snapshot) -> [Result] {
    let before = last.flatMap { $0.stamp.day == row.stamp.day ? $0 : nil }
    if before == nil { spent = [:] }
    let phases = TradingPhase.all(of: instrument, on: row.stamp.day)
    let isExact = Self.hasExactBook(row, phases: phases)
    let auction = Self.auction(from: before, to: row, phases: phases)
    var results: [Result] = []
    for index in orders.indices {
      if orders[index].day < row.stamp.day { orders[index].stage = .done }
      switch orders[index].stage {
      case .done: continue
      case .untriggered:
        guard orders[index].isOpen(to: row), orders[index].isReached(by: row) else { continue }
        orders[index].stage = .waiting
        results.append(.released(orders[index].order.id))
      case .waiting where orders[index].isTooLate(for: row, phases: phases):
        orders[index].stage = .done
        results.append(.cancelled(orders[index].order.id))
      case .waiting:
        guard isExact, orders[index].isOpen(to: row), orders[index].meets(row, phases: phases)
        else { continue }
        enter(at: index, row, auction: auction.only, into: &results)
      case .queued(let queue):
        guard let before else { continue }
        let pair = SnapshotPair(
          before: before, after: row, isBookExact: isExact, auction: auction.only,
          spansAuction: auction.isSpanned)
        advance(at: index, queue, over: pair, into: &results)
      }
    }
    last = row
    return results
  }

  private mutating func advance(
    at index: Int, _ queue: Queue, over pair: SnapshotPair, into results: inout [Result]
  ) {
    var queue = queue
    let order = orders[index].order
    let evidence = queue.advance(over: pair, side: order.side, instrument: instrument)
    results += evidence.map { .fill(order: order.id, $0) }
    orders[index].filled += evidence.lazy.compactMap { FillRules.derive($0) }
      .reduce(0) { $0 + $1.quantity.wholeShares }
    orders[index].stage = queue.left > 0 ? .queued(queue) : .done
    if queue.left == 0 { spend(queue, side: order.side) }
  }

  private mutating func enter(
    at index: Int, _ row: Snapshot, auction: SnapshotPair.Auction?, into results: inout [Result]
  ) {
    let resting = orders[index]
    let (id, side) = (resting.order.id, resting.order.side)
    let ahead = row.opposite(of: side).first.map { claims(at: $0.price, side: side) } ?? 0
    var entry = resting.enter(row, ahead: ahead)
    if var queue = entry.queue {
      queue.yields = claims(at: queue.limit, side: side)
      if let auction { entry.fills += queue.passAuction(auction, at: row.stamp, side: side) }
      entry.queue = queue.left > 0 ? queue : nil
    }
    for evidence in entry.fills {
      guard let fill = FillRules.derive(evidence) else { continue }
      orders[index].filled += fill.quantity.wholeShares
      results.append(.fill(order: id, evidence))
    }
    let claimed = orders[index].filled + (entry.queue?.left ?? 0)
    let limit = entry.queue?.limit ?? resting.order.limit ?? resting.bound
    if let limit { yield(claimed, at: limit, side: side) }
    if let queue = entry.queue {
      orders[index].stage = .queued(queue)
    } else {
      let filled = orders[index].filled
      orders[index].stage = .done
      spend(Claim(own: filled, filled: filled), at: limit ?? .zero, side: side)
      if orders[index].filled < resting.quantity.wholeShares { results.append(.cancelled(id)) }
    }
  }

  /// What other orders of the account have taken of offers up to `price`, or would take first.
  private func claims(at price: ExactDecimal, side: Side) -> Int64 {
    let open = orders.reduce(Int64(0)) { sum, other in
      guard other.order.side == side, let queue = other.queue else { return sum }
      return sum + (queue.reaches(price, side: side) ? queue.own : queue.filled)
    }
    return (spent[side] ?? [:]).reduce(open) { sum, ended in
      sum + (side.reaches(price, from: ended.key) ? ended.value.own : ended.value.filled)
    }
  }

  /// An order at a better price takes what would have come to those behind it.
  private mutating func yield(_ claimed: Int64, at limit: ExactDecimal, side: Side) {
    for index in orders.indices where orders[index].order.side == side {
      guard var queue = orders[index].queue, !queue.reaches(limit, side: side) else { continue }
      queue.yields += claimed
      orders[index].stage = .queued(queue)
    }
  }
}

extension RestingOrder {
  fileprivate func isOpen(to row: Snapshot) -> Bool {
    day == row.stamp.day && Int(row.stamp.secondOfDay) > entersAt
  }

  /// Whether the exchange has met it with a book that nobody saw: at once, in continuous trading,
  /// which is over.
  fileprivate func isTooLate(for row: Snapshot, phases: [TradingPhase]) -> Bool {
    guard order.kind.isMarket || order.timeInForce.isImmediate, isOpen(to: row),
      let end = phases.last(where: { $0.name == .continuous })?.closes
    else { return false }
    return Int(row.stamp.secondOfDay) >= end
  }

  /// Whether orders were matched between its acceptance and the row. A stop that was reached is an
  /// order for continuous trading alone: neither the auction that reached it nor the book behind
  /// that fills it.
  fileprivate func meets(_ row: Snapshot, phases: [TradingPhase]) -> Bool {
    let second = Int(row.stamp.secondOfDay)
    return phases.contains { phase in
      order.kind.isStop
        ? phase.name == .continuous && phase.contains(second)
        : phase.hasMatched(by: second, since: entersAt)
    }
  }
}

// MARK: - Phases

extension OrderWorld {
  /// Whether orders rest in the row's book: while an auction is collected it shows the price that
  /// would be made, on both sides.
  private static func hasExactBook(_ row: Snapshot, phases: [TradingPhase]) -> Bool {
    let second = Int(row.stamp.secondOfDay)
    let phase = phases.first { $0.contains(second) }?.name
    if phase == .openingAuction || phase == .closingAuction || row.trading != .normal {
      return false
    }
    if let bid = row.bids.first, let ask = row.asks.first { return bid.price < ask.price }
    return !row.bids.isEmpty || !row.asks.isEmpty
  }

  /// The auction between two rows: alone, or mixed with other trades.
  private static func auction(
    from before: Snapshot?, to row: Snapshot, phases: [TradingPhase]
  ) -> (only: SnapshotPair.Auction?, isSpanned: Bool) {
    let first = before.map { Int($0.stamp.secondOfDay) } ?? 0
    let second = Int(row.stamp.secondOfDay)
    // A halt ends with an auction, at a price that those had a say in who came meanwhile.
    if before?.trading == .halted { return (nil, true) }
    let spanned = phases.filter { phase in
      (phase.name == .openingAuction || phase.name == .closingAuction)
        && first < phase.closes && phase.closes <= second
    }
    guard let phase = spanned.last else { return (nil, false) }
    let next = phases.first { $0.opens >= phase.closes && $0.name != .afterHours }?.opens ?? .max
    // What traded before a first row is not known, unless nothing can have.
    let isFromItsOpening =
      before.map { $0.volume.isZero || first >= phase.opens } ?? (phase.name == .openingAuction)
    let isAlone = second < next && isFromItsOpening
    let volume = row.volume.wholeShares - (before?.volume.wholeShares ?? 0)
    guard isAlone, volume > 0 else { return (nil, true) }
    return (SnapshotPair.Auction(price: row.last, volume: volume), true)
  }
}
