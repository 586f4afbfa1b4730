import Market

/// The prices that rows must reach to concern open orders. A row that reaches none of them leaves
/// the orders as they are: it costs a few comparisons, however many rest.
struct PriceLadder: Sendable {
  /// Of the orders of one side; each is the price that the market comes to first, nil if there is
  /// none.
  private struct Rungs {
    /// Offers there or beyond it fill an order.
    var limit: ExactDecimal?
    /// Trades there may have filled an order that is not counted as possibly filled whole.
    var unfilled: ExactDecimal?
    var stop: ExactDecimal?
  }

  private var buys = Rungs()
  private var sells = Rungs()
  /// Whether something waits for each row.
  private(set) var isBusy = false

  static let busy: PriceLadder = {
    var ladder = PriceLadder()
    ladder.isBusy = true
    return ladder
  }()

  mutating func add(_ order: RestingOrder) {
    let side = order.order.side
    switch order.stage {
    case .done: break
    case .waiting: isBusy = true
    case .untriggered: add(\.stop, order.order.stop, of: side) { side.reaches($0, from: $1) }
    case .queued(let queue):
      // Its place in the queue is counted with each row.
      if queue.isAtLimit { isBusy = true }
      add(\.limit, queue.limit, of: side) { side.reaches($1, from: $0) }
      if queue.possibleVolume < queue.own {
        add(\.unfilled, queue.limit, of: side) { side.reaches($1, from: $0) }
      }
    }
  }

  mutating func add(_ other: PriceLadder) {
    if other.isBusy { isBusy = true }
    for side in Side.allCases {
      let rungs = side == .buy ? other.buys : other.sells
      add(\.limit, rungs.limit, of: side) { side.reaches($1, from: $0) }
      add(\.unfilled, rungs.unfilled, of: side) { side.reaches($1, from: $0) }
      add(\.stop, rungs.stop, of: side) { side.reaches($0, from: $1) }
    }
  }

  private mutating func add(
    _ rung: WritableKeyPath<Rungs, ExactDecimal?>, _ price: ExactDecimal?, of side: Side,
    isFirst: (ExactDecimal, ExactDecimal) -> Bool
  ) {
    guard let price else { return }
    let rungs: WritableKeyPath<PriceLadder, Rungs> = side == .buy ? \.buys : \.sells
    if let old = self[keyPath: rungs][keyPath: rung], isFirst(old, price) { return }
    self[keyPath: rungs][keyPath: rung] = price
  }

  /// - Parameter hasTraded: whether the day's volume grew since the row before.
  func concerns(_ row: Snapshot, hasTraded: Bool) -> Bool {
    if isBusy { return true }
    if let limit = buys.limit, let best = row.asks.first, best.price <= limit { return true }
    if let limit = sells.limit, let best = row.bids.first, best.price >= limit { return true }
    if let stop = buys.stop, row.last >= stop { return true }
    if let stop = sells.stop, row.last <= stop { return true }
    guard hasTraded else { return false }
    if let limit = buys.unfilled, row.low <= limit { return true }
    if let limit = sells.unfilled, row.high >= limit { return true }
    return false
  }

  /// Whether orders rest in the book, which an auction may fill at any price.
  var hasQueues: Bool { buys.limit != nil || sells.limit != nil }
}
