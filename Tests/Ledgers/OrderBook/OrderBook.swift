/// A continuous double auction: price, then time, as an exchange keeps it. Every order is in it,
/// the hidden ones behind the five levels, too. Prices are ticks, volumes shares.
///
/// The truth that models of fills are judged by: an order in a copy of the book gets exactly what
/// it would have got.
package struct OrderBook: Sendable {
  package struct Level: Sendable, Equatable {
    package let price: Int64
    package let volume: Int64
  }

  /// One price: orders of one side in the order of their arrival.
  private struct Queue: Sendable {
    var orders: [(id: Int64, left: Int64)] = []
    /// Those before it have gone.
    var head = 0
    var volume: Int64 = 0

    /// Fills the order that came first.
    mutating func takeFirst(atMost size: Int64) -> (id: Int64, size: Int64) {
      let taken = min(orders[head].left, size)
      let id = orders[head].id
      orders[head].left -= taken
      volume -= taken
      if orders[head].left == 0 { head += 1 }
      if head > 32, head * 2 > orders.count {
        orders.removeFirst(head)
        head = 0
      }
      return (id, taken)
    }
  }

  /// The legal prices of the day.
  package let prices: ClosedRange<Int64>
  private var bids: [Queue]
  private var asks: [Queue]
  /// The best prices, as indexes; -1 and `bids.count` where a side is empty.
  private var bestBid: Int
  private var bestAsk: Int
  /// What orders with negative ids were filled: −1 first.
  private var watchedVolumes: [Int64] = []

  /// The day's totals and extremes.
  package private(set) var volume: Int64 = 0
  package private(set) var turnover: Int64 = 0
  package private(set) var last: Int64 = 0
  package private(set) var high: Int64 = 0
  package private(set) var low: Int64 = 0

  package init(prices: ClosedRange<Int64>) {
    self.prices = prices
    bids = Array(repeating: Queue(), count: prices.count)
    asks = bids
    bestBid = -1
    bestAsk = prices.count
  }

  /// What the watched order -1, -2, … was filled.
  package func filled(_ id: Int64) -> Int64 {
    watchedVolumes.indices.contains(Int(-id) - 1) ? watchedVolumes[Int(-id) - 1] : 0
  }

  private mutating func record(_ id: Int64, filled size: Int64) {
    while watchedVolumes.count < Int(-id) { watchedVolumes.append(0) }
    watchedVolumes[Int(-id) - 1] += size
  }

  /// Trades what it can at the prices of those who wait; the rest waits, unless it must not.
  /// - Parameter id: negative for one that is watched.
  package mutating func place(
    id: Int64, isBuy: Bool, price: Int64, volume size: Int64, rests: Bool = true
  ) {
    precondition(prices.contains(price) && size > 0, "an order outside the day's limits")
    let limit = Int(price - prices.lowerBound)
    var left = size
    while left > 0 {
      let best = isBuy ? bestAsk : bestBid
      guard isBuy ? best <= limit : best >= limit else { break }
      left = trade(at: best, isBuy: isBuy, taker: id, left: left)
    }
    guard left > 0, rests else { return }
    if isBuy {
      bids[limit].orders.append((id, left))
      bids[limit].volume += left
      bestBid = max(bestBid, limit)
    } else {
      asks[limit].orders.append((id, left))
      asks[limit].volume += left
      bestAsk = min(bestAsk, limit)
    }
  }

  /// - Returns: whether the order was there.
  @discardableResult
  package mutating func cancel(id: Int64, isBuy: Bool, price: Int64) -> Bool {
    let index = Int(price - prices.lowerBound)
    let removed = isBuy ? Self.remove(id, from: &bids[index]) : Self.remove(id, from: &asks[index])
    moveBest()
    return removed
  }

  private static func remove(_ id: Int64, from queue: inout Queue) -> Bool {
    guard let place = queue.orders[queue.head...].firstIndex(where: { $0.id == id }) else {
      return false
    }
    queue.volume -= queue.orders[place].left
    queue.orders.remove(at: place)
    return true
  }

  /// - Returns: what is left of the taker.
  private mutating func trade(at index: Int, isBuy: Bool, taker: Int64, left: Int64) -> Int64 {
    let maker: Int64
    let size: Int64
    if isBuy {
      (maker, size) = asks[index].takeFirst(atMost: left)
    } else {
      (maker, size) = bids[index].takeFirst(atMost: left)
    }
    moveBest()
    let price = prices.lowerBound + Int64(index)
    if maker < 0 { record(maker, filled: size) }
    if taker < 0 { record(taker, filled: size) }
    volume += size
    turnover += size * price
    last = price
    high = max(high, price)
    low = low == 0 ? price : min(low, price)
    return left - size
  }

  private mutating func moveBest() {
    while bestBid >= 0, bids[bestBid].volume == 0 { bestBid -= 1 }
    while bestAsk < asks.count, asks[bestAsk].volume == 0 { bestAsk += 1 }
  }
}

// MARK: - What it shows

extension OrderBook {
  /// The best prices first.
  package func bids(levels: Int) -> [Level] {
    guard bestBid >= 0 else { return [] }
    return self.levels(at: stride(from: bestBid, through: 0, by: -1), of: bids, countMax: levels)
  }

  package func asks(levels: Int) -> [Level] {
    guard bestAsk < asks.count else { return [] }
    return self.levels(at: stride(from: bestAsk, to: asks.count, by: 1), of: asks, countMax: levels)
  }

  private func levels(
    at indexes: some Sequence<Int>, of queues: [Queue], countMax: Int
  ) -> [Level] {
    var levels: [Level] = []
    for index in indexes where queues[index].volume > 0 {
      levels.append(
        Level(price: prices.lowerBound + Int64(index), volume: queues[index].volume))
      if levels.count == countMax { break }
    }
    return levels
  }

  /// nil where a side is empty.
  package var bestBidPrice: Int64? { bestBid < 0 ? nil : prices.lowerBound + Int64(bestBid) }
  package var bestAskPrice: Int64? {
    bestAsk == asks.count ? nil : prices.lowerBound + Int64(bestAsk)
  }
}
