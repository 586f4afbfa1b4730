/// Refuses the texts that would end the process inside the parser: toml++ asserts what it has not
/// checked, and its assertions are alive in release builds. A file that is wrong must never be
/// worse than one that is not read. Each rule was found by `script/fuzz configuration`; none
/// refuses what TOML allows.

struct TOMLGuard {
  /// What is wrong with `text` and where, as far as the parser would not survive it.
  static func fault(in text: String) -> (line: Int, sentence: String)? {
    var guardian = TOMLGuard(text)
    return guardian.scan().map { (guardian.line, $0) }
  }

  private let scalars: [Unicode.Scalar]
  private var place = 0
  private var line = 1
  /// The brackets and braces that are open, none of them a section's.
  private var open: [Unicode.Scalar] = []
  private var isLineStart = true

  private init(_ text: String) { scalars = Array(text.unicodeScalars) }

  private var current: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }

  private mutating func scan() -> String? {
    // TOML allows none but these; the parser takes a NUL for the end and would read half a file.
    let allowed: Set<Unicode.Scalar> = ["\t", "\n", "\r"]
    if let bad = scalars.firstIndex(where: {
      ($0.value < 0x20 || $0.value == 0x7F) && !allowed.contains($0)
    }) {
      line += scalars[..<bad].count { $0 == "\n" }
      return "a control character"
    }
    while let scalar = current {
      if let fault = check(scalar) { return fault }
    }
    return nil
  }

  private mutating func advance() {
    if current == "\n" { line += 1 }
    place += 1
  }

  /// Reads what `scalar` begins.
  private mutating func check(_ scalar: Unicode.Scalar) -> String? {
    let wasLineStart = isLineStart
    isLineStart = TOMLGuard.isLineBreak(scalar) || wasLineStart && TOMLGuard.isBlank(scalar)
    switch scalar {
    case "\"", "'": skipString(scalar)
    case "#": while let next = current, !TOMLGuard.isLineBreak(next) { advance() }
    case "[" where wasLineStart && open.isEmpty: return header()
    case "[", "{":
      open.append(scalar)
      advance()
    case "]", "}":
      let opening: Unicode.Scalar = scalar == "]" ? "[" : "{"
      guard open.popLast() == opening else { return "a `\(scalar)` without its opening bracket" }
      advance()
    default: advance()
    }
    return nil
  }

  /// `[name]` or `[[name]]`, of which only the beginning is the parser's weakness.
  private mutating func header() -> String? {
    advance()
    skipBlanks()
    if current == "[" { advance() }
    skipBlanks()
    guard let first = current else { return nil }
    guard TOMLGuard.mayBeginName(first) else { return "the name of a section expected after `[`" }
    while let next = current, !TOMLGuard.isLineBreak(next), next != "#", next != "]" {
      if next == "\"" || next == "'" { skipString(next) } else { advance() }
    }
    while current == "]" { advance() }
    return nil
  }

  private mutating func skipBlanks() {
    while let next = current, TOMLGuard.isBlank(next) { advance() }
  }

  /// To behind the closing quotes, or to the end where the parser will miss them.
  private mutating func skipString(_ quote: Unicode.Scalar) {
    let isLong = (0..<3).allSatisfy { place + $0 < scalars.count && scalars[place + $0] == quote }
    for _ in 0..<(isLong ? 3 : 1) { advance() }
    while let scalar = current {
      if scalar == "\\", quote == "\"" {
        advance()
      } else if scalar == quote {
        let run = scalars[place...].prefix { $0 == quote }.count
        if !isLong || run >= 3 {
          // A long string may end in one or two quotes of its own.
          for _ in 0..<(isLong ? min(run, 5) : 1) { advance() }
          return
        }
      } else if !isLong, scalar == "\n" {
        place = scalars.count
        return
      }
      if place < scalars.count { advance() }
    }
  }

  private static func isLineBreak(_ scalar: Unicode.Scalar) -> Bool {
    ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"].contains(scalar)
  }

  /// A byte order mark counts: the parser skips it.
  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace && !isLineBreak(scalar) || scalar == "\u{FEFF}"
      || scalar == "\u{180E}"
  }

  /// What begins a key, or ends a header the parser refuses by itself.
  private static func mayBeginName(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "-", "\"", "'", "]": true
    default: false
    }
  }
}
