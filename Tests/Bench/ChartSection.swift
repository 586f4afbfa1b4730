/// Charts as pictures, against what no writer can be faster than: the same bytes, ready.

import Charts
import Glibc
import Market
import TestSupport

let chartSection = BenchSection(
  name: "chart", title: "charts as SVG, candles in, bytes out"
) { _ in
  for (name, count, bound) in [
    ("240 minutes", 240, 0.5), ("1,250 days", 1_250, 2.5), ("10,000 days", 10_000, 20),
  ] {
    let chart = ChartBench.chart(count: count)
    let bytes = chart.svg()
    printLine("  \(name): \(bytes.count) bytes, \(ChartBench.roundsMax) rounds")
    let rows = ChartBench.measure(chart, bytes: bytes)
    report(rows)
    check(name, rows[0].median, atMost: bound, "ms")
  }
}

private enum ChartBench {
  static let roundsMax = 201

  static func chart(count: Int) -> SVGChart {
    var random = SplitMix(seed: 15)
    guard let symbol = Symbol("sh600519") else { preconditionFailure("no symbol") }
    var price: Int64 = 1_769_000
    let hours = TradingHours.mainlandChina
    let candles = (0..<count).map { index -> CandleRecord in
      let isDay = count <= hours.minutesPerDay
      let day = TradingDay.first(of: 1_990).advanced(by: isDay ? 0 : index)
      let opened = Timestamp(
        day: day, secondOfDay: hours.opening(ofMinute: isDay ? index : 0))
      let open = price
      price = max(open + Int64.random(in: -900...900, using: &random), 1_000)
      func decimal(_ units: Int64) -> ExactDecimal { ExactDecimal(units: units, scale: 3) }
      let volume = Int64.random(in: 100...90_000, using: &random)
      return CandleRecord(
        openedAt: opened, closedAt: opened.adding(seconds: 60), tradingDay: day,
        open: decimal(open), high: decimal(max(open, price) + 400),
        low: decimal(min(open, price) - 400), close: decimal(price),
        volume: ExactDecimal(volume), turnover: decimal(volume * price), trades: nil,
        vwap: decimal((open + price) / 2), flags: [], revision: 0, knownFrom: opened, source: "")
    }
    let timeframe: Timeframe = count <= hours.minutesPerDay ? .minute1 : .day1
    return SVGChart(symbol: symbol, timeframe: timeframe, zone: .shanghai, candles: candles)
  }

  static func measure(_ chart: SVGChart, bytes: [UInt8]) -> [BenchRow] {
    var svg = BenchRow("candled: a chart")
    var floor = BenchRow("floor: its bytes, one by one")
    for _ in 0..<roundsMax {
      svg.measure { consume(chart.svg()) }
      floor.measure {
        var copy: [UInt8] = []
        for byte in bytes { copy.append(byte) }
        consume(copy)
      }
    }
    return [svg, floor]
  }
}
