/// `candled query why` and `disagreements`: where a candle came from, and what nobody could settle.

import ArgumentParser
import Feeds
import Market
import Reader
import TerminalView

struct QueryWhy: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Print where one candle came from.",
    discussion: Help.discussion(
      """
      The candle that had opened and not yet closed at a time: its source and values, what it was \
      rolled up from, its earlier revisions with their causes, the changes that wrote it with \
      their places in the journal, and the gaps, disagreements and certificates that touch it.
      """,
      examples: [
        "candled query why sh600519 '2026-07-06 09:31'": "a minute",
        "candled query why sh600519 2026-07-06T09:30 --timeframe 60m": "an hour",
        "candled query why 600519.SH '2026-07-06 10:00' --timeframe 1d --json": "a day",
      ]))

  @Argument(help: "The instrument, in any spelling.")
  var symbol: String

  @Argument(help: "A time in its interval, when it opened for one.")
  var at: MomentArgument

  @Option(help: "How long the candle is.")
  var timeframe = TimeframeArgument(.minute1)

  @Option(help: "Whose series, where a symbol has several.")
  var source: Source?

  @OptionGroup var options: QueryOptions

  func run() throws {
    try options.print(ResultColumn.leading("what", "at", "detail")) { queries in
      let symbol = try SymbolDirectory(queries).resolve(symbol)
      return try queries.why(symbol, at: at.first, timeframe: timeframe.value, source: source?.name)
        .map { fact in
          [.text(fact.what), .moment(fact.at), .text(fact.detail)]
        }
    }
  }
}

struct QueryDisagreements: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "disagreements",
    abstract: "Print what two sources did not agree on.",
    discussion: Help.discussion(
      "Nothing was changed for these; the resolved ones are printed too, oldest first.",
      examples: [
        "candled query disagreements --date 2026-07-06": "of a day",
        "candled query disagreements sh600519 --format csv": "of an instrument",
      ]))

  @OptionGroup var options: LedgerOptions

  func run() throws {
    try options.print(Self.columns) { queries, day, symbol in
      try queries.disagreements(day: day, symbol: symbol).map(Self.cells)
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
