/// `candled decode`: what the daemon would make of a recorded answer, record by record. For
/// support, and the seam by which tests from outside hold the decoders to their word.

import ArgumentParser
import Feeds
import Operations

struct Decode: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print what a recorded answer says, one JSON object a record.",
    discussion: Help.discussion(
      """
      Reads the body of one answer exactly as the source sent it and prints its records in order. \
      Numbers are JSON strings with every digit the source sent; times carry +08:00. A record \
      that was refused is printed with its reason; an answer refused as a whole prints one object \
      and exits 65.
      """,
      examples: [
        "candled decode sina-quotes body.txt":
          "decode a saved answer",
        "candled decode sina-quotes - --status 403 < body.txt":
          "decode an answer that came with HTTP status 403",
        "candled decode sina-quotes body.txt | jq -r .symbol":
          "the symbols in it",
      ])
  )

  @Argument(help: "What kind of answer it is.")
  var kind: AnswerKind

  @Argument(help: "The file with the body, or - for standard input.", completion: .file())
  var file: String

  @Option(help: "The HTTP status it came with.")
  var status = 200

  func validate() throws {
    guard (100...599).contains(status) else {
      throw ValidationError("'\(status)' is no HTTP status: 100 to 599.")
    }
  }

  func run() throws {
    let body = try InputFile.read(file)
    let (lines, isRefused) = body.withUnsafeBytes { kind.decode($0, status: status) }
    try StandardOutput.write(lines: lines)
    if isRefused { throw CommandFailure.silent(.dataError) }
  }
}

/// The kinds of answers that can be decoded: a source and what was asked of it.
enum AnswerKind: String, CaseIterable, ExpressibleByArgument {
  case sinaQuotes = "sina-quotes"

  /// The lines to print, and whether the answer was refused as a whole.
  func decode(
    _ body: UnsafeRawBufferPointer, status: Int
  ) -> (lines: [String], isRefused: Bool) {
    switch self {
    case .sinaQuotes:
      let (lines, exitClass) = SinaQuotesJSON.write(body: body, status: status)
      return (lines, exitClass != SinaQuotesJSON.exitAnswered)
    }
  }
}
