/// `candled chart`: the chart of an instrument as an SVG picture.

import ArgumentParser
import Charts
import Commands
import Market
import Operations
import Reader

struct Chart: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Draw the chart of an instrument as an SVG picture.",
    discussion: Help.discussion(
      """
      The same picture as the gateway's chart.svg: candles, volume and the mean price of the day; \
      gaps with their cause; a dot above a candle that was revised, below it a ring if it was seen \
      in part and a triangle if its extremes may belong to a neighbour. Without --interval the \
      candles fit the period, without --period the period fits the candles.
      """,
      examples: [
        "candled chart sh600519 --period 1d -o today.svg": "the newest day, a minute a candle",
        "candled chart 600519.SH --period 1y --theme dark > year.svg": "a year, light on dark",
        "candled chart AAPL --interval 1w --rising green -o weeks.svg":
          "all weeks there are, green is up",
      ]))

  @Argument(help: "The instrument, in any spelling.")
  var symbol: String

  @Option(help: "How far back from the newest day.")
  var period: HistoryPeriod?

  @Option(help: "How long a candle is.")
  var interval: BarTimeframe?

  @Option(help: "In pixels.")
  var width = ChartStyle().width

  @Option(help: "In pixels.")
  var height = ChartStyle().height

  @Option(help: "The colours; auto: as the reader's system has them.")
  var theme = ChartStyle().theme

  @Option(help: "The colour of prices that rise.")
  var rising = ChartStyle().rising

  @Option(help: "The series, if a symbol has several.")
  var source: SourceArgument?

  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp("The file, which is replaced. (default: standard output)", valueName: "file")
  )
  var output: String?

  @OptionGroup var options: ConfigurationOptions

  func validate() throws {
    for (name, value, range) in [
      ("width", width, ChartStyle.widths), ("height", height, ChartStyle.heights),
    ] where !range.contains(value) {
      throw ValidationError(
        "--\(name) takes a number from \(range.lowerBound) to \(range.upperBound)")
    }
  }

  func run() throws {
    let reader = try StoreReader(url: options.load().storeAddress())
    let svg = try chart(reader).svg()
    if let output {
      try OutputFile(output, isNew: false).write(svg)
    } else {
      try StandardOutput.write(String(decoding: svg, as: UTF8.self))
    }
  }

  private func chart(_ reader: StoreReader) throws -> SVGChart {
    let series = try series(reader)
    let (timeframe, period) = HistoryPeriod.range(timeframe: interval?.value, period: period)
    let quote = try reader.latest([series.symbol]).first { $0.source == series.source }?.quote
    let rows = try reader.chart(
      of: series, timeframe: timeframe, period: period, lastDay: quote?.tradingDay)
    var chart = SVGChart(
      symbol: series.symbol, timeframe: timeframe, zone: series.zone, candles: rows.page.candles)
    chart.name = series.name
    chart.isThinned = rows.page.isThinned
    chart.gaps = rows.gaps
    if let quote { chart.setReference(previousClose: quote.previousClose, on: quote.tradingDay) }
    chart.style.width = width
    chart.style.height = height
    chart.style.theme = theme
    chart.style.rising = rising
    return chart
  }

  /// That of the source; without one, the one that the database means by the symbol.
  private func series(_ reader: StoreReader) throws -> SeriesRecord {
    let symbol = try SymbolDirectory(reader).resolve(symbol)
    let all = try reader.series().filter { $0.symbol == symbol }
    let wanted = all.filter { source == nil || $0.source == source?.value }
    guard let series = wanted.min(by: { $0.priority < $1.priority }) else {
      let names = all.map(\.sourceName).joined(separator: ", ")
      throw CommandFailure(
        status: .dataError, sentence: "\(symbol): no series of this source; there are: \(names)")
    }
    return series
  }
}

extension HistoryPeriod: ExpressibleByArgument {}

extension ChartStyle.Theme: ExpressibleByArgument {}

extension ChartStyle.Rising: ExpressibleByArgument {}
