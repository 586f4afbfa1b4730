/// Charts as pictures, for whatever shows an image: a chat, a report, a page without scripts.

import Charts
import HTTPTypes
import Market
import Reader

extension MarketRoutes {
  var charts: [Route] {
    [
      Route(
        "/v1/stocks/{symbol}/chart.svg", summary: "A chart of an instrument as an SVG picture.",
        parameters: Self.chartParameters, answer: .string, contentType: Self.pictureType,
        problems: [.notFound, .serviceUnavailable]
      ) { arguments in
        let (timeframe, period) = Self.range(arguments)
        return try await picture(
          of: arguments["symbol"] ?? "", source: arguments["source"], timeframe: timeframe,
          period: period, style: ChartStyle(arguments))
      }.costing(3) { HistoryRequest.cost(of: $0.merging(["points": ""]) { $1 }) },
      Route(
        "/newchart/{chart}/n/{file}",
        summary: "The same at the paths of pictures that older clients know.",
        parameters: [
          Parameter(
            "chart", .choice(NamedChart.allCases.map(\.rawValue)), in: .path,
            summary: "Closes of the day, or candles of days, weeks or months.", example: "min"),
          Parameter(
            "file", .matching(.pictureFile), in: .path,
            summary: "The symbol and .svg, or .gif, which is answered with SVG as well.",
            example: "sh600519.svg"),
        ], answer: .string, contentType: Self.pictureType,
        problems: [.notFound, .serviceUnavailable]
      ) { arguments in
        let chart = arguments["chart"].flatMap { NamedChart(rawValue: $0) } ?? .min
        return try await picture(
          of: String((arguments["file"] ?? "").dropLast(4)), source: nil,
          timeframe: chart.timeframe, period: chart.period, style: chart.style)
      }.costing(3),
    ]
  }

  private static let pictureType = "image/svg+xml"

  private static func pixels(_ name: String, _ range: ClosedRange<Int>, usual: Int) -> Parameter {
    Parameter(
      name, .integer(Int64(range.lowerBound)...Int64(range.upperBound)),
      summary: "In pixels; \(usual) if absent.", example: "\(usual)")
  }

  private static let chartParameters = [
    symbol, source,
    Parameter(
      "interval", .choice(HistoryRequest.intervals.map(\.interval)),
      summary: "How long a candle is; if absent, as fits the period.", example: "1m"),
    Parameter(
      "period", .choice(HistoryPeriod.allCases.map(\.rawValue)),
      summary: "How far back from the newest day; if absent, as fits the interval, and 1d without.",
      example: "1d"),
    pixels("width", ChartStyle.widths, usual: ChartStyle().width),
    pixels("height", ChartStyle.heights, usual: ChartStyle().height),
    Parameter(
      "theme", .choice(ChartStyle.Theme.allCases.map(\.rawValue)),
      summary: "auto, if absent: as the reader's system has it.", example: "dark"),
    Parameter(
      "rising", .choice(ChartStyle.Rising.allCases.map(\.rawValue)),
      summary: "The colour of rising prices; red if absent.", example: "green"),
  ]

  private static func range(_ arguments: Arguments) -> (Timeframe, HistoryPeriod) {
    HistoryPeriod.range(
      timeframe: arguments["interval"].flatMap { Timeframe(interval: $0) },
      period: arguments["period"].flatMap { HistoryPeriod(rawValue: $0) })
  }

  private func picture(
    of spelling: String, source: String?, timeframe: Timeframe, period: HistoryPeriod,
    style: ChartStyle
  ) async throws(Problem) -> Answer {
    let state = try memory.loaded()
    let place = try series(spelling, source: source, state: state)
    let series = state.directory[place]
    let figures = state.figures(of: place)
    let rows = try await pool.query { (reader) throws(StoreError) in
      try reader.chart(
        of: series, timeframe: timeframe, period: period, lastDay: figures?.tradingDay)
    }
    var chart = SVGChart(
      symbol: series.symbol, timeframe: timeframe, zone: series.zone, candles: rows.page.candles)
    chart.name = series.name
    chart.isThinned = rows.page.isThinned
    chart.gaps = rows.gaps
    chart.style = style
    if let figures {
      chart.setReference(previousClose: figures.previousClose, on: figures.tradingDay)
    }
    var answer = Answer(
      tagging: chart.svg(), caching: "private, max-age=5", contentType: Self.pictureType)
    answer.headers[.contentSecurityPolicy] = Self.picturePolicy
    return answer
  }

  /// Of a picture that is opened by itself: no script, nothing of another place.
  private static let picturePolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
}

extension ChartStyle {
  fileprivate init(_ arguments: Arguments) {
    self.init()
    if let pixels = arguments.integer("width") { width = Int(pixels) }
    if let pixels = arguments.integer("height") { height = Int(pixels) }
    theme = arguments["theme"].flatMap { Theme(rawValue: $0) } ?? theme
    rising = arguments["rising"].flatMap { Rising(rawValue: $0) } ?? rising
  }
}

extension TextPattern {
  fileprivate static let pictureFile = TextPattern(
    "^[A-Za-z0-9_$.-]{1,32}[.](svg|gif)$", expectation: "a symbol and .svg or .gif")
}

/// The pictures of older clients: one size, dark on white.
private enum NamedChart: String, CaseIterable {
  case min, daily, weekly, monthly

  var timeframe: Timeframe {
    switch self {
    case .min: .minute1
    case .daily: .day1
    case .weekly: .week1
    case .monthly: .month1
    }
  }

  var period: HistoryPeriod {
    switch self {
    case .min: .day
    case .daily: .sixMonths
    case .weekly: .fiveYears
    case .monthly: .max
    }
  }

  var style: ChartStyle {
    var style = ChartStyle()
    (style.width, style.height, style.theme) = (545, 300, .light)
    style.shape = self == .min ? .line : .candles
    return style
  }
}
