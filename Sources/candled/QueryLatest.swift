/// `candled query latest`: where instruments stand.

import ArgumentParser
import Commands
import Market
import Reader
import TerminalView

struct QueryLatest: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "latest",
    abstract: "Print the latest quotes.",
    discussion: Help.discussion(
      """
      One row per instrument; all instruments if none is named. Before the day's first trade \
      last, change and prices are empty; `trading` is false if the instrument is halted.
      """,
      examples: [
        "candled query latest sh600519": "one instrument",
        "candled query latest --format jsonl": "the whole market, one JSON object per line",
      ]))

  @Argument(help: "The instruments, in any spelling. (default: all)")
  var symbols: [String] = []

  @OptionGroup var options: QueryOptions

  func run() throws {
    try options.print(Self.columns) { queries in
      let chosen =
        symbols.isEmpty ? nil : try SymbolDirectory(queries).resolve(symbols)
      return try queries.latest(chosen).map(Self.cells)
    }
  }

  private static let columns =
    ResultColumn.leading("symbol", "name", "trading", "quoted_at")
    + ResultColumn.trailing(
      "last", "change", "percent_change", "open", "high", "low", "previous_close", "volume",
      "turnover", "bid", "ask")

  private static func cells(_ row: LatestQuote) -> [ResultCell] {
    let quote = row.quote
    return [
      .text("\(quote.symbol)"), .optional(row.name), .text(quote.trading.name),
      .moment(quote.at), .optional(quote.lastTraded), .optional(quote.change),
      .optional(quote.percentChange), price(quote.open), price(quote.high), price(quote.low),
      .decimal(quote.previousClose), .decimal(quote.volume), .decimal(quote.turnover),
      .decimal(quote.bid), .decimal(quote.ask),
    ]
  }

  /// None before the first trade of the day, as in the view `latest`.
  private static func price(_ price: ExactDecimal) -> ResultCell {
    price.isZero ? .null : .decimal(price)
  }
}

/// As the view `latest` has them: nothing where nothing traded. Rows of ETFs and indexes name the
/// previous close as the last price until then; the day's high is 0 in all of them.
extension Quote {
  var lastTraded: ExactDecimal? { high.isZero ? nil : last }

  var change: ExactDecimal? { lastTraded.flatMap { try? $0 - previousClose } }

  var percentChange: ExactDecimal? { lastTraded?.percentChange(from: previousClose) }
}
