/// `candled decode`: what the daemon would make of a recorded answer, record by record. For
/// support, and the seam by which tests from outside hold the decoders to their word.

import ArgumentParser
import Commands
import Feeds
import Market
import Operations

struct Decode: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Decode a recorded response, one JSON object per record.",
    discussion: Help.discussion(
      """
      Reads the body of one response exactly as the source sent it and prints its records in \
      order. Numbers are JSON strings with every digit the source sent; times have their offset. \
      A refused record is printed with its reason. A response refused as a whole prints one \
      object and exits 65.
      """,
      examples: ResponseKind.examples)
  )

  @Argument(help: "The kind of response: a source and what was requested.")
  var kind: ResponseKind

  @Argument(help: "The file with the body, or - for standard input.", completion: .file())
  var file: String

  @Option(help: "The HTTP status of the response.")
  var status = 200

  @Option(help: "The timeframe of the bars, if the body does not contain it.")
  var timeframe: BarTimeframe?

  @Option(help: "The symbol of the bars, if the body does not contain it.")
  var symbol: String?

  func validate() throws {
    try check(timeframe != nil, against: kind.sample.timeframe, option: "--timeframe")
    try check(symbol != nil, against: kind.sample.symbol, option: "--symbol")
    guard symbol == nil || instrument != nil else {
      throw ValidationError("--symbol '\(symbol ?? "")' is not a symbol.")
    }
    if kind.sample.symbol == .required, let instrument,
      kind.source.bars?.isRequestable(instrument) != true
    {
      throw ValidationError("--symbol '\(instrument)': \(kind.source.title) has no bars of it.")
    }
    guard (100...599).contains(status) else {
      throw ValidationError("--status '\(status)' is not an HTTP status: expected 100 to 599.")
    }
  }

  private func check(
    _ isGiven: Bool, against need: ResponseSample.Need, option: String
  ) throws {
    if need == .none, isGiven { throw ValidationError("\(kind.name) takes no \(option).") }
    if need == .required, !isGiven {
      throw ValidationError("\(kind.name) needs \(option): the body does not contain it.")
    }
  }

  private var instrument: Symbol? { symbol.flatMap { Symbol(anySpelling: $0) } }

  func run() throws {
    let context = ResponseSample.Context(symbol: instrument, timeframe: timeframe?.value)
    let (lines, isRefused) = try InputFile.read(file).withUnsafeBytes { body in
      kind.sample.write(body, status, context)
    }
    try StandardOutput.write(lines: lines)
    if isRefused { throw CommandFailure.silent(.dataError) }
  }
}

/// A kind of response that can be decoded: `sina-quotes`.
struct ResponseKind: ExpressibleByArgument {
  let source: any SourceDefinition
  let sample: ResponseSample

  var name: String { "\(source.name)-\(sample.name)" }

  private static let all = SourceRegistry.all.flatMap { source in
    source.samples.map { ResponseKind(source: source, sample: $0) }
  }

  static var examples: [(String, String)] {
    all.flatMap { kind in
      kind.sample.examples.map { ("candled decode \(kind.name) \($0.key)", $0.value) }
    }
  }

  private init(source: any SourceDefinition, sample: ResponseSample) {
    self.source = source
    self.sample = sample
  }

  init?(argument: String) {
    guard let kind = Self.all.first(where: { $0.name == argument }) else { return nil }
    self = kind
  }

  static var allValueStrings: [String] { all.map(\.name) }
}
