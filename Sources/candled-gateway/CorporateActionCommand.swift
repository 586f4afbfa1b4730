/// `candled-gateway corporate-action`: what no source states, posted by hand.

import AppStore
import ArgumentParser
import Commands
import Market
import Operations
import PaperTrading
import Platform
import TerminalView

struct CorporateActionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "corporate-action",
    abstract: "Post dividends and bonuses to paper accounts.",
    discussion: Help.discussion(
      """
      No source states what a share pays or gives. Holdings whose reference price shows an ex-day \
      are marked exUnbooked in the portfolio until it is posted here. The broker books each \
      posting once, on its ex-day or at once if that has passed, for what every account held when \
      the ex-day began. Taxes are not taken. Where an account lacks the shares that a posting \
      takes, it stays open there and is tried again each day.
      """,
      examples: [
        "candled-gateway corporate-action dividend sh600519 2026-06-19 27.673": "CNY a share",
        "candled-gateway corporate-action bonus sz000001 2026-06-19 0.3": "3 shares per 10",
        "candled-gateway corporate-action withdraw 7": "number 7 was a mistake",
        "candled-gateway corporate-action list": "all of them, and which are booked",
      ]),
    subcommands: [Dividend.self, Bonus.self, Withdraw.self, List.self])

  struct Dividend: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Post cash that a share pays.",
      discussion: Help.discussion(
        "Before taxes, in the currency of the account, rounded to the cent per account.",
        examples: [
          "candled-gateway corporate-action dividend sh600519 2026-06-19 27.673":
            "27.673 CNY a share"
        ]))

    @OptionGroup var options: ConfigurationOptions
    @OptionGroup var posting: PostingArguments

    func validate() throws { _ = try posting.terms(.dividend) }

    func run() throws { try posting.post(.dividend, to: options) }
  }

  struct Bonus: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Post shares that a share gives, or a split.",
      discussion: Help.discussion(
        """
        Shares added per share held: 0.3 for 3 per 10, 1 for a split in two. Where ten become one \
        it is -0.9, behind `--`; open sales of the symbol are cancelled then. A merger of shares \
        must be posted before its ex-day: later, shares that it takes may be sold. A part of a \
        share is lost.
        """,
        examples: [
          "candled-gateway corporate-action bonus sz000001 2026-06-19 0.3": "3 shares per 10",
          "candled-gateway corporate-action bonus sz000001 2027-06-18 -- -0.9": "ten become one",
        ]))

    @OptionGroup var options: ConfigurationOptions
    @OptionGroup var posting: PostingArguments

    func validate() throws { _ = try posting.terms(.bonus) }

    func run() throws { try posting.post(.bonus, to: options) }
  }

  struct Withdraw: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Take a corporate action back.",
      discussion: Help.discussion(
        """
        One that is not booked never will be; what is booked is reversed, in each account by a \
        posting of its own. Where the cash is spent or the shares are sold it stays open, and is \
        tried again each day. Actions behind it that were computed from its shares are not: \
        withdraw them, too, and post them again.
        """,
        examples: [
          "candled-gateway corporate-action withdraw 7": "its number is in corporate-action list"
        ]))

    @OptionGroup var options: ConfigurationOptions

    @Argument(help: "Number of the action.")
    var id: Int64

    func run() throws {
      try options.corporateActions().withdraw(id)
      StandardError.writeLine(
        "corporate action \(id) is withdrawn; the broker reverses what is booked of it")
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List all corporate actions, and which are booked.",
      discussion: Help.discussion(
        """
        In the order in which they were posted. Those with a successor follow from links of \
        instruments: rename, merger, conversion. accounts: that have it now; open: in which it, or \
        its reversal, could not be booked so far.
        """,
        examples: [
          "candled-gateway corporate-action list": "as a table",
          "candled-gateway corporate-action list --json": "one JSON object per action",
        ]))

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Print one JSON object per action.")
    var json = false

    func run() throws {
      let columns = [
        "id", "symbol", "ex_day", "kind", "per_share", "posted", "booked", "withdrawn", "reversed",
        "accounts", "open", "successor", "cash",
      ]
      try StandardOutput.write(
        ResultWriter.text(
          format: json ? .jsonl : .table, columns: columns.map { ResultColumn($0) },
          rows: try options.corporateActions().all().map { action in
            [
              .text(String(action.id)), .text(action.symbol.description),
              .text(action.exDay.description), .text(action.terms.kind.rawValue),
              .text(action.terms.perShare.description), .text(action.postedAt.description),
              action.bookedOn.map { .text($0.description) } ?? .null,
              action.withdrawnAt.map { .text($0.description) } ?? .null,
              action.reversedOn.map { .text($0.description) } ?? .null,
              .text(String(action.accounts)), .text(String(action.failed.count)),
              action.terms.successor.map { .text($0.description) } ?? .null,
              action.terms.cash.map { .text($0.description) } ?? .null,
            ]
          }))
    }
  }
}

struct PostingArguments: ParsableArguments {
  @Argument(help: "The A-share, in any spelling: 600519.SH.")
  var symbol: String

  @Argument(help: "The first day without the right to it: 2026-06-19.")
  var exDay: String

  @Argument(help: "For each share held.")
  var perShare: String

  @Flag(help: "Post it beside others of the kind for that symbol and day.")
  var another = false

  private var share: Symbol? {
    Symbol(anySpelling: symbol).flatMap { Instrument.classify($0)?.symbol }
  }

  func terms(_ kind: CorporateActionTerms.Kind) throws -> CorporateActionTerms {
    guard share != nil else {
      throw ValidationError("SYMBOL: expected an A-share such as 600519.SH")
    }
    guard let exDay = TradingDay(exDay) else {
      throw ValidationError("EX-DAY: expected a date such as 2026-06-19")
    }
    guard let number = try? ExactDecimal(perShare),
      let terms = CorporateActionTerms(kind, perShare: number)
    else {
      throw ValidationError(
        kind == .dividend
          ? "PER-SHARE: expected an amount above 0, such as 2.5"
          : "PER-SHARE: expected a number above -1 and not 0, such as 0.3")
    }
    let now = Timestamp(microseconds: SystemClock.realMicroseconds())
    if terms.perShare.isNegative, exDay <= now.shanghaiDay {
      throw ValidationError("EX-DAY: a merger must be posted before its ex-day")
    }
    return terms
  }

  func post(
    _ kind: CorporateActionTerms.Kind, to options: ConfigurationOptions
  ) throws {
    let terms = try terms(kind)
    guard let symbol = share, let day = TradingDay(exDay) else { return }
    let id = try options.corporateActions().add(
      terms, of: symbol, exDay: day, isAnother: another)
    StandardError.writeLine("corporate action \(id) is posted; the broker books it")
  }
}

extension ConfigurationOptions {
  fileprivate func corporateActions() throws -> CorporateActionTable {
    CorporateActionTable(try appConnection(of: "corporate-action"))
  }
}
