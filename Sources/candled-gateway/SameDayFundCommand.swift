/// `candled-gateway same-day-fund`: which funds may be sold on the day of their purchase.

import AppStore
import ArgumentParser
import Commands
import Market
import Operations
import PaperTrading
import TerminalView

struct SameDayFundCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "same-day-fund",
    abstract: "Keep the list of funds that may be sold on the day of their purchase.",
    discussion: Help.discussion(
      """
      Funds of bonds, money, gold, commodities and foreign markets may be sold on the day of their \
      purchase (T+0), each as its exchange lists it; no code and no name shows it. candled ships \
      a list of some hundred; what is added here prevails over it. Every other fund can be sold \
      from the next trading day on. The broker reads the list when its day begins, after 16:00 of \
      the day before, and when a gateway begins to execute orders. An order keeps what held when \
      it was accepted.
      """,
      examples: [
        "candled-gateway same-day-fund add sh518880 2026-07-06": "from that day on",
        "candled-gateway same-day-fund list": "all of them",
      ]),
    subcommands: [Add.self, Remove.self, List.self])

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Put a fund on the list, or change its first day.",
      discussion: Help.discussion(
        "The first day may have passed: then it counts from the broker's next day on.",
        examples: ["candled-gateway same-day-fund add sh518880 2026-07-06": "a fund of gold"]))

    @OptionGroup var options: ConfigurationOptions
    @OptionGroup var fund: FundArgument

    @Argument(help: "The first day on which it may be sold so: 2026-07-06.")
    var fromDay: String

    func validate() throws {
      _ = try fund.known()
      _ = try firstDay()
    }

    private func firstDay() throws -> TradingDay {
      guard let day = TradingDay(fromDay) else {
        throw ValidationError("FROM-DAY: expected a date such as 2026-07-06")
      }
      return day
    }

    func run() throws {
      let (symbol, day) = (try fund.known(), try firstDay())
      try options.sameDayFunds().put(symbol, from: day)
      StandardError.writeLine("\(symbol) may be sold on the day of its purchase from \(day) on")
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Take a fund off the list.",
      discussion: Help.discussion(
        """
        What is bought then can be sold from the next trading day on, if candled does not list the \
        fund itself: of one that it does, add a day that is far away.
        """,
        examples: ["candled-gateway same-day-fund remove sh518880": "it is as candled lists it"]))

    @OptionGroup var options: ConfigurationOptions
    @OptionGroup var fund: FundArgument

    func validate() throws { _ = try fund.known() }

    func run() throws {
      let symbol = try fund.known()
      try options.sameDayFunds().remove(symbol)
      StandardError.writeLine("\(symbol) is not on the list any more")
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the funds, and from which day on.",
      discussion: Help.discussion(
        "In the order of their symbols, those that candled ships included.",
        examples: [
          "candled-gateway same-day-fund list": "as a table",
          "candled-gateway same-day-fund list --json": "one JSON object per fund",
        ]))

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Print one JSON object per fund.")
    var json = false

    func run() throws {
      try StandardOutput.write(
        ResultWriter.text(
          format: json ? .jsonl : .table,
          columns: ["symbol", "from_day", "listed_by"].map { ResultColumn($0) },
          rows: try rows()))
    }

    private func rows() throws -> [[ResultCell]] {
      let added = try options.sameDayFunds().all()
      return SameDayFunds.listed.merging(added) { $1 }.sorted { $0.key < $1.key }.map { fund in
        [
          .text(fund.key.description), .text(fund.value.description),
          .text(added[fund.key] == nil ? "candled" : "operator"),
        ]
      }
    }
  }
}

struct FundArgument: ParsableArguments {
  @Argument(help: "The fund, in any spelling: 518880.SH.")
  var symbol: String

  func known() throws -> Symbol {
    guard let instrument = Symbol(anySpelling: symbol).flatMap({ Instrument.classify($0) }),
      instrument.kind == .fund
    else { throw ValidationError("SYMBOL: expected a fund such as 518880.SH") }
    return instrument.symbol
  }
}

extension ConfigurationOptions {
  fileprivate func sameDayFunds() throws -> SameDayFundTable {
    SameDayFundTable(try appConnection(of: "same-day-fund"))
  }
}
