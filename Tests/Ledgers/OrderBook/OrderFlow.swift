import ExchangeSimulator

/// Seeded orders and cancellations of a whole market in one instrument, driven by the public book
/// alone: whoever replays its events into another book sees the same market act there.
package struct OrderFlow: Sendable {
  package enum Scene: Sendable, CaseIterable {
    /// Sealed at the limit, opened by large sales, sealed again.
    case limitQueue
    /// A spread that moves.
    case twoSided
    /// A wide and empty spread. Again and again somebody sells in its middle, and somebody buys it
    /// with a limit above. A purchase that rests in the middle takes the first of these sales; the
    /// buyer, who then finds nothing, rests above it, takes the second, and so on for ever.
    case chain
  }

  package enum Event: Sendable {
    case place(id: Int64, isBuy: Bool, price: Int64, volume: Int64, rests: Bool)
    case cancel(id: Int64, isBuy: Bool, price: Int64)
  }

  /// As the market is without any watched order.
  package private(set) var book: OrderBook
  private var random: Randomness
  private let scene: Scene
  /// Sides and prices swapped: limit-down instead of limit-up.
  private let isMirrored: Bool
  private var nextID: Int64 = 1
  /// Orders that may still wait; those that are gone are found when they are drawn.
  private var live: [(id: Int64, isBuy: Bool, price: Int64)] = []
  /// Of the two-sided scene: in which direction takers lean, and for how many events.
  private var lean = (buys: Int64(500), events: Int64(0))

  package init(scene: Scene, isMirrored: Bool, prices: ClosedRange<Int64>, seed: UInt64) {
    self.scene = scene
    self.isMirrored = isMirrored
    book = OrderBook(prices: prices)
    random = Randomness(seed: seed)
    warmUp()
  }

  private mutating func warmUp() {
    switch scene {
    case .limitQueue:
      _ = place(isBuy: true, price: top, volume: 100 * random.around(1500))
      for _ in 0..<20 {
        _ = place(isBuy: true, price: top - random.below(6), volume: size())
      }
      _ = place(isBuy: false, price: top, volume: 100 * random.around(10))
    case .twoSided:
      for _ in 0..<60 {
        let distance = 1 + random.below(8)
        _ = place(isBuy: true, price: middle - distance, volume: size())
        _ = place(isBuy: false, price: middle + distance, volume: size())
      }
      _ = place(isBuy: true, price: middle + 1, volume: size())
    case .chain:
      _ = place(isBuy: true, price: middle - 1, volume: 500_000)
      _ = place(isBuy: false, price: middle + Self.chainWidth, volume: 500_000)
      // A sale below, so that the day's extremes leave it open where its volume was traded.
      _ = place(isBuy: false, price: middle - 1, volume: 100, rests: false)
    }
  }

  /// Ticks above the middle.
  private static let chainWidth: Int64 = 10

  /// The next event, which `book` has seen.
  package mutating func next() -> Event {
    switch scene {
    case .limitQueue: nextAtLimit()
    case .twoSided: nextBetween()
    case .chain: nextOfChain()
    }
  }
}

// MARK: - Scenes

extension OrderFlow {
  private mutating func nextAtLimit() -> Event {
    let draw = random.below(1000)
    let isSealed = bestAsk == nil
    if isSealed, draw == 0, random.chance(perMille: 400) {
      // Sold into, whole or nearly.
      let queue = max(volumeAtBest(isBuy: true), 100)
      let volume = queue / 2 + random.below(queue) + 100
      return place(isBuy: false, price: top - random.below(4), volume: volume)
    }
    if !isSealed, draw < 25 {
      return place(isBuy: true, price: top, volume: 100 * random.around(600))
    }
    if draw < 420 { return place(isBuy: true, price: top, volume: size()) }
    if draw < 450 { return place(isBuy: true, price: top - random.below(8), volume: size()) }
    if draw < 700, let cancelled = cancelAny() { return cancelled }
    let depth = random.chance(perMille: 300) ? random.below(5) : 0
    return place(
      isBuy: false, price: top - depth, volume: oddSize(),
      rests: !random.chance(perMille: 100))
  }

  private mutating func nextBetween() -> Event {
    if lean.events == 0 { lean = (300 + random.below(401), 50 + random.below(300)) }
    lean.events -= 1
    let draw = random.below(1000)
    let bid = bestBid ?? min(middle, (bestAsk ?? middle) - 1)
    let ask = bestAsk ?? max(middle, bid + 1)
    if draw < 330, let cancelled = cancelAny() { return cancelled }
    if draw < 650 {
      let isBuy = random.chance(perMille: 500)
      let distance = random.below(7) - 1
      let price = isBuy ? min(bid - distance, ask - 1) : max(ask + distance, bid + 1)
      return place(isBuy: isBuy, price: price, volume: isBuy ? size() : oddSize())
    }
    let isBuy = random.chance(perMille: lean.buys)
    let depth = random.chance(perMille: 250) ? random.below(4) : 0
    return place(
      isBuy: isBuy, price: isBuy ? ask + depth : bid - depth, volume: isBuy ? size() : oddSize(),
      rests: random.chance(perMille: 700))
  }

  private mutating func nextOfChain() -> Event {
    let offered = bestAsk.flatMap { $0 == middle ? volumeAtBest(isBuy: false) : nil } ?? 0
    if offered > 0 {
      return place(isBuy: true, price: middle + Self.chainWidth / 2, volume: offered)
    }
    return place(isBuy: false, price: middle, volume: 100 * (1 + random.below(3)))
  }

  /// Lots, now and then many.
  private mutating func size() -> Int64 {
    100 * random.around(random.chance(perMille: 40) ? 120 : 8)
  }

  /// Sales may be of any number of shares.
  private mutating func oddSize() -> Int64 {
    size() + (random.chance(perMille: 200) ? random.below(100) : 0)
  }

  private mutating func cancelAny() -> Event? {
    while !live.isEmpty {
      // Later orders are cancelled more often.
      let draw = max(random.below(Int64(live.count)), random.below(Int64(live.count)))
      let order = live.remove(at: Int(draw))
      if book.cancel(id: order.id, isBuy: order.isBuy, price: order.price) {
        return .cancel(id: order.id, isBuy: order.isBuy, price: order.price)
      }
    }
    return nil
  }

  private mutating func place(
    isBuy: Bool, price: Int64, volume: Int64, rests: Bool = true
  ) -> Event {
    let clamped = min(max(price, bottom), top)
    let (side, actual) = (isBuy != isMirrored, mirrored(clamped))
    let id = nextID
    nextID += 1
    book.place(id: id, isBuy: side, price: actual, volume: volume, rests: rests)
    if rests { live.append((id, side, actual)) }
    return .place(id: id, isBuy: side, price: actual, volume: volume, rests: rests)
  }
}

// MARK: - The book as a scene sees it

extension OrderFlow {
  private var top: Int64 { book.prices.upperBound }
  private var bottom: Int64 { book.prices.lowerBound }
  /// Where the spread of the two-sided scenes begins.
  package var middle: Int64 { (top + bottom) / 2 }

  private func mirrored(_ price: Int64) -> Int64 { isMirrored ? top + bottom - price : price }

  private var bestBid: Int64? {
    (isMirrored ? book.bestAskPrice : book.bestBidPrice).map { mirrored($0) }
  }

  private var bestAsk: Int64? {
    (isMirrored ? book.bestBidPrice : book.bestAskPrice).map { mirrored($0) }
  }

  private func volumeAtBest(isBuy: Bool) -> Int64 {
    let levels = isBuy != isMirrored ? book.bids(levels: 1) : book.asks(levels: 1)
    return levels.first?.volume ?? 0
  }
}

extension OrderBook {
  package mutating func apply(_ event: OrderFlow.Event) {
    switch event {
    case .place(let id, let isBuy, let price, let volume, let rests):
      place(id: id, isBuy: isBuy, price: price, volume: volume, rests: rests)
    case .cancel(let id, let isBuy, let price): cancel(id: id, isBuy: isBuy, price: price)
    }
  }
}
