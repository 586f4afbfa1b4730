/// Swift source cut into what a rule may look at: code, comments and literals, line by line.
///
/// Rules that searched the raw text would trip over their own names in comments and strings. The
/// cut knows line and nested block comments, raw and multi-line literals, interpolation (which is
/// code again), raw identifiers and `#/…/#` patterns. It does not know bare `/…/` patterns.
struct SourceText {
  struct Line {
    var raw = ""
    /// Without comments; a literal is left as `""`, a raw identifier as an empty pair of backticks.
    var code = ""
    /// The text of the comments on this line, markers included.
    var comment = ""
    /// The contents of the literals that begin on this line, interpolations as `\u{FFFC}`.
    var literals: [String] = []

    /// Nothing here but a comment.
    var isComment: Bool { !comment.isEmpty && code.allSatisfy(\.isWhitespace) }
    var isBlank: Bool { raw.allSatisfy(\.isWhitespace) }
  }

  private(set) var lines: [Line]

  init(_ source: String) {
    var scanner = SourceScanner(source)
    scanner.scanCode(inInterpolation: false)
    lines = scanner.lines
    let raws = source.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, raw) in raws.enumerated() where index < lines.count {
      lines[index].raw = String(raw)
    }
    if lines.last?.raw.isEmpty == true { lines.removeLast() }
  }

  /// Words, and single characters for all else but space.
  static func tokens(of code: String) -> [Substring] {
    var tokens: [Substring] = []
    var rest = Substring(code)
    while let first = rest.first {
      let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      let token = word.isEmpty ? rest.prefix(1) : word
      if !first.isWhitespace { tokens.append(token) }
      rest = rest.dropFirst(token.count)
    }
    return tokens
  }
}

/// The state of one pass over the bytes.
private struct SourceScanner {
  private let bytes: [UInt8]
  private var index = 0
  private(set) var lines = [SourceText.Line()]

  init(_ source: String) { bytes = Array(source.utf8) }

  private var isAtEnd: Bool { index >= bytes.count }

  private func looking(at text: StaticString, from start: Int? = nil) -> Bool {
    let start = start ?? index
    guard start + text.utf8CodeUnitCount <= bytes.count else { return false }
    return (0..<text.utf8CodeUnitCount).allSatisfy { bytes[start + $0] == text.utf8Start[$0] }
  }

  /// Takes `count` bytes; the caller decides where they go.
  private mutating func take(_ count: Int = 1) -> String {
    let end = min(index + count, bytes.count)
    defer { index = end }
    return String(decoding: bytes[index..<end], as: UTF8.self)
  }

  private mutating func takeNewline() {
    index += 1
    lines.append(SourceText.Line())
  }

  private mutating func append(_ text: String, to part: WritableKeyPath<SourceText.Line, String>) {
    lines[lines.count - 1][keyPath: part] += text
  }

  /// Up to the end, or up to and with the bracket that closes an interpolation.
  mutating func scanCode(inInterpolation: Bool) {
    var depth = 0
    while !isAtEnd {
      if looking(at: "\n") {
        takeNewline()
      } else if looking(at: "//") {
        append(take(lengthOfRun { $0 != UInt8(ascii: "\n") }), to: \.comment)
      } else if looking(at: "/*") {
        scanBlockComment()
      } else if looking(at: "`") {
        index += lengthOfRun(from: index + 1) { $0 != UInt8(ascii: "`") } + 2
        append("``", to: \.code)
      } else if scanLiteral() {
        append("\"\"", to: \.code)
      } else {
        if looking(at: "(") { depth += 1 }
        if looking(at: ")") { depth -= 1 }
        let text = take(1 + lengthOfRun(from: index + 1) { !SourceScanner.isSpecial[Int($0)] })
        if inInterpolation, depth < 0 {
          index -= text.utf8.count - 1
          return
        }
        append(text, to: \.code)
      }
    }
  }

  private func lengthOfRun(from start: Int? = nil, _ belongs: (UInt8) -> Bool) -> Int {
    let start = start ?? index
    var end = start
    while end < bytes.count, belongs(bytes[end]) { end += 1 }
    return end - start
  }

  /// The bytes at which code may turn into something else; all others are copied in runs.
  private static let isSpecial: [Bool] = {
    var table = [Bool](repeating: false, count: 256)
    for byte in "\n/`\"#()".utf8 { table[Int(byte)] = true }
    return table
  }()

  private mutating func scanBlockComment() {
    let star = UInt8(ascii: "*")
    var depth = 0
    repeat {
      if looking(at: "/*") {
        depth += 1
        append(take(2), to: \.comment)
      } else if looking(at: "*/") {
        depth -= 1
        append(take(2), to: \.comment)
      } else if looking(at: "\n") {
        takeNewline()
      } else {
        append(
          take(
            1 + lengthOfRun(from: index + 1) { !SourceScanner.isSpecial[Int($0)] && $0 != star }),
          to: \.comment)
      }
    } while depth > 0 && !isAtEnd
  }

  /// Takes a literal or pattern that begins here, if one does.
  private mutating func scanLiteral() -> Bool {
    let hashes = lengthOfRun { $0 == UInt8(ascii: "#") }
    let start = index + hashes
    if hashes > 0, looking(at: "/", from: start) {
      scanBody(from: start + 1, closing: [UInt8(ascii: "/")], hashes: hashes, escapes: false)
      return true
    }
    guard looking(at: "\"", from: start) else { return false }
    let afterQuotes = start + 3 + lengthOfRun(from: start + 3) { $0 == UInt8(ascii: " ") }
    let isMultiline = looking(at: "\"\"\"", from: start) && looking(at: "\n", from: afterQuotes)
    let quotes = [UInt8](repeating: UInt8(ascii: "\""), count: isMultiline ? 3 : 1)
    scanBody(from: start + quotes.count, closing: quotes, hashes: hashes, escapes: true)
    return true
  }

  private mutating func scanBody(from start: Int, closing: [UInt8], hashes: Int, escapes: Bool) {
    let pounds = [UInt8](repeating: UInt8(ascii: "#"), count: hashes)
    let escape = [UInt8(ascii: "\\")] + pounds
    let opening = lines.count - 1
    var content: [UInt8] = []
    index = start
    while !isAtEnd, !bytes[index...].starts(with: closing + pounds) {
      if escapes, bytes[index...].starts(with: escape) {
        index += escape.count
        if looking(at: "(") {
          index += 1
          content += Array("\u{FFFC}".utf8)
          append(" ", to: \.code)
          scanCode(inInterpolation: true)
          append(" ", to: \.code)
          continue
        }
        content += escape
      }
      if looking(at: "\n") {
        if closing.count == 1 { break }
        lines.append(SourceText.Line())
      }
      if !isAtEnd { content.append(bytes[index]) }
      index += 1
    }
    if !looking(at: "\n") { index += closing.count + hashes }
    lines[opening].literals.append(String(decoding: content, as: UTF8.self))
  }
}
