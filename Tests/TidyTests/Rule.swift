import Testing

@testable import candled_tidy

/// One law of the house: a name and a pure function from a file to what breaks it.
struct Rule: Sendable, CustomTestStringConvertible {
  let name: String
  let violations: @Sendable (SourceFile) -> [Violation]

  var testDescription: String { name }

  static let all = shape + safety + boundaries + wording + references

  /// A rule about single lines: `message` is nil for a line that is fine.
  static func lines(
    _ name: String, message: @escaping @Sendable (SourceText.Line) -> String?
  ) -> Rule {
    Rule(name: name) { file in
      file.text.lines.enumerated().compactMap { index, line in
        message(line).map { Violation(path: file.path, line: index + 1, message: $0) }
      }
    }
  }
}

struct Violation: CustomStringConvertible {
  let path: String
  /// Counted from 1.
  let line: Int
  let message: String

  var description: String { "\(path):\(line): \(message)" }
}
