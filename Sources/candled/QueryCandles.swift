/// `candled query candles`: the final candles of one instrument.

import ArgumentParser
import Market
import Store
import TerminalView

struct QueryCandles: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "candles",
    abstract: "Print the final candles of an instrument, oldest first.",
    discussion: Help.discussion(
      """
      A candle still forming is none of them: `candled query latest` shows where an instrument \
      stands. The flags: no_trade, partial (see `candled query gaps`), extreme_ambiguous.
      """,
      examples: [
        "candled query candles 600519.SH --from 2026-07-06 --format csv": "since that day",
        "candled query candles sh600519 --from '2026-07-06 09:30' --json": "from a minute on",
        "candled query candles sh600519 --timeframe 1d --limit 20": "the newest 20 days",
      ]))

  @Argument(help: "The instrument, in any spelling.")
  var symbol: String

  @Option(help: "How long a candle is.")
  var timeframe = Timeframe.minute1

  @Option(help: ArgumentHelp("Opened then or later.", valueName: "time"))
  var from: MomentArgument?

  @Option(help: ArgumentHelp("Opened before then; a date counts to its end.", valueName: "time"))
  var to: MomentArgument?

  @Option(help: "The newest so many of them.")
  var limit: Int?

  @OptionGroup var options: QueryOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is a number from 1 on") }
  }

  func run() throws {
    try options.print(Self.columns) { queries in
      let symbol = try SymbolDirectory(queries).resolve(symbol)
      return try queries.candles(
        symbol, timeframe, from: from?.first, to: to?.end, newest: limit
      ).map(Self.cells)
    }
  }

  private static let columns =
    ResultColumn.leading("opened_at", "closed_at", "trading_day")
    + ResultColumn.trailing("open", "high", "low", "close", "volume", "turnover")
    + [ResultColumn("flags"), ResultColumn("revision", .trailing)]

  private static func cells(_ candle: CandleRecord) -> [ResultCell] {
    [
      .moment(candle.openedAt), .moment(candle.closedAt), .day(candle.tradingDay),
      .decimal(candle.open), .decimal(candle.high), .decimal(candle.low), .decimal(candle.close),
      .decimal(candle.volume), .optional(candle.turnover), .list(candle.flags.names),
      .integer(Int64(candle.revision)),
    ]
  }
}

extension Timeframe: ExpressibleByArgument {
  public init?(argument: String) {
    guard let timeframe = Self.stored.first(where: { $0.name == argument }) else { return nil }
    self = timeframe
  }

  public static var allValueStrings: [String] { stored.map(\.name) }

  /// What the store has; the others are for sources that deliver ready-made bars.
  private static let stored: [Timeframe] = [.minute1, .day1, .afterHours]
}

extension CandleFlags {
  /// As the views call them.
  var names: [String] {
    let all: [(CandleFlags, String)] = [
      (.noTrade, "no_trade"), (.partial, "partial"), (.extremeAmbiguous, "extreme_ambiguous"),
    ]
    return all.filter { contains($0.0) }.map(\.1)
  }
}
