/// Finds the lines on which keys and sections of a TOML text stand, which the parser does not
/// tell. It runs after the parser has accepted the text, so it need not judge, only skip: strings
/// of all four kinds, comments, and values that span lines.

struct TOMLKeyLocator {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var lines: [String: Int] = [:]

  /// The line of each key and section by its full dotted path, counted from 1.
  static func lines(in text: String) -> [String: Int] {
    var locator = TOMLKeyLocator(bytes: Array(text.utf8))
    locator.scan()
    return locator.lines
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func advance() {
    if current == UInt8(ascii: "\n") { line += 1 }
    position += 1
  }

  private mutating func scan() {
    var section: [String] = []
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: " "), UInt8(ascii: "\t"):
        advance()
      case UInt8(ascii: "#"):
        skipComment()
      case UInt8(ascii: "["):
        section = sectionHeader()
      default:
        let start = line
        record(section + keyPath(until: UInt8(ascii: "=")), at: start)
        skipValue()
      }
    }
  }

  private mutating func sectionHeader() -> [String] {
    let start = line
    while current == UInt8(ascii: "[") { advance() }
    let path = keyPath(until: UInt8(ascii: "]"))
    record(path, at: start)
    while let byte = current, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "#") { advance() }
    return path
  }

  /// Each prefix of the path is noted too: `a.b = 1` is where `a` begins.
  private mutating func record(_ path: [String], at line: Int) {
    for count in 1...max(1, path.count) {
      let key = path.prefix(count).joined(separator: ".")
      if lines[key] == nil { lines[key] = line }
    }
  }

  /// A dotted key, quoted parts included, up to and over `end`.
  private mutating func keyPath(until end: UInt8) -> [String] {
    var parts: [String] = []
    var part: [UInt8] = []
    while let byte = current, byte != end {
      switch byte {
      case UInt8(ascii: "."):
        parts.append(String(decoding: part, as: UTF8.self))
        part = []
        advance()
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        let start = position
        skipString(byte)
        part += bytes[min(start + 1, position)..<max(start + 1, position - 1)]
      case UInt8(ascii: " "), UInt8(ascii: "\t"):
        advance()
      default:
        part.append(byte)
        advance()
      }
    }
    advance()
    return parts + [String(decoding: part, as: UTF8.self)]
  }

  private mutating func skipComment() {
    while let byte = current, byte != UInt8(ascii: "\n") { advance() }
  }

  /// To the end of the line on which the value ends.
  private mutating func skipValue() {
    var depth = 0
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\n") where depth == 0: return
      case UInt8(ascii: "#"): skipComment()
      case UInt8(ascii: "\""), UInt8(ascii: "'"): skipString(byte)
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        advance()
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        depth -= 1
        advance()
      default: advance()
      }
    }
  }

  private mutating func skipString(_ quote: UInt8) {
    let isLong = bytes[position...].starts(with: [quote, quote, quote])
    let closing = [UInt8](repeating: quote, count: isLong ? 3 : 1)
    for _ in closing { advance() }
    while let byte = current, !bytes[position...].starts(with: closing) {
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") { advance() }
      if position < bytes.count { advance() }
    }
    for _ in closing where position < bytes.count { advance() }
    // A long string may end in one or two quotes of its own.
    while isLong, current == quote { advance() }
  }
}
