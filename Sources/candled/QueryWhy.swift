/// `candled query why` and `disagreements`: where a candle came from, and what nobody could settle.

import ArgumentParser
import Commands
import Feeds
import Market
import Reader
import TerminalView

struct QueryWhy: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Print the origin of one candle.",
    discussion: Help.discussion(
      """
      Finds the candle whose interval contains a time, and prints its source and values, the \
      candles it was calculated from, its earlier revisions with their causes, the changes that \
      wrote it with their journal positions, and the gaps, disagreements and certificates of its \
      interval.
      """,
      examples: [
        "candled query why sh600519 '2026-07-06 09:31'": "one minute",
        "candled query why sh600519 2026-07-06T09:30 --timeframe 60m": "one hour",
        "candled query why 600519.SH '2026-07-06 10:00' --timeframe 1d --json": "a day",
      ]))

  @Argument(help: "The instrument, in any spelling.")
  var symbol: String

  @Argument(help: "A time in its interval, such as its opening.")
  var at: MomentArgument

  @Option(help: "The timeframe.")
  var timeframe = TimeframeArgument(.minute1)

  @Option(help: "The series, if a symbol has several.")
  var source: SourceArgument?

  @OptionGroup var options: QueryOptions

  func run() throws {
    try options.print(ResultColumn.leading("what", "at", "detail")) { queries in
      let symbol = try SymbolDirectory(queries).resolve(symbol)
      let facts = try queries.why(
        symbol, at: at.first, timeframe: timeframe.value, source: source?.value.name)
      return facts.map { [.text($0.what), .moment($0.at), .text($0.detail)] }
    }
  }
}

struct QueryDisagreements: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disagreements",
    abstract: "Print the disagreements of two sources.",
    discussion: Help.discussion(
      "A disagreement changed no candle. Resolved ones are printed, too. Oldest first.",
      examples: [
        "candled query disagreements --date 2026-07-06": "all of a day",
        "candled query disagreements sh600519 --format csv": "all of an instrument",
      ]))

  @OptionGroup var options: LedgerOptions

  func run() throws {
    try options.print(Self.columns) { queries, day, symbol in
      try queries.disagreements(day: day, symbol: symbol).map { Self.cells($0.row) }
    }
  }

  private static let columns =
    ResultColumn.leading("symbol", "timeframe", "opened_at", "trading_day", "field")
    + ResultColumn.trailing("ours", "theirs")
    + ResultColumn.leading("our_source", "their_source", "state", "known_from")

  private static func cells(_ row: DisagreementRecord) -> [ResultCell] {
    [
      .text("\(row.symbol)"), .text(row.timeframe), .moment(row.openedAt), .day(row.tradingDay),
      .text(row.field), .optional(row.ours), .optional(row.theirs), .text(row.ourSource),
      .text(row.theirSource), .text(row.state), .moment(row.knownFrom),
    ]
  }
}
