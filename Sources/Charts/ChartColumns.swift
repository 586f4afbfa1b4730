/// What is drawn of candles: from one candle a pixel on, each has a column of its own; above that a
/// column holds the highest and the lowest of its candles, the first's open and the last's close.

import Market

struct ChartColumn {
  /// Its number on the axis, not among those drawn.
  let place: Int
  /// Of its first candle.
  let day: TradingDay
  var open: Int64 = 0
  var high: Int64 = 0
  var low: Int64 = 0
  var close: Int64 = 0
  var volume: Int64 = 0
  var flags: CandleFlags = []
  var isRevised = false
  /// Without an adjustment factor a candle has none.
  var hasPrices = false
  /// Of all that its day traded so far.
  var average: Int64?

  var isRising: Bool { close >= open }
}

/// Units of price and of volume, and the mean price of a day so far, by candle.
struct ChartValues {
  let prices: CommonScale
  let volumes: CommonScale
  /// nil where the source sends no turnover, of indexes, and outside of days.
  let averages: [ExactDecimal?]

  init(_ candles: [CandleRecord], others: [ExactDecimal], hasAverages: Bool) {
    averages = hasAverages ? Self.averages(candles) : []
    var values = others
    values.reserveCapacity(candles.count * 4 + others.count)
    for candle in candles {
      guard let open = candle.open, let high = candle.high, let low = candle.low,
        let close = candle.close
      else { continue }
      values += [open, high, low, close]
    }
    prices = CommonScale(of: values)
    volumes = CommonScale(of: candles.lazy.map(\.volume))
  }

  /// Σ price × volume ÷ Σ volume of each day, from its first candle on.
  private static func averages(_ candles: [CandleRecord]) -> [ExactDecimal?] {
    var (money, volume) = (ExactDecimal.zero, ExactDecimal.zero)
    var day: TradingDay?
    return candles.map { candle in
      if candle.tradingDay != day { (money, volume, day) = (.zero, .zero, candle.tradingDay) }
      guard let turnover = candle.tradedMoney, let sum = try? money + turnover,
        let traded = try? volume + candle.volume
      else { return volume.isZero ? nil : try? money.divided(by: volume, scale: averagePlaces) }
      (money, volume) = (sum, traded)
      return try? money.divided(by: volume, scale: averagePlaces)
    }
  }

  /// As the database has them.
  private static let averagePlaces: UInt8 = 4
}

extension CandleRecord {
  /// Its volume at its mean price; nil without both.
  fileprivate var tradedMoney: ExactDecimal? {
    guard let vwap, volume.isPositive else { return nil }
    return (try? vwap * volume) ?? turnover
  }
}

struct ChartColumns {
  /// Of the axis: more than there are to draw where candles are missing.
  let count: Int
  private(set) var drawn: [ChartColumn] = []
  private let slots: Int

  init(_ candles: [CandleRecord], values: ChartValues, axis: TimeAxis, countMax: Int) {
    slots = axis.count
    count = min(axis.count, countMax)
    drawn.reserveCapacity(min(count, candles.count))
    for (index, candle) in candles.enumerated() {
      let place = place(ofSlot: axis.slots[index])
      if drawn.last?.place != place {
        drawn.append(ChartColumn(place: place, day: candle.tradingDay))
      }
      drawn[drawn.count - 1].add(candle, values: values)
      if index < values.averages.count {
        drawn[drawn.count - 1].average = values.averages[index].map(values.prices.units)
      }
    }
  }

  func place(ofSlot slot: Int) -> Int { slot * count / max(slots, 1) }

  /// What the highest bar of volume stands for. An opening auction is a minute with the volume of
  /// an hour, beside which all others would look alike: the rare giants are cut off.
  var volumeMax: Int64 {
    let sorted = drawn.map(\.volume).sorted()
    guard let most = sorted.last else { return 0 }
    let usual = sorted[min(sorted.count * 98 / 100, sorted.count - 1)]
    return usual > 0 ? min(most, usual + usual / 4) : most
  }
}

extension ChartColumn {
  fileprivate mutating func add(_ candle: CandleRecord, values: ChartValues) {
    volume += values.volumes.units(candle.volume)
    flags.formUnion(candle.flags)
    isRevised = isRevised || candle.revision > 0
    guard let open = candle.open, let high = candle.high, let low = candle.low,
      let close = candle.close
    else { return }
    let scale = values.prices
    if !hasPrices {
      self.open = scale.units(open)
      (self.high, self.low, hasPrices) = (scale.units(high), scale.units(low), true)
    }
    self.high = max(self.high, scale.units(high))
    self.low = min(self.low, scale.units(low))
    self.close = scale.units(close)
  }
}
