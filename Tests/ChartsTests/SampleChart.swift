import Market

@testable import Charts

/// Charts that are always the same: a random walk with a seed.
struct SampleChart {
  static let day = TradingDay.first(of: 2026).advanced(by: 186)  // 2026-07-06, a Monday
  static let name = "贵州茅台"
  private var random: SplitMix64
  /// In hundredths.
  private var price: Int64

  init(seed: UInt64 = 1, price: Int64 = 1_769_00) {
    random = SplitMix64(seed: seed)
    self.price = price
  }

  private mutating func number(_ range: ClosedRange<Int64>) -> Int64 {
    range.lowerBound + Int64(random.next() % UInt64(range.upperBound - range.lowerBound + 1))
  }

  mutating func candle(
    on day: TradingDay, openedAt: Timestamp, minutes: Int64 = 1, swing: Int64 = 60,
    scale: UInt8 = 3
  ) -> CandleRecord {
    let open = price
    let close = max(open + number(-swing...swing), 1)
    price = close
    let high = max(open, close) + number(0...swing / 2)
    let low = max(min(open, close) - number(0...swing / 2), 1)
    let volume = 100 * number(1...400)
    func decimal(_ hundredths: Int64) -> ExactDecimal {
      ExactDecimal(units: scale == 3 ? hundredths * 10 : hundredths, scale: scale)
    }
    return CandleRecord(
      openedAt: openedAt, closedAt: openedAt.adding(seconds: minutes * 60), tradingDay: day,
      open: decimal(open), high: decimal(high), low: decimal(low), close: decimal(close),
      volume: ExactDecimal(volume),
      turnover: ExactDecimal(units: volume * (open + close) / 2, scale: 2), trades: nil,
      vwap: ExactDecimal(units: (open + close) * 50, scale: 4), flags: [], revision: 0,
      knownFrom: openedAt, source: "sample")
  }

  /// Minutes of Shanghai's session, by their numbers.
  mutating func minutes(
    _ range: some Sequence<Int> = 0..<240, on day: TradingDay = SampleChart.day,
    length: Int = 1
  ) -> [CandleRecord] {
    range.map { minute in
      let opened = Timestamp(
        day: day, secondOfDay: TradingHours.mainlandChina.opening(ofMinute: minute * length))
      return candle(on: day, openedAt: opened, minutes: Int64(length))
    }
  }

  /// Candles of days, weeks or months, one each `step` days; weekends have none.
  mutating func days(_ count: Int, step: Int = 1, from first: TradingDay) -> [CandleRecord] {
    var candles: [CandleRecord] = []
    var day = first
    while candles.count < count {
      if !day.isWeekend {
        let opened = Timestamp(day: day, secondOfDay: 34_200)
        candles.append(candle(on: day, openedAt: opened, minutes: 330, swing: price / 30 + 2))
      }
      day = day.advanced(by: step)
    }
    return candles
  }

  static func chart(
    _ candles: [CandleRecord], timeframe: Timeframe = .minute1, symbol: String = "sh600519",
    zone: MarketZone = .shanghai
  ) -> SVGChart {
    guard let symbol = Symbol(symbol) else { preconditionFailure("no symbol") }
    var chart = SVGChart(symbol: symbol, timeframe: timeframe, zone: zone, candles: candles)
    chart.name = zone == .shanghai ? name : "Apple Inc."
    return chart
  }
}
