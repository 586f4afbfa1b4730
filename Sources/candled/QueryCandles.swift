/// `candled query candles`: the candles of one instrument, as stored or reckoned from those.

import ArgumentParser
import Feeds
import Market
import Reader
import TerminalView

struct QueryCandles: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "candles",
    abstract: "Print the final candles of an instrument, oldest first.",
    discussion: Help.discussion(
      """
      A candle still forming is none of them: `candled query latest` shows where an instrument \
      stands. 1m, after_hours and 1d are as stored; 5m to 60m are calculated from minutes, 1w and \
      1mo from days. The flags: no_trade, partial (see `candled query gaps`), extreme_ambiguous, \
      outside_range, filled. Adjusted prices are rounded to 4 places, half away from zero.
      """,
      examples: [
        "candled query candles 600519.SH --from 2026-07-06 --format csv": "since that day",
        "candled query candles sh600519 --from '2026-07-06 09:30' --json": "from a minute on",
        "candled query candles sh600519 --timeframe 1d --limit 20": "the newest 20 days",
        "candled query candles sh600519 --timeframe 1w --adjust qfq": "weeks, adjusted forward",
        "candled query candles sh600519 --as-of '2026-07-06 10:00'": "as was believed then",
        "candled query candles AAPL --source alpaca_iex --fill flat": "a series, without holes",
      ]))

  @Argument(help: "The instrument, in any spelling.")
  var symbol: String

  @Option(help: "How long a candle is.")
  var timeframe = TimeframeArgument(.minute1)

  @Option(help: ArgumentHelp("Opened then or later.", valueName: "time"))
  var from: MomentArgument?

  @Option(help: ArgumentHelp("Opened before then; a date counts to its end.", valueName: "time"))
  var to: MomentArgument?

  @Option(help: "At most so many, the newest.")
  var limit: Int32?

  @Option(help: "What stands where a candle is missing.")
  var fill = CandleFill.none

  @Option(help: "Which prices: raw, qfq, hfq, or qfq:yyyy-mm-dd, as they stood that day.")
  var adjust = PriceAdjustment.raw

  @Option(help: ArgumentHelp("What was believed then.", valueName: "time"))
  var asOf: MomentArgument?

  @Option(help: "Whose series, where a symbol has several.")
  var source: Source?

  @OptionGroup var options: QueryOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is a number from 1 on") }
  }

  func run() throws {
    try options.print(Self.columns) { queries in
      try queries.candles(candleQuery(of: SymbolDirectory(queries).resolve(symbol))).map(Self.cells)
    }
  }

  private func candleQuery(of symbol: Symbol) -> CandleQuery {
    var query = CandleQuery(symbol, timeframe: timeframe.value)
    query.from = from?.first
    query.to = to?.end
    query.fill = fill
    query.adjust = adjust
    query.asOf = asOf?.end
    query.source = source?.name
    query.newest = limit
    return query
  }

  private static let columns =
    ResultColumn.leading("opened_at", "closed_at", "trading_day")
    + ResultColumn.trailing(
      "open", "high", "low", "close", "volume", "turnover", "trades", "vwap")
    + [ResultColumn("flags"), ResultColumn("revision", alignment: .trailing)]
    + ResultColumn.leading("known_from", "source")

  private static func cells(_ candle: CandleRecord) -> [ResultCell] {
    [
      .moment(candle.openedAt), .moment(candle.closedAt), .day(candle.tradingDay),
      .optional(candle.open), .optional(candle.high), .optional(candle.low),
      .optional(candle.close), .decimal(candle.volume), .optional(candle.turnover),
      candle.trades.map { .integer($0) } ?? .null, .optional(candle.vwap),
      .list(candle.flags.names), .integer(Int64(candle.revision)), .moment(candle.knownFrom),
      .text(candle.source),
    ]
  }
}

/// A timeframe by its name; of one with a raw value the help would print that.
struct TimeframeArgument: ExpressibleByArgument {
  let value: Timeframe

  init(_ value: Timeframe) { self.value = value }

  /// An hour has two names, here as in SQL.
  init?(argument: String) {
    guard let value = Timeframe(name: argument == "1h" ? "60m" : argument) else { return nil }
    self.value = value
  }

  var defaultValueDescription: String { value.name }

  static var allValueStrings: [String] { Timeframe.allCases.map(\.name) }
}

extension CandleFill: ExpressibleByArgument {}

extension PriceAdjustment: ExpressibleByArgument {
  package init?(argument: String) { self.init(text: argument) }

  package var defaultValueDescription: String { text }
}

extension Source: ExpressibleByArgument {
  public init?(argument: String) {
    guard let source = Self.withSeries.first(where: { $0.name == argument }) else { return nil }
    self = source
  }

  public static var allValueStrings: [String] { withSeries.map(\.name) }

  private static var withSeries: [Source] {
    SourceRegistry.series.map(\.source).filter { $0.instruments == $0 }
  }
}

extension CandleFlags {
  /// As the function `flag_names` calls them.
  var names: [String] {
    let all: [(CandleFlags, String)] = [
      (.noTrade, "no_trade"), (.partial, "partial"), (.extremeAmbiguous, "extreme_ambiguous"),
      (.outsideRange, "outside_range"), (.filled, "filled"),
    ]
    return all.filter { contains($0.0) }.map(\.1)
  }
}
