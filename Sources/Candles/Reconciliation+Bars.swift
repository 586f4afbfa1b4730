import Market

/// The delivered bars of one day, by minute, and how a span of minutes is filled from them.

/// The bars of a day, at most one a minute. Sina's 238 leave out the closing auction's first two
/// minutes, whose trades are in the bar that ends 15:00; a bar that ends 09:30 is the opening
/// auction's.
struct BarDay: Sendable {
  private(set) var minutes: [Candle?]
  /// When orders gather and nothing trades: 14:57–14:59 on the mainland.
  let auctionMinutes: Range<Int>

  init(_ bars: [Candle], hours: TradingHours) {
    minutes = [Candle?](repeating: nil, count: hours.minutesPerDay)
    auctionMinutes = hours.silentMinutes
    var stamps: [Timestamp: Candle] = [:]
    for bar in bars { stamps[bar.closedAt] = bar }
    for bar in stamps.values.sorted(by: { $0.closedAt < $1.closedAt }) {
      let end = hours.clock.second(of: bar.closedAt, on: bar.tradingDay)
      if end > hours.closes { continue }
      fold(bar, into: hours.minute(of: end))
    }
  }

  /// Two bars meet in a minute where one is an auction's.
  private mutating func fold(_ bar: Candle, into minute: Int) {
    guard let earlier = minutes[minute], earlier.volume.isPositive else {
      minutes[minute] = bar
      return
    }
    guard bar.volume.isPositive else { return }
    var both = bar
    both.open = earlier.open
    both.high = max(earlier.high, bar.high)
    both.low = min(earlier.low, bar.low)
    // Volumes that do not add up to 64 bits add up to nothing stored either.
    both.volume = (try? earlier.volume + bar.volume) ?? bar.volume
    both.turnover = earlier.turnover.flatMap { money in
      bar.turnover.flatMap { try? $0 + money }
    }
    minutes[minute] = both
  }

  var wholeDay: ClosedRange<Int> { 0...minutes.count - 1 }

  var isEmpty: Bool { minutes.allSatisfy { $0 == nil } }

  /// Every minute of the day but those that have no bar by nature.
  var isComplete: Bool {
    minutes.indices.allSatisfy { minutes[$0] != nil || auctionMinutes.contains($0) }
  }

  /// Whether there are bars on both sides, so that an absent one means that nothing traded.
  func reach(_ span: ClosedRange<Int>) -> Bool {
    guard let first = minutes.firstIndex(where: { $0 != nil }),
      let last = minutes.lastIndex(where: { $0 != nil })
    else { return false }
    return first <= span.lowerBound && last >= span.upperBound
  }

  /// No money for shares that changed hands is none told.
  func hasTurnover(in span: ClosedRange<Int>) -> Bool {
    minutes[span].allSatisfy { bar in
      guard let bar, bar.volume.isPositive else { return true }
      return bar.turnover?.isPositive == true
    }
  }
}

extension Reconciliation {
  /// The minutes of a span, as the bars have them.
  struct Filling: Sendable {
    var candles: [(minute: Int, candle: Candle)] = []
    /// The part of the span's money that no minute got.
    var turnoverLeft = ExactDecimal.zero
  }

  /// nil if the bars do not add up to `target`.
  func filling(
    of span: ClosedRange<Int>, target: Totals
  ) throws(ExactDecimalError) -> Filling? {
    var filling = Filling()
    var price = priceBefore(span.lowerBound)
    for minute in span {
      guard let candle = candidate(minute, price: price) else { continue }
      price = candle.close
      filling.candles.append((minute, candle))
    }
    let sum = try Totals.of(filling.candles.lazy.map { Optional($0.candle) })
    if sum.volume != target.volume { return nil }
    if !bars.hasTurnover(in: span) { return try withoutTurnover(filling, target: target.turnover) }
    if sum.turnover == target.turnover { return filling }
    return try levelled(filling, to: target.turnover)
  }

  /// One minute as the bars have it, in our digits where they are the finer ones; nil where neither
  /// side knows anything.
  private func candidate(_ minute: Int, price: ExactDecimal?) -> Candle? {
    guard var candle = barCandle(minute, price: price) else { return nil }
    if let old = stored[minute], old.isFiner(than: candle) { candle.takePrices(of: old) }
    return candle
  }

  private func barCandle(_ minute: Int, price: ExactDecimal?) -> Candle? {
    let old = stored[minute]
    if let bar = bars.minutes[minute], bar.volume.isPositive {
      var candle = bar
      candle.openedAt = opening(of: minute)
      candle.closedAt = candle.openedAt.adding(seconds: 60)
      candle.flags = bar.flags.intersection(.outsideRange)
      if bar.turnover?.isPositive != true { candle.turnover = nil }
      return candle
    }
    let barClose = bars.minutes[minute].map(\.close).flatMap { $0.isPositive ? $0 : nil }
    let untraded = old.flatMap { $0.volume.isZero ? $0.close : nil }
    guard let flat = barClose ?? price ?? untraded ?? old?.open else { return nil }
    return self.flat(minute, at: flat)
  }

  private func flat(_ minute: Int, at price: ExactDecimal) -> Candle {
    let openedAt = opening(of: minute)
    return Candle(
      symbol: symbol, timeframe: .minute1, tradingDay: day, openedAt: openedAt,
      closedAt: openedAt.adding(seconds: 60), open: price, high: price, low: price, close: price,
      volume: .zero, turnover: .zero, flags: .noTrade, source: source)
  }

  func opening(of minute: Int) -> Timestamp {
    hours.moment(on: day, secondOfDay: hours.opening(ofMinute: minute))
  }

  private func priceBefore(_ minute: Int) -> ExactDecimal? {
    for earlier in (0..<minute).reversed() {
      if let bar = bars.minutes[earlier], bar.close.isPositive { return bar.close }
      if let candle = stored[earlier] { return candle.close }
    }
    return nil
  }
}

extension Candle {
  /// How many decimals the prices of bars have (docs/sources/sina.md#k-lines); quotes of Shanghai's
  /// indexes have four.
  private static let barPlaces: UInt8 = 3

  /// Whether it is the same minute, before it was rounded.
  fileprivate func isFiner(than bar: Candle) -> Bool {
    func isFiner(_ ours: ExactDecimal, than theirs: ExactDecimal) -> Bool {
      theirs.scale >= Self.barPlaces && ours.rounded(places: theirs.scale) == theirs
    }
    return volume == bar.volume && isFiner(open, than: bar.open) && isFiner(high, than: bar.high)
      && isFiner(low, than: bar.low) && isFiner(close, than: bar.close)
  }

  fileprivate mutating func takePrices(of candle: Candle) {
    open = candle.open
    high = candle.high
    low = candle.low
    close = candle.close
  }
}

// MARK: - Money

extension Reconciliation {
  /// Two fen for 238 roundings to four places, beside the millionth.
  private static let turnoverNoise = ExactDecimal(units: 2, scale: 2)

  /// Our money where we saw the same volume.
  private func keepingOurTurnover(_ filling: Filling) -> (filling: Filling, taken: [Int]) {
    var filling = filling
    var taken: [Int] = []
    for place in filling.candles.indices {
      let old = stored[filling.candles[place].minute]
      if let old, let money = old.turnover, old.volume == filling.candles[place].candle.volume {
        filling.candles[place].candle.turnover = money
      } else if filling.candles[place].candle.volume.isPositive {
        taken.append(place)
      }
    }
    return (filling, taken)
  }

  func isNoise(
    _ difference: ExactDecimal, in money: ExactDecimal
  ) throws(ExactDecimalError) -> Bool {
    let size = difference.isNegative ? try ExactDecimal.zero - difference : difference
    let millionth = try money.divided(by: ExactDecimal(1_000_000), scale: 3)
    return size <= (try millionth + Self.turnoverNoise)
  }

  private func levelled(
    _ filling: Filling, to target: ExactDecimal
  ) throws(ExactDecimalError) -> Filling? {
    let barTurnover = try Totals.of(filling.candles.lazy.map { Optional($0.candle) }).turnover
    guard try isNoise(try target - barTurnover, in: target) else { return nil }
    var (filling, taken) = keepingOurTurnover(filling)
    let sum = try Totals.of(filling.candles.lazy.map { Optional($0.candle) }).turnover
    let missing = try target - sum
    if missing.isZero { return filling }
    let money = filling.candles.map { $0.candle.turnover ?? .zero }
    guard try isNoise(missing, in: target), let place = taken.max(by: { money[$0] < money[$1] })
    else { return nil }
    let moved = try money[place] + missing
    if moved.isNegative { return nil }
    filling.candles[place].candle.turnover = moved
    return filling
  }

  private func withoutTurnover(
    _ filling: Filling, target: ExactDecimal
  ) throws(ExactDecimalError) -> Filling? {
    var (filling, taken) = keepingOurTurnover(filling)
    for place in taken { filling.candles[place].candle.turnover = nil }
    let sum = try Totals.of(filling.candles.lazy.map { Optional($0.candle) }).turnover
    filling.turnoverLeft = try target - sum
    return filling.turnoverLeft.isNegative ? nil : filling
  }
}
