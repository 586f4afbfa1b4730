/// One pass over a TOML text before the parser's, for what the parser does not do: it has no lines
/// of keys, and it ends the process on some texts (toml++ asserts what it has not checked, and its
/// assertions are alive in release builds). A file that is wrong must never be worse than one that
/// is not read. Each fault was found by `script/fuzz configuration`; none refuses what TOML allows.

struct TOMLScan {
  /// What the parser would not survive, and where.
  private(set) var fault: (line: Int, sentence: String)?
  /// The line of each key and section by its full dotted path, counted from 1, of a text that the
  /// parser accepts.
  private(set) var lines: [String: Int] = [:]

  private let scalars: [Unicode.Scalar]
  private var place = 0
  private var line = 1
  /// The brackets and braces that are open, none of them a section's.
  private var open: [Unicode.Scalar] = []
  private var section: [String] = []

  init(_ text: String) {
    scalars = Array(text.unicodeScalars)
    // TOML allows none but these; the parser takes a NUL for the end and would read half a file.
    let allowed: Set<Unicode.Scalar> = ["\t", "\n", "\r"]
    if let bad = scalars.firstIndex(where: {
      ($0.value < 0x20 || $0.value == 0x7F) && !allowed.contains($0)
    }) {
      line += scalars[..<bad].count { $0 == "\n" }
      fail("a control character")
      return
    }
    while let scalar = current, fault == nil {
      switch scalar {
      case "[": header()
      case "#": skip(scalar)
      case _ where TOMLScan.isLineBreak(scalar) || TOMLScan.isBlank(scalar): advance()
      default:
        let start = line
        record(section + path(until: "="), at: start)
        skipValue()
      }
    }
  }

  private var current: Unicode.Scalar? { place < scalars.count ? scalars[place] : nil }

  private mutating func advance() {
    if current == "\n" { line += 1 }
    place += 1
  }

  private mutating func fail(_ sentence: String) { fault = (line, sentence) }

  /// Each prefix of the path is noted too: `a.b = 1` is where `a` begins.
  private mutating func record(_ path: [String], at line: Int) {
    for last in path.indices {
      let key = path[...last].joined(separator: ".")
      if lines[key] == nil { lines[key] = line }
    }
  }

  /// `[name]` or `[[name]]`, of which only the beginning is the parser's weakness.
  private mutating func header() {
    let start = line
    advance()
    skipBlanks()
    if current == "[" { advance() }
    skipBlanks()
    guard let first = current else { return }
    guard TOMLScan.mayBeginName(first) else {
      return fail("the name of a section expected after `[`")
    }
    section = path(until: "]")
    record(section, at: start)
    while current == "]" { advance() }
    skipValue()
  }

  /// A dotted name, quoted parts included, up to `end`, a comment or the end of the line.
  private mutating func path(until end: Unicode.Scalar) -> [String] {
    var parts = [String.UnicodeScalarView()]
    while let next = current, next != end, next != "#", !TOMLScan.isLineBreak(next), fault == nil {
      switch next {
      case ".":
        parts.append(String.UnicodeScalarView())
        advance()
      case "\"", "'":
        let start = place + 1
        skipString(next)
        parts[parts.count - 1].append(contentsOf: scalars[start..<max(start, place - 1)])
      default:
        if !TOMLScan.isBlank(next) { parts[parts.count - 1].append(next) }
        if end == "=" { skip(next) } else { advance() }
      }
    }
    return parts.map { String($0) }
  }

  /// To the end of the line on which it ends.
  private mutating func skipValue() {
    while let next = current, fault == nil, !TOMLScan.isLineBreak(next) || !open.isEmpty {
      skip(next)
    }
  }

  /// What `scalar` begins: a string, a comment, a bracket, or itself.
  private mutating func skip(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"", "'": return skipString(scalar)
    case "#":
      while let next = current, !TOMLScan.isLineBreak(next) { advance() }
      return
    case "[", "{": open.append(scalar)
    case "]", "}":
      let opening: Unicode.Scalar = scalar == "]" ? "[" : "{"
      guard open.popLast() == opening else {
        return fail("a `\(scalar)` without its opening bracket")
      }
    default: break
    }
    advance()
  }

  private mutating func skipBlanks() {
    while let next = current, TOMLScan.isBlank(next) { advance() }
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
