import Foundation
import Market
import Testing

@testable import Charts

@Suite struct ChartTests {
  @Test func `a day of 240 candles takes 20 kB at most`() {
    var sample = SampleChart()
    #expect(SampleChart.chart(sample.minutes()).svg().count <= 20_000)
  }

  @Test func `no chart takes more than 60 kB, whatever is in it`() throws {
    var sample = SampleChart()
    var chart = SampleChart.chart(
      sample.days(10_000, from: .first(of: 1_990)), timeframe: .day1)
    for index in chart.candles.indices {
      chart.candles[index].flags = [.partial, .extremeAmbiguous]
      chart.candles[index].revision = 1
    }
    chart.gaps = stride(from: 0, to: 10_000, by: 10).map { index in
      let candle = chart.candles[index]
      return Gap(
        symbol: chart.symbol, tradingDay: candle.tradingDay, from: candle.openedAt,
        to: candle.closedAt, volume: .zero, turnover: .zero, cause: .outage)
    }
    for (width, height) in [(800, 400), (4_000, 4_000)] {
      (chart.style.width, chart.style.height) = (width, height)
      let svg = chart.svg()
      #expect(svg.count <= SVGChart.bytesMax)
      // What is dropped is detail, not candles.
      #expect(try DrawnChart(svg).bars("u").count > 20)
    }
  }

  /// Each candle is found where its values say, computed with other arithmetic.
  @Test(arguments: 0..<20) func `candles stand where their prices say`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var sample = SampleChart(seed: seed, price: Int64(random.next() % 300_000) + 200)
    let minutes = (0..<240).filter { _ in random.next() % 4 > 0 }
    var chart = SampleChart.chart(sample.minutes(minutes))
    chart.style.width = 800 + Int(random.next() % 900)
    chart.style.height = 200 + Int(random.next() % 900)
    let drawn = try DrawnChart(chart.svg())
    let (low, high, top, bottom) = try drawn.scale()
    func y(_ price: ExactDecimal?) throws -> Int {
      let value = try #require(price.flatMap { Decimal(string: $0.description) })
      var exact = Decimal(top) + (high - value) / (high - low) * Decimal(bottom - top)
      var whole = Decimal()
      NSDecimalRound(&whole, &exact, 0, .plain)
      return NSDecimalNumber(decimal: whole).intValue
    }
    var bodies = (drawn.bars("u") + drawn.bars("d")).filter { $0.width > 1 }
    bodies.sort { $0.x < $1.x }
    let wicks = Dictionary(
      (drawn.bars("u") + drawn.bars("d")).filter { $0.width == 1 }.map { ($0.x, $0) }
    ) { $1 }
    try #require(bodies.count == chart.candles.count, "seed \(seed)")
    for (index, candle) in chart.candles.enumerated() {
      let body = bodies[index]
      let (open, close) = (try y(candle.open), try y(candle.close))
      #expect(body.y == min(open, close) && body.height == max(abs(open - close), 1))
      if let wick = wicks[body.x] {
        #expect(wick.y == (try y(candle.high)))
        #expect(wick.y + wick.height - 1 == (try y(candle.low)))
      } else {
        #expect(try y(candle.high) == body.y)
      }
    }
    // The axis has a place for each minute: what is missing leaves room.
    let step = bodies[1].x - bodies[0].x
    let missing = minutes[1] - minutes[0]
    let width = (bodies.last?.x ?? 0) - bodies[0].x
    let exact = width * missing / ((minutes.last ?? 1) - minutes[0])
    #expect(abs(step - exact) <= 2, "seed \(seed)")
  }

  @Test func `lunch and nights take no room`() throws {
    var sample = SampleChart()
    var candles = sample.minutes([118, 119, 120, 121])
    candles += sample.minutes([0, 1], on: SampleChart.day.advanced(by: 1))
    let axis = TimeAxis(candles, timeframe: .minute1, zone: .shanghai, isThinned: false)
    #expect(axis.slots == [118, 119, 120, 121, 240, 241] && axis.count == 480)
  }

  @Test func `above one candle a pixel the extremes stay`() throws {
    var sample = SampleChart(price: 20_00)
    var chart = SampleChart.chart(sample.days(3_000, from: .first(of: 2_000)), timeframe: .day1)
    chart.style.width = 300
    chart.candles[1_234].high = ExactDecimal(1_000_000)
    let drawn = try DrawnChart(chart.svg())
    let (low, high, top, bottom) = try drawn.scale()
    let bars = drawn.bars("u") + drawn.bars("d")
    #expect(bars.count < 300 && Set(bars.map(\.x)).count == bars.count)
    let share = (high - 1_000_000) / (high - low) * Decimal(bottom - top)
    let highest = try #require(bars.map(\.y).min())
    #expect(abs(highest - top - NSDecimalNumber(decimal: share).intValue) <= 1)
  }

  @Test func `the mean price is that of all the day traded so far`() throws {
    var sample = SampleChart()
    var candles = sample.minutes(0..<3)
    for (index, (price, volume)) in [(10, 100), (16, 200), (99, 0)].enumerated() {
      candles[index].vwap = volume > 0 ? ExactDecimal(Int64(price)) : nil
      candles[index].volume = ExactDecimal(Int64(volume))
    }
    candles += sample.minutes(0..<1, on: SampleChart.day.advanced(by: 1))
    let values = ChartValues(candles, others: [], hasAverages: true)
    #expect(values.averages == [10, 14, 14].map { ExactDecimal($0) } + [candles[3].vwap])
  }

  @Test func `limit prices are shown where prices come near them`() throws {
    var sample = SampleChart(price: 110_00)
    let candles = sample.minutes(0..<20)
    let close = ExactDecimal(units: 100_00, scale: 2)
    func texts(on day: TradingDay, close: ExactDecimal) throws -> [String] {
      var chart = SampleChart.chart(candles)
      chart.setReference(previousClose: close, on: day)
      return try DrawnChart(chart.svg()).elements.filter { $0.name == "title" }.map(\.text)
    }
    #expect(try texts(on: SampleChart.day, close: close).contains("limit 110.00"))
    #expect(try texts(on: SampleChart.day, close: close).contains("previous close 100.00"))
    let far = try texts(on: SampleChart.day, close: ExactDecimal(units: 112_00, scale: 2))
    #expect(!far.contains { $0.hasPrefix("limit") })
    let other = try texts(on: SampleChart.day.advanced(by: 1), close: close)
    #expect(!other.contains { $0.hasPrefix("limit") || $0.hasPrefix("previous") })
  }

  @Test func `the clock of the exchange is on the axis`() throws {
    var sample = SampleChart()
    let shanghai = try DrawnChart(SampleChart.chart(sample.minutes()).svg()).texts
    #expect(shanghai.contains("09:30") && shanghai.contains("13:00"))
    #expect(!shanghai.contains("12:00"))
    let day = TradingDay.first(of: 2_026)
    let candles = (0..<30).map { bar in
      sample.candle(
        on: day, openedAt: Timestamp(day: day, newYorkSecondOfDay: 36_000 + bar * 60))
    }
    let american = SampleChart.chart(candles, symbol: "AAPL", zone: .newYork)
    #expect(try DrawnChart(american.svg()).texts.contains("10:00"))
  }

  @Test(arguments: Timeframe.allCases) func `any number of candles is drawn`(
    timeframe: Timeframe
  ) throws {
    for count in [0, 1, 2, 3, 17, 399] {
      var sample = SampleChart(seed: UInt64(count))
      var chart = SampleChart.chart(
        sample.days(count, from: SampleChart.day), timeframe: timeframe)
      for (width, height) in [(160, 100), (800, 400), (4_000, 4_000)] {
        (chart.style.width, chart.style.height) = (width, height)
        for zone in [MarketZone.shanghai, .newYork, .utc] {
          chart.zone = zone
          #expect(try DrawnChart(chart.svg()).texts.count > (count > 0 ? 2 : 1))
        }
      }
    }
  }

  @Test func `prices as large and as small as there are do not overflow`() throws {
    let extremes = [
      ExactDecimal(units: .max, scale: 0), ExactDecimal(units: 1, scale: 18), .zero,
      ExactDecimal(units: .max, scale: 18), ExactDecimal(units: .min, scale: 0),
    ]
    var sample = SampleChart()
    let base = sample.minutes(0..<25)
    for first in extremes {
      for second in extremes {
        var candles = base
        for index in candles.indices {
          let value = index % 2 == 0 ? first : second
          (candles[index].open, candles[index].high) = (value, value)
          (candles[index].low, candles[index].close) = (value, value)
          (candles[index].volume, candles[index].vwap) = (value, value)
        }
        for shape in [ChartStyle.Shape.candles, .line] {
          var chart = SampleChart.chart(candles)
          chart.style.shape = shape
          _ = try DrawnChart(chart.svg())
        }
      }
    }
  }
}
