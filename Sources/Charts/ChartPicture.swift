/// A chart with all that is computed before it is drawn: where each part lies, in pixels.

import Market

struct ChartPicture {
  let chart: SVGChart
  let values: ChartValues
  let timeAxis: TimeAxis
  let priceAxis: PriceAxis
  let columns: ChartColumns
  let plot: Frame
  /// Empty where volumes are not shown.
  let volume: Frame
  /// Of a candle's body; odd from 3 on, for the wick is its middle.
  let bodyWidth: Int

  struct Frame {
    var left = 0
    var top = 0
    var width = 0
    var height = 0

    var right: Int { left + width }
    var bottom: Int { top + height }
  }

  static let headingHeight = 26
  static let timesHeight = 22
  private static let margin = 10
  private static let characterWidth = 7
  private static let volumeGap = 8
  /// A lower picture has no room for volumes.
  private static let heightMinForVolume = 160
  private static let bodyWidthMax = 15

  init(_ chart: SVGChart, columnsMax: Int) {
    self.chart = chart
    let (width, height) = (chart.style.width, chart.style.height)
    let isIntraday = chart.timeframe.rawValue <= Timeframe.hour1.rawValue
    values = ChartValues(
      chart.candles, others: chart.levels, hasAverages: isIntraday && !chart.isThinned)
    timeAxis = TimeAxis(
      chart.candles, timeframe: chart.timeframe, zone: chart.zone, isThinned: chart.isThinned)
    let bottom = height - Self.timesHeight
    let hasVolume =
      height >= Self.heightMinForVolume && !chart.isThinned
      && chart.candles.contains { !$0.volume.isZero }
    let volumeHeight = hasVolume ? (bottom - Self.headingHeight) / 5 : 0
    let plotHeight =
      bottom - Self.headingHeight - volumeHeight - (hasVolume ? Self.volumeGap : 0)
    let prices = Self.priceAxis(chart, values: values, height: plotHeight)
    let labels = prices.ticks.map(prices.label) + [chart.candles.last?.close?.description ?? ""]
    let axisWidth = (labels.map(\.count).max() ?? 0) * Self.characterWidth + 14
    priceAxis = prices
    plot = Frame(
      left: Self.margin, top: Self.headingHeight,
      width: max(width - Self.margin - axisWidth, 1), height: plotHeight)
    volume = Frame(
      left: plot.left, top: bottom - volumeHeight, width: plot.width, height: volumeHeight)
    columns = ChartColumns(
      chart.candles, values: values, axis: timeAxis, countMax: min(plot.width, columnsMax))
    bodyWidth = Self.bodyWidth(step: plot.width / max(columns.count, 1))
  }

  private static func priceAxis(
    _ chart: SVGChart, values: ChartValues, height: Int
  ) -> PriceAxis {
    let scale = values.prices
    var seen: [Int64] = []
    for candle in chart.candles {
      if chart.style.shape == .line {
        if let close = candle.close { seen.append(scale.units(close)) }
      } else if let high = candle.high, let low = candle.low {
        seen += [scale.units(high), scale.units(low)]
      }
    }
    if let close = chart.previousClose { seen.append(scale.units(close)) }
    let tick = Instrument.classify(chart.symbol)?.tickSize
    return PriceAxis(scale, values: seen, tick: tick, top: headingHeight, height: height)
  }

  /// A quarter of the room of a candle stays empty.
  private static func bodyWidth(step: Int) -> Int {
    let width = max(1, min(step - max(1, (step + 2) / 4), bodyWidthMax))
    return width > 2 && width % 2 == 0 ? width - 1 : width
  }

  /// The middle of a column.
  func x(of place: Int) -> Int {
    plot.left + (2 * place + 1) * plot.width / (2 * max(columns.count, 1))
  }

  /// The edges of places of the axis.
  func edge(ofSlot slot: Int) -> Int {
    plot.left + slot * plot.width / max(timeAxis.count, 1)
  }
}
