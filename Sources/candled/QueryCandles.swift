/// `candled query candles`: the candles of one instrument, as stored or reckoned from those.

import ArgumentParser
import Commands
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
      A candle still forming is not printed: see `candled query latest`. 1m, after_hours and 1d \
      are stored; 5m to 60m are calculated from minutes, 1w and 1mo from days. Flags: no_trade, \
      partial (see `candled query gaps`), extreme_ambiguous, outside_range, filled, \
      coarse (off by what its source rounds). Adjusted prices are rounded to 4 places, half away \
      from zero.
      """,
      examples: [
        "candled query candles 600519.SH --from 2026-07-06 --format csv": "all since a day",
        "candled query candles sh600519 --from '2026-07-06 09:30' --json": "all since a minute",
        "candled query candles sh600519 --timeframe 1d --limit 20": "the newest 20 days",
        "candled query candles sh600519 --timeframe 1w --adjust qfq":
          "weekly candles, adjusted forward",
        "candled query candles sh600519 --as-of '2026-07-06 10:00'": "as they were known at a time",
        "candled query candles AAPL --source \(Help.otherSource) --fill flat":
          "one series, holes filled",
      ]))

  @Argument(help: "The instrument, in any spelling.")
  var symbol: String

  @Option(help: "The timeframe.")
  var timeframe = TimeframeArgument(.minute1)

  @Option(help: ArgumentHelp("Only candles opened at this time or later.", valueName: "time"))
  var from: MomentArgument?

  @Option(
    help: ArgumentHelp(
      "Only candles opened before this time, or until the end of this day.", valueName: "time"))
  var to: MomentArgument?

  @Option(help: "At most this many, the newest.")
  var limit: Int32?

  @Option(help: "What to print where a candle is missing.")
  var fill = CandleFill.none

  @Option(help: "The adjustment: raw, qfq, hfq, split, or qfq:yyyy-mm-dd for that day's prices.")
  var adjust = PriceAdjustment.raw

  @Option(help: ArgumentHelp("The values as they were known at this time.", valueName: "time"))
  var asOf: MomentArgument?

  @Option(help: "The series, if a symbol has several.")
  var source: SourceArgument?

  @OptionGroup var options: QueryOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit takes a number above 0") }
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
    query.source = source?.value.name
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

extension CandleFill: ExpressibleByArgument {}

extension PriceAdjustment: ExpressibleByArgument {
  package init?(argument: String) { self.init(text: argument) }

  package var defaultValueDescription: String { text }
}
