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
        "candled decode sina-kline body.txt --symbol sh600519 --scale 1":
          "the bars of a minute in a K-line",
      ])
  )

  @Argument(help: "What kind of answer it is.")
  var kind: ResponseKind

  @Argument(help: "The file with the body, or - for standard input.", completion: .file())
  var file: String

  @Option(help: "The HTTP status it came with.")
  var status = 200

  @Option(help: "How long the bars are, where the answer does not say.")
  var timeframe: BarTimeframe?

  @Option(help: "Whose bars they are, where the answer does not say.")
  var symbol: String?

  @Option(help: "The scale a K-line was asked with: minutes of trading in a bar.")
  var scale: KlineScale?

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
    try validateKline()
    guard (100...599).contains(status) else {
      throw ValidationError("'\(status)' is no HTTP status: 100 to 599.")
    }
  }

  /// The answer holds rows alone, so what was asked must be said.
  private func validateKline() throws {
    guard kind == .sinaKline else {
      guard scale == nil else { throw ValidationError("\(kind.rawValue) takes no --scale.") }
      return
    }
    guard let instrument else {
      throw ValidationError("sina-kline needs --symbol: the answer does not say whose bars it has.")
    }
    guard SinaHistory.isRequestable(instrument) else {
      throw ValidationError("--symbol '\(instrument)' has no K-line: sh, sz and bj have.")
    }
    guard scale != nil else {
      throw ValidationError("sina-kline needs --scale: the answer does not say how long bars are.")
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
      case .sinaKline:
        guard let instrument, let scale else { preconditionFailure("validated before") }
        return SinaKlineJSON.write(
          body: body, status: status, symbol: instrument, scale: scale.value)
      }
    }
    try StandardOutput.write(lines: lines)
    if isRefused { throw CommandFailure.silent(.dataError) }
  }
}

/// The kinds of answers that can be decoded: a source and what was asked of it.
enum ResponseKind: String, CaseIterable, ExpressibleByArgument {
  case sinaQuotes = "sina-quotes"
  case mairuiList = "mairui-list"
  case alpacaBars = "alpaca-bars"
  case sinaKline = "sina-kline"

  var takesTimeframe: Bool { self == .alpacaBars }
  var takesSymbol: Bool { self == .alpacaBars || self == .sinaKline }
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

/// The scales of Sina's K-line.
struct KlineScale: ExpressibleByArgument, Equatable {
  let value: SinaKlineScale

  init?(argument: String) {
    guard let value = Int(argument).flatMap(SinaKlineScale.init) else { return nil }
    self.value = value
  }

  static var allValueStrings: [String] { SinaKlineScale.allCases.map { String($0.rawValue) } }
}
