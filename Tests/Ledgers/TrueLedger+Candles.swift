import ExchangeSimulator
import Market
import TestExchange

/// The truth against candles that claim all of it: what a day must be once its gaps are repaired.

extension TrueLedger {
  /// Prices, volume and turnover of every final minute candle of this day against what really
  /// traded; empty if all are equal and none that traded is missing.
  ///
  /// A minute without a trade may have no candle; if it has one, it is flat at the last price. The
  /// K-line gives an index of four decimals with three: such a price may be rounded.
  /// - Parameter wanted: whose candles claim it; nil is all.
  package func repairDifferences(candles: [Candle], of wanted: Set<Symbol>? = nil) -> [String] {
    var differences = Differences()
    let isWanted = symbols.map { wanted?.contains($0) ?? true }
    var missing = Set(
      minutes.indices.filter { cell in
        minutes[cell].volume > 0 && isWanted[cell / TrueLedger.minutesPerDay]
      })
    let places = Dictionary(uniqueKeysWithValues: symbols.enumerated().map { ($1, $0) })
    for candle in candles
    where candle.timeframe == .minute1 && candle.tradingDay == day
      && wanted?.contains(candle.symbol) ?? true
    {
      guard let place = places[candle.symbol],
        let minute = Calculation.minute(openingAt: candle.openedAt.shanghaiSecondOfDay)
      else {
        differences.add("\(candle.symbol) \(candle.openedAt): no minute of this market")
        continue
      }
      missing.remove(place * TrueLedger.minutesPerDay + minute)
      let truth = shown(place, minute)
      let wrong = wrongParts(of: candle, truth, scale: scales[place])
      if !wrong.isEmpty {
        differences.add("\(candle.symbol) \(candle.openedAt): " + wrong.joined(separator: "; "))
      }
    }
    for cell in missing.sorted() {
      let (place, minute) = cell.quotientAndRemainder(dividingBy: TrueLedger.minutesPerDay)
      let opening = Timestamp(day: day, secondOfDay: Grid.opening(ofMinute: minute))
      differences.add("\(symbols[place]) \(opening): \(minutes[cell].volume) traded, no candle")
    }
    return differences.report
  }

  /// The minute as a candle shows it: flat at the last price if nothing traded.
  private func shown(_ place: Int, _ minute: Int) -> Minute {
    let day = minutes(at: place)
    let start = day.startIndex
    if day[start + minute].volume > 0 { return day[start + minute] }
    let last = day[..<(start + minute)].last { $0.volume > 0 }?.close ?? references[place]
    return Minute(open: last, high: last, low: last, close: last)
  }

  private func wrongParts(of candle: Candle, _ truth: Minute, scale: UInt8) -> [String] {
    var wrong: [String] = []
    func compare(_ name: String, _ found: ExactDecimal, _ units: Int64) {
      let traded = ExactDecimal(units: units, scale: scale)
      if found == traded || found == traded.rounded(places: KlineRow.places) { return }
      wrong.append("\(name) \(found), in truth \(traded)")
    }
    compare("open", candle.open, truth.open)
    compare("high", candle.high, truth.high)
    compare("low", candle.low, truth.low)
    compare("close", candle.close, truth.close)
    if candle.volume != ExactDecimal(truth.volume) {
      wrong.append("volume \(candle.volume), in truth \(truth.volume)")
    }
    let turnover = ExactDecimal(units: truth.turnover, scale: 3)
    if candle.turnover != turnover {
      wrong.append("turnover \(candle.turnover?.description ?? "none"), in truth \(turnover)")
    }
    return wrong
  }
}

extension SimulatedHistory {
  /// What Sina's K-line holds of an instrument at `moment`, newest `count` bars, ascending: the
  /// truth to judge a backfill by. Prices are exact, without the K-line's rounding; turnover is nil
  /// for days, as there; empty for a symbol nobody knows.
  package mutating func candles(
    of symbol: Symbol, _ timeframe: Timeframe, at moment: Timestamp, count: Int = Int.max
  ) -> [Candle] {
    let market = morning(0)
    guard let place = market.place(of: symbol).map(Int.init) else { return [] }
    let scale = market.traits[place].scale
    return bars(of: place, timeframe: timeframe, at: moment, count: count).map { bar in
      Candle(bar, symbol, timeframe, scale: scale)
    }
  }
}

extension Candle {
  fileprivate init(_ bar: HistoryBar, _ symbol: Symbol, _ timeframe: Timeframe, scale: UInt8) {
    let opening: Timestamp
    switch timeframe {
    case .day1: opening = Timestamp(day: bar.day, secondOfDay: Grid.morningOpen)
    default:
      let end = bar.end ?? Grid.shanghaiClose
      opening = Timestamp(day: bar.day, secondOfDay: end - 60 * Int(timeframe.rawValue))
    }
    let price = { ExactDecimal(units: $0, scale: scale) }
    self.init(
      symbol: symbol, timeframe: timeframe, tradingDay: bar.day, openedAt: opening,
      closedAt: Timestamp(day: bar.day, secondOfDay: bar.end ?? Grid.shanghaiClose),
      open: price(bar.sums.open), high: price(bar.sums.high), low: price(bar.sums.low),
      close: price(bar.sums.close), volume: ExactDecimal(bar.sums.volume),
      turnover: bar.end == nil ? nil : ExactDecimal(units: bar.sums.turnover, scale: 3),
      flags: bar.sums.volume == 0 ? .noTrade : [], source: .live)
  }
}
