import Foundation
import FoundationXML
import Market
import Testing

@testable import Charts

/// Pictures on disk. `CANDLED_RECORD=1` writes them anew: then look at them before they are
/// committed.
@Suite struct ChartGoldenTests {
  typealias Scene = (name: String, chart: SVGChart)

  static let scenes: [Scene] = intraday + marked + long + looks

  private static func decimal(_ units: Int64) -> ExactDecimal {
    ExactDecimal(units: units, scale: 2)
  }

  private static var day: SVGChart {
    var sample = SampleChart()
    var chart = SampleChart.chart(sample.minutes())
    chart.setReference(previousClose: decimal(1_768_50), on: SampleChart.day)
    return chart
  }

  private static var intraday: [Scene] {
    var (half, week, american) = (SampleChart(seed: 2), SampleChart(seed: 3), SampleChart(seed: 4))
    var line = day
    line.style.shape = .line
    let days = (0..<5).flatMap { place in
      week.minutes(0..<48, on: SampleChart.day.advanced(by: place), length: 5)
    }
    let bars = (0..<78).map { bar in
      let day = SampleChart.day.advanced(by: -3)
      let opened = Timestamp(day: day, newYorkSecondOfDay: 34_200 + bar * 300)
      return american.candle(on: day, openedAt: opened, minutes: 5, scale: 2)
    }
    return [
      ("intraday", day), ("intraday-line", line),
      ("half-day", SampleChart.chart(half.minutes(0..<120))),
      ("five-days", SampleChart.chart(days, timeframe: .minute5)),
      (
        "american",
        SampleChart.chart(bars, timeframe: .minute5, symbol: "AAPL", zone: .newYork)
      ),
    ]
  }

  private static func gap(_ from: Int, _ to: Int, _ cause: GapCause) -> Gap {
    let hours = TradingHours.mainlandChina
    return Gap(
      symbol: day.symbol, tradingDay: SampleChart.day,
      from: Timestamp(day: SampleChart.day, secondOfDay: hours.opening(ofMinute: from)),
      to: Timestamp(day: SampleChart.day, secondOfDay: hours.closing(ofMinute: to)),
      volume: ExactDecimal(100), turnover: ExactDecimal(1_000), cause: cause)
  }

  private static var marked: [Scene] {
    var gaps = day
    gaps.candles.removeSubrange(40..<75)
    for index in [39, 40] { gaps.candles[index].flags = .partial }
    for index in [60, 110] { gaps.candles[index].flags = .extremeAmbiguous }
    gaps.candles[150].flags = [.partial, .extremeAmbiguous]
    for index in [20, 21, 130] { gaps.candles[index].revision = 1 }
    gaps.gaps = [gap(40, 74, .outage), gap(200, 203, .latePrint)]

    var halted = SampleChart(seed: 5)
    var flat = Array(repeating: halted.minutes(0..<1)[0], count: 240)
    for minute in flat.indices {
      flat[minute].openedAt = Timestamp(
        day: SampleChart.day, secondOfDay: TradingHours.mainlandChina.opening(ofMinute: minute))
      flat[minute].open = decimal(10_30)
      (flat[minute].high, flat[minute].low) = (decimal(10_30), decimal(10_30))
      (flat[minute].close, flat[minute].volume) = (decimal(10_30), .zero)
      (flat[minute].vwap, flat[minute].flags) = (nil, .noTrade)
    }
    var still = SampleChart.chart(flat)
    still.setReference(previousClose: decimal(10_30), on: SampleChart.day)

    var rise = SampleChart(seed: 6, price: 10_20)
    var limited = SampleChart.chart(rise.minutes())
    for index in limited.candles.indices {
      let price = min(10_20 + Int64(index), 11_00)
      limited.candles[index].open = decimal(max(price - 1, 10_20))
      limited.candles[index].close = decimal(price)
      limited.candles[index].high = decimal(price)
      limited.candles[index].low = decimal(max(price - 2, 10_18))
      limited.candles[index].vwap = decimal(price)
    }
    limited.setReference(previousClose: decimal(10_00), on: SampleChart.day)
    return [("gap", gaps), ("halted", still), ("limit-up", limited)]
  }

  private static var long: [Scene] {
    let first = TradingDay.first(of: 2016)
    var (daily, weekly, monthly) =
      (SampleChart(seed: 7, price: 20_00), SampleChart(seed: 8), SampleChart(seed: 9))
    var month = SampleChart(seed: 10)
    let monday = first.advanced(by: 3)
    var years = SampleChart.chart(daily.days(2_600, from: first), timeframe: .day1)
    years.style.width = 400
    let start = SampleChart.day.advanced(by: -30)
    return [
      ("years-thinned", years),
      ("month", SampleChart.chart(month.days(22, from: start), timeframe: .day1)),
      ("weekly", SampleChart.chart(weekly.days(104, step: 7, from: monday), timeframe: .week1)),
      ("monthly", SampleChart.chart(monthly.days(120, step: 31, from: monday), timeframe: .month1)),
    ]
  }

  private static var looks: [Scene] {
    var dark = day
    (dark.style.theme, dark.style.height) = (.dark, 300)
    var green = day
    (green.style.theme, green.style.rising) = (.light, .green)
    var small = day
    (small.style.width, small.style.height) = (ChartStyle.widths.lowerBound, 100)
    var hostile = SampleChart.chart([])
    hostile.name = "<b>&\"'\u{1}\u{FFFE}"
    return [
      ("dark", dark), ("green-up", green), ("small", small), ("empty", SampleChart.chart([])),
      ("hostile-name", hostile),
    ]
  }

  @Test(arguments: scenes.indices) func `a chart looks as it did`(index: Int) throws {
    let (name, chart) = Self.scenes[index]
    let svg = String(decoding: chart.svg(), as: UTF8.self)
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Golden/\(name).svg")
    if ProcessInfo.processInfo.environment["CANDLED_RECORD"] != nil {
      try svg.write(to: file, atomically: true, encoding: .utf8)
    } else {
      #expect(svg == (try String(contentsOf: file, encoding: .utf8)), "\(name)")
    }
  }

  @Test(arguments: scenes.indices) func `a chart is well-formed, has a name, and whole pixels`(
    index: Int
  ) throws {
    let (name, chart) = Self.scenes[index]
    let drawn = try DrawnChart(chart.svg())
    #expect(drawn.title.hasPrefix("sh600519 ") || drawn.title.hasPrefix("AAPL "), "\(name)")
    #expect(drawn.root["role"] == "img" && !drawn.summary.isEmpty)
    let lengths = ["d", "x", "y", "width", "height"]
    for element in drawn.elements {
      for key in lengths {
        #expect(element.attributes[key]?.contains(".") != true, "\(name) \(element)")
      }
    }
  }
}
