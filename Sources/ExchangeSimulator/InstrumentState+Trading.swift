import Market

/// The events of one instrument: trades, book changes, auctions, halts. Each is a step of the
/// state; what traded is told to the ledger of truth.

extension InstrumentState {
  /// Some trades within the interval that ends at `second`, then the book they leave behind.
  mutating func trade(_ traits: Traits, index: Int32, at second: Int, into trades: inout [Trade]) {
    let count = traits.behaviour == .liquid ? 1 + random.below(4) : 1 + random.below(2)
    let interval = Grid.tradingInterval(endingAt: second)
    let slot = Int64(interval.count) * 1000 / count
    let start = Int64(interval.lowerBound) * 1000
    for place in 0..<count {
      let millisecond = start + place * slot + 1 + random.below(slot)
      execute(
        nextPrice(traits), size: orderSize(traits), index: index, at: millisecond, into: &trades)
    }
    let isNext = Int(stamp) == second - Grid.periodSeconds
    let keepsStamp = isNext && random.chance(perMille: traits.keptStampsPerMille)
    if !keepsStamp { stamp = Int32(second) }
    quote(traits)
  }

  /// One trade at one price, entered into the running totals and extremes.
  /// - Parameter amount: price × size if nil.
  mutating func execute(
    _ price: Int64, size: Int64, amount: Int64? = nil, index: Int32, at millisecond: Int64,
    into trades: inout [Trade]
  ) {
    let amount = amount ?? price * size
    if open == 0 {
      open = price
      high = price
      low = price
    }
    last = price
    high = max(high, price)
    low = min(low, price)
    volume += size
    turnover += amount
    trades.append(
      Trade(
        instrument: index, millisecond: Int32(millisecond), price: price, size: size,
        amount: amount, isAfterHours: false))
  }

  mutating func orderSize(_ traits: Traits) -> Int64 {
    traits.order.minimum + traits.order.step * random.below(2 * traits.pace.sizeSteps)
  }

  /// A random walk of a few ticks, pulled back when it strays far from the previous close.
  private mutating func nextPrice(_ traits: Traits) -> Int64 {
    switch traits.behaviour {
    case .lockedLimitUp: return traits.limits.up
    case .lockedLimitDown: return traits.limits.down
    default: break
    }
    let stride = max(traits.tick, traits.onTick(reference / 4000))
    var move = (random.below(5) - 2) * stride
    let center = traits.center > 0 ? traits.center : reference
    let strayed = anchor - center
    if abs(strayed) > center / 16, random.chance(perMille: 300) {
      move = strayed > 0 ? -stride : stride
    }
    return traits.clamped(anchor + move)
  }

  /// The book around the last price. At a limit one side is empty.
  mutating func quote(_ traits: Traits) {
    book.kind = .continuous
    book.seed = random.next()
    let price = anchor
    if traits.limits.up > 0, price == traits.limits.up {
      (book.bid, book.ask) = (price, 0)
    } else if traits.limits.up > 0, price == traits.limits.down {
      (book.bid, book.ask) = (0, price)
    } else {
      book.bid = price - traits.tick * random.below(2)
      book.ask = book.bid + traits.tick * (1 + random.below(2))
      if traits.limits.up > 0 { book.ask = min(book.ask, traits.limits.up) }
    }
  }

  /// Orders came and went, nothing traded.
  mutating func moveBook(_ traits: Traits, at second: Int) {
    stamp = Int32(second)
    quote(traits)
  }
}

/// Call auctions.
extension InstrumentState {
  /// More orders for the auction: the virtual match moves.
  mutating func collectAuctionOrders(_ traits: Traits, at second: Int) {
    stamp = Int32(second)
    book.kind = .auction
    book.matched += orderSize(traits) * (1 + random.below(4))
    book.remainder = (random.below(9) - 4) * traits.order.minimum
    let price: Int64
    switch traits.behaviour {
    case .lockedLimitUp:
      price = traits.limits.up
      book.remainder = traits.order.minimum * (1000 + random.below(100_000))
    case .lockedLimitDown:
      price = traits.limits.down
      book.remainder = -traits.order.minimum * (1000 + random.below(100_000))
    default:
      let first = traits.center > 0 && last == 0 ? traits.center : anchor
      let center = book.bid > 0 ? book.bid : first
      let stride = max(traits.tick, traits.onTick(reference / 1000))
      let jump = traits.behaviour == .newListing && last == 0 ? 20 * stride : stride
      price = traits.clamped(center + traits.onTick(jump) * (random.below(5) - 2))
    }
    (book.bid, book.ask) = (price, price)
  }

  /// Matches what the auction collected, if anything crossed, and leaves a continuous book.
  mutating func matchAuction(
    _ traits: Traits, index: Int32, at second: Int, millisecond: Int, into trades: inout [Trade]
  ) {
    if book.matched > 0 {
      execute(book.bid, size: book.matched, index: index, at: Int64(millisecond), into: &trades)
    }
    book.matched = 0
    book.remainder = 0
    stamp = Int32(second)
    quote(traits)
  }
}

/// The indexes: a level that walks, and volumes of a whole market.
extension InstrumentState {
  /// Lots and yuan of one publication, whole: the Shanghai line shows nothing finer.
  private static let lotsPerStep: Int64 = 120_000

  mutating func moveIndex(
    _ traits: Traits, index: Int32, at second: Int, millisecond: Int, into trades: inout [Trade]
  ) {
    let move = (random.below(2001) - 1000) * reference / 4_000_000
    let price = max(anchor + move, 1)
    let size = 100 * random.around(InstrumentState.lotsPerStep)
    let amount = size * (9000 + random.below(6000)) / 1000 * 1000
    execute(
      price, size: size, amount: amount, index: index, at: Int64(millisecond), into: &trades)
    stamp = Int32(second)
  }
}

/// The edges of the day.
extension InstrumentState {
  /// 09:00: today's date, the previous close rolled, everything else zero.
  mutating func reset(_ traits: Traits) {
    let kept = random
    self = InstrumentState(random: kept)
    stamp = Int32(Grid.dayReset)
    switch traits.behaviour {
    case .delisted: status = .delisted
    case .notListed: status = .notListed
    case .haltedAllDay: status = .haltedAllDay
    case .haltedAtOpening: status = .haltedOneHour
    default: break
    }
    if status == .delisted || status == .notListed { return }
    reference = traits.previousClose
    // SH index: last ≈ previous close with open 0; SZ index: last 0
    // (docs/sources/sina.md#the-course-of-a-day).
    if traits.isShanghaiIndex { last = reference }
  }

  mutating func halt(_ second: Int) {
    stamp = Int32(second)
    status = .haltedTemporarily
    book.kind = .none
    (book.bid, book.ask) = (0, 0)
  }

  mutating func resume(_ traits: Traits, at second: Int) {
    status = .normal
    moveBook(traits, at: second)
  }

  /// A fill at the closing price, outside the day's totals.
  mutating func tradeAfterHours(
    _ traits: Traits, index: Int32, at second: Int, into trades: inout [Trade]
  ) {
    let size = traits.order.minimum * random.around(8)
    let amount = last * size
    let start = Int64(second - Grid.periodSeconds) * 1000
    afterHours.volume += size
    afterHours.turnover += amount
    afterHours.isShown = true
    stamp = Int32(second)
    trades.append(
      Trade(
        instrument: index,
        millisecond: Int32(start + 1 + random.below(Int64(Grid.periodSeconds) * 1000)),
        price: last, size: size, amount: amount, isAfterHours: true))
  }

  /// Yesterday's line, shown until 09:00.
  mutating func showPreviousSession(_ traits: Traits) {
    isPreviousSession = true
    stamp = Int32(traits.exchange == .shenzhen ? Grid.shenzhenClose : Grid.shanghaiClose)
    if traits.behaviour == .delisted { status = .delisted }
    if traits.behaviour == .notListed || traits.behaviour == .newListing { status = .notListed }
    if status != .normal { return }
    last = traits.previousClose
    reference = traits.onTick(last - last * (random.below(9) - 4) / 200)
    open = reference
    high = max(last, open) + traits.tick * random.below(5)
    low = max(min(last, open) - traits.tick * random.below(5), traits.tick)
    volume = 100 * traits.order.minimum * random.around(50)
    turnover = traits.isIndex ? volume * 10_000 : volume * last
    book.kind = traits.isIndex ? .none : .continuous
    book.seed = random.next()
    if !traits.isIndex { (book.bid, book.ask) = (last, last + traits.tick) }
  }
}
