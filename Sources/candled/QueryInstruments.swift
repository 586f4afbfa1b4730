/// `candled query instruments`: what the database knows of.

import ArgumentParser
import Commands
import Reader
import TerminalView

struct QueryInstruments: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "instruments",
    abstract: "Print the instruments in the database.",
    discussion: Help.discussion(
      "Ordered by symbol, with exchange, kind, board and series.",
      examples: [
        "candled query instruments --like 6005": "by part of the symbol",
        "candled query instruments --like 银行": "by part of the name",
      ]))

  @Option(help: "Only those whose symbol or name contains this.")
  var like: String?

  @OptionGroup var options: QueryOptions

  func run() throws {
    try options.print(
      ResultColumn.leading("symbol", "name", "exchange", "kind", "board", "source", "first_seen")
    ) { queries in
      try queries.instruments(like: like).map { row in
        [
          .text("\(row.symbol)"), .optional(row.name), .optional(row.exchange),
          .optional(row.kind), .optional(row.board), .text(row.source),
          .moment(row.firstSeen),
        ]
      }
    }
  }
}
