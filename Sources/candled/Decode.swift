/// `candled decode`: what the daemon would make of a recorded answer, record by record. For
/// support, and the seam by which tests from outside hold the decoders to their word.

import ArgumentParser
import Feeds
import Market
import Operations

struct Decode: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print what a recorded answer says, one JSON object a record.",
    discussion: Help.discussion(
      """
      Reads the body of one answer exactly as the source sent it and prints its records in order. \
      Numbers are JSON strings with every digit the source sent; Sina's times carry +08:00, \
      Alpaca's are UTC. A record that was refused is printed with its reason; an answer refused \
      as a whole prints one object and exits 65.

      An answer of alpaca-bars does not say how long its bars are: without --timeframe they are \
      days if all of them start at a New York midnight, and minutes otherwise.
      """,
      examples: [
        "candled decode sina-quotes body.txt":
          "decode a saved answer",
        "candled decode sina-quotes - --status 403 < body.txt":
          "decode an answer that came with HTTP status 403",
        "candled decode sina-quotes body.txt | jq -r .symbol":
          "the symbols in it",
        "candled decode mairui-list list.json":
          "a list of instruments",
        "candled decode alpaca-bars page.json --timeframe 15m":
          "a page of bars, and the token of the next",
      ])
  )

  @Argument(help: "What kind of answer it is.")
  var kind: AnswerKind

  @Argument(help: "The file with the body, or - for standard input.", completion: .file())
  var file: String

  @Option(help: "The HTTP status it came with.")
  var status = 200

  @Option(help: "How long the bars are, where the answer does not say.")
  var timeframe: BarTimeframe?

  @Option(help: "Whose bars they are, where the answer does not say.")
  var symbol: String?

  func validate() throws {
    guard timeframe == nil || kind.takesTimeframe else {
      throw ValidationError("\(kind.rawValue) takes no --timeframe.")
    }
    guard symbol == nil || kind.takesSymbol else {
      throw ValidationError("\(kind.rawValue) takes no --symbol.")
    }
    guard symbol == nil || instrument != nil else {
      throw ValidationError("--symbol '\(symbol ?? "")' is no symbol.")
    }
    guard (100...599).contains(status) else {
      throw ValidationError("'\(status)' is no HTTP status: 100 to 599.")
    }
  }

  private var instrument: Symbol? { symbol.flatMap { Symbol(anySpelling: $0) } }

  func run() throws {
    let body = try InputFile.read(file)
    let (lines, isRefused) = body.withUnsafeBytes { body in
      switch kind {
      case .sinaQuotes:
        let (lines, exitClass) = SinaQuotesJSON.write(body: body, status: status)
        return (lines, exitClass != SinaQuotesJSON.exitAnswered)
      case .mairuiList: return MairuiListJSON.write(body: body, status: status)
      case .alpacaBars:
        return AlpacaBarsJSON.write(
          body: body, status: status, timeframe: timeframe?.value, symbol: instrument)
      }
    }
    try StandardOutput.write(lines: lines)
    if isRefused { throw CommandFailure.silent(.dataError) }
  }
}

/// The kinds of answers that can be decoded: a source and what was asked of it.
enum AnswerKind: String, CaseIterable, ExpressibleByArgument {
  case sinaQuotes = "sina-quotes"
  case mairuiList = "mairui-list"
  case alpacaBars = "alpaca-bars"

  var takesTimeframe: Bool { self == .alpacaBars }
  var takesSymbol: Bool { self == .alpacaBars }
}

/// The lengths of ready-made bars; the session after hours comes in none.
struct BarTimeframe: ExpressibleByArgument, Equatable {
  let value: Timeframe

  private static let all = Timeframe.allCases.filter { $0 != .afterHours }

  init?(argument: String) {
    guard let value = Self.all.first(where: { $0.name == argument }) else { return nil }
    self.value = value
  }

  static var allValueStrings: [String] { all.map(\.name) }
}
