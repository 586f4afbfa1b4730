/// `candled instrument`: what became of codes, by the operator's word.

import ArgumentParser
import Commands
import Market
import Operations
import Reader
import Store
import TerminalView

struct InstrumentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "instrument",
    abstract: "Link the old and the new code of an instrument, or end a link.",
    discussion: Help.discussion(
      """
      A change of code leaves one series, by either code; a merger is shown. candled finds most \
      changes by itself, and universe.links_file has what is announced ahead. Candles stay where \
      they are, and a link that is ended leaves two series.
      """,
      examples: [
        "candled instrument show": "every link, with what is only suspected",
        "candled instrument link bj833819 bj920819 2025-05-06": "a change of code",
        "candled instrument unlink bj833819 bj920819": "two instruments again",
      ]),
    subcommands: [InstrumentShow.self, InstrumentLinkCommand.self, InstrumentUnlink.self])

  struct InstrumentShow: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "Print what became of an instrument, or of all.",
      discussion: Help.discussion(
        "Ordered by day, also what was ended. A suspected link joins nothing.",
        examples: ["candled instrument show bj833819": "by the old or the new code"]))

    @Argument(help: "The old or the new code, in any spelling. (default: all)")
    var symbol: CodeArgument?

    @OptionGroup var options: QueryOptions

    func run() throws {
      try options.print(
        ResultColumn.leading(
          "from", "to", "day", "kind", "verdict", "ratio", "cash", "source", "known_from",
          "known_to")
      ) { queries in
        try queries.links(of: symbol?.symbol).map { row in
          [
            .text("\(row.link.from)"), .text("\(row.link.to)"), .day(row.link.day),
            .text(row.link.kind.rawValue), .text(row.link.verdict.rawValue),
            .optional(row.link.ratio), .optional(row.link.cash), .text(row.link.source),
            .moment(row.knownFrom), .moment(row.knownTo),
          ]
        }
      }
    }
  }

  struct InstrumentLinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "link",
      abstract: "Say what an instrument became.",
      discussion: Help.discussion(
        """
        In force at once, beside a running daemon, and in the place of what stood. A rename joins \
        both codes; merger, conversion, relisting and split_off join nothing.
        """,
        examples: [
          "candled instrument link bj833819 bj920819 2025-05-06": "a change of code",
          "candled instrument link 600837 601211 2025-03-04 --kind merger --ratio 0.62":
            "0.62 new shares for one",
        ]))

    @Argument(help: "The old code, in any spelling.")
    var old: CodeArgument

    @Argument(help: "The new code, in any spelling.")
    var new: CodeArgument

    @Argument(help: ArgumentHelp("The first day of the new code.", valueName: "yyyy-mm-dd"))
    var day: DayArgument

    @Option(help: "rename, merger, conversion, relisting or split_off.")
    var kind = InstrumentLink.Kind.rename

    @Option(help: "New shares for one old one.")
    var ratio: DecimalArgument?

    @Option(help: "Money for one old share beside them.")
    var cash: DecimalArgument?

    @OptionGroup var options: ConfigurationOptions

    func validate() throws {
      if old.symbol == new.symbol { throw ValidationError("the codes are the same") }
      for code in [old, new].map(\.symbol) where Exchange(prefixOf: "\(code)") == nil {
        throw ValidationError("\(code) is no code of Shanghai, Shenzhen or Beijing")
      }
    }

    func run() throws {
      try LinkSession(url: options.load().storeAddress()).add(
        InstrumentLink(
          from: old.symbol, to: new.symbol, day: day.day, kind: kind, verdict: .declared,
          ratio: ratio?.value, cash: cash?.value, source: "candled instrument link"))
      StandardError.writeLine("\(old.symbol) is linked to \(new.symbol): \(kind.rawValue)")
    }
  }

  struct InstrumentUnlink: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "unlink",
      abstract: "End what links two codes.",
      discussion: Help.discussion(
        "Rows stay where they are, and the link is not made again by itself. A running daemon "
          + "follows with its next start. Exits 65 where there is none.",
        examples: ["candled instrument unlink bj833819 bj920819": "two instruments again"]))

    @Argument(help: "The old code, in any spelling.")
    var old: CodeArgument

    @Argument(help: "The new code, in any spelling.")
    var new: CodeArgument

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
      let session = try LinkSession(url: options.load().storeAddress())
      guard try session.end(from: old.symbol, to: new.symbol) else {
        throw CommandFailure(
          status: .dataError, sentence: "nothing links \(old.symbol) to \(new.symbol)")
      }
      StandardError.writeLine(
        "\(old.symbol) and \(new.symbol) are two instruments: restart the daemon, which requests "
          + "\(old.symbol) again from then on")
    }
  }
}

/// A code in any spelling, also one that is not recorded.
struct CodeArgument: ExpressibleByArgument {
  let symbol: Symbol

  init?(argument: String) {
    guard let symbol = Symbol(anySpelling: argument) else { return nil }
    self.symbol = symbol
  }
}

/// A positive number, exactly as it is typed.
struct DecimalArgument: ExpressibleByArgument {
  let value: ExactDecimal

  init?(argument: String) {
    guard let value = try? ExactDecimal(argument), value.isPositive else { return nil }
    self.value = value
  }
}

extension InstrumentLink.Kind: ExpressibleByArgument {}
