/// Walks a JSON text (RFC 8259) byte by byte, at the pace of who reads it.
///
///     try reader.openObject()
///     while let key = try reader.nextKey() {
///       switch key {
///       case "name": name = try reader.readString().text
///       default: try reader.skip()
///       }
///     }
///     try reader.finish()
///
/// Why not a library: prices are the source's literals and must become exact decimals without
/// passing through binary floating point, and a page of 10,000 bars must not become a tree of
/// boxed values first. It is strict (no comments, bare keys, trailing commas or leading zeros) and
/// bounded, skips with the same rules it reads with, and traps on no input. Unknown and repeated
/// keys are the reader's business. What it hands out belongs to the text and must not outlive it.

struct JSONReader {
  private let bytes: UnsafeRawBufferPointer
  /// The next byte to read.
  private(set) var offset: Int
  private var depth = 0
  /// One bit a level: whether it is an object, and whether something was read in it.
  private var objects: UInt64 = 0
  private var begun: UInt64 = 0

  /// The levels that the two words above have bits for; the deepest answer known has four.
  static let depthMax = 64
  /// Far above any answer: all assets of Alpaca are several MB
  /// (docs/sources/alpaca.md#calendar-and-assets).
  static let bytesMax = 64 << 20

  /// - Throws: `tooLong`.
  init(_ text: UnsafeRawBufferPointer) throws(JSONFault) {
    bytes = text
    offset = text.starts(with: NameCharset.byteOrderMark) ? NameCharset.byteOrderMark.count : 0
    if text.count > JSONReader.bytesMax { throw JSONFault(reason: .tooLong, offset: 0) }
  }

  /// The kind of the value that comes next, which is not read yet.
  mutating func peek() throws(JSONFault) -> JSONKind {
    switch try nextByte() {
    case UInt8(ascii: "{"): .object
    case UInt8(ascii: "["): .array
    case UInt8(ascii: "\""): .string
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): .number
    case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
    case UInt8(ascii: "n"): .null
    default: throw fault(.expected("a value"))
    }
  }

  mutating func openObject() throws(JSONFault) {
    try take(UInt8(ascii: "{"), expecting: "an object")
    try descend(intoObject: true)
  }

  mutating func openArray() throws(JSONFault) {
    try take(UInt8(ascii: "["), expecting: "an array")
    try descend(intoObject: false)
  }

  /// The key of the open object's next member, whose value must be read or skipped before the next
  /// call; nil closes the object.
  mutating func nextKey() throws(JSONFault) -> JSONString? {
    guard try nextMember(orClose: UInt8(ascii: "}")) else { return nil }
    let key = try readString()
    try take(UInt8(ascii: ":"), expecting: "a colon")
    return key
  }

  /// Whether the open array has one more value, which must be read or skipped before the next
  /// call; false closes the array.
  mutating func nextElement() throws(JSONFault) -> Bool {
    try nextMember(orClose: UInt8(ascii: "]"))
  }

  /// Reads one value of any kind; of a container only that it is well-formed.
  mutating func readValue() throws(JSONFault) -> JSONValue {
    switch try peek() {
    case .object, .array:
      try skipContainer()
      return .container
    case .string: return .string(try readString())
    case .number: return .number(try readNumber())
    case .boolean: return .boolean(try readBoolean())
    case .null:
      try readNull()
      return .null
    }
  }

  mutating func skip() throws(JSONFault) { _ = try readValue() }

  /// Nothing but blanks may follow.
  mutating func finish() throws(JSONFault) {
    skipBlanks()
    if offset < bytes.count { throw fault(.expected("the end")) }
  }
}

extension JSONReader {
  /// What was read since `start`, an earlier `offset`.
  func text(from start: Int) -> UnsafeRawBufferPointer { bytes.slice(start, to: offset) }
}

// MARK: - Structure

extension JSONReader {
  private mutating func descend(intoObject isObject: Bool) throws(JSONFault) {
    guard depth < JSONReader.depthMax else { throw fault(.tooDeep) }
    let level: UInt64 = 1 << depth
    depth += 1
    begun &= ~level
    objects = isObject ? objects | level : objects & ~level
  }

  private mutating func nextMember(orClose bracket: UInt8) throws(JSONFault) -> Bool {
    precondition(depth > 0, "a member is read outside an object")
    let level: UInt64 = 1 << (depth - 1)
    let byte = try nextByte()
    if byte == bracket {
      offset += 1
      depth -= 1
      return false
    }
    if begun & level == 0 {
      begun |= level
      return true
    }
    guard byte == UInt8(ascii: ",") else { throw fault(.expected("a comma")) }
    offset += 1
    return true
  }

  /// Skips a container without recursion: the levels are counted, not stacked.
  private mutating func skipContainer() throws(JSONFault) {
    let floor = depth
    try descendIntoNext()
    while depth > floor {
      let isObject = objects & (1 << (depth - 1)) != 0
      let hasMember = isObject ? try nextKey() != nil : try nextElement()
      guard hasMember else { continue }
      let kind = try peek()
      if kind == .object || kind == .array { try descendIntoNext() } else { try skip() }
    }
  }

  private mutating func descendIntoNext() throws(JSONFault) {
    if try peek() == .object { try openObject() } else { try openArray() }
  }

  /// The next byte that is no blank, not read yet.
  @inline(__always)
  private mutating func nextByte() throws(JSONFault) -> UInt8 {
    if offset < bytes.count, bytes[offset] > 0x20 { return bytes[offset] }
    skipBlanks()
    guard offset < bytes.count else { throw fault(.endOfText) }
    return bytes[offset]
  }

  private mutating func skipBlanks() {
    while offset < bytes.count {
      switch bytes[offset] {
      case 0x20, 0x09, 0x0A, 0x0D: offset += 1
      default: return
      }
    }
  }

  @inline(__always)
  private mutating func take(
    _ byte: UInt8, expecting expected: StaticString
  ) throws(JSONFault) {
    guard try nextByte() == byte else { throw fault(.expected(expected.description)) }
    offset += 1
  }

  private func fault(_ reason: JSONFault.Reason) -> JSONFault {
    JSONFault(reason: reason, offset: offset)
  }
}

// MARK: - Scalars

extension JSONReader {
  mutating func readString() throws(JSONFault) -> JSONString {
    try take(UInt8(ascii: "\""), expecting: "a string")
    let start = offset
    var hasEscapes = false
    var isASCII = true
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte == UInt8(ascii: "\"") {
        let content = bytes.slice(start, to: offset)
        guard isASCII || NameCharset.isUTF8(content) else { throw fault(.notUTF8) }
        offset += 1
        return JSONString(bytes: content, hasEscapes: hasEscapes)
      }
      if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        try skipEscape()
        continue
      }
      if byte < 0x20 { throw fault(.controlCharacter) }
      if byte >= 0x80 { isASCII = false }
      offset += 1
    }
    throw fault(.endOfText)
  }

  private mutating func skipEscape() throws(JSONFault) {
    guard offset + 1 < bytes.count else { throw fault(.endOfText) }
    guard let escape = JSONEscape(bytes, at: offset) else { throw fault(.badEscape) }
    offset += escape.length
  }

  mutating func readNumber() throws(JSONFault) -> JSONNumber {
    guard try peek() == .number else { throw fault(.expected("a number")) }
    let start = offset
    if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
    let leadsWithZero = offset < bytes.count && bytes[offset] == UInt8(ascii: "0")
    let digits = try readDigits()
    if leadsWithZero, digits > 1 { throw fault(.expected("a number without leading zeros")) }
    if takeIf(UInt8(ascii: ".")) { _ = try readDigits() }
    var mantissaEnd: Int?
    if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
      mantissaEnd = offset - start
      offset += 1
      if !takeIf(UInt8(ascii: "-")) { _ = takeIf(UInt8(ascii: "+")) }
      _ = try readDigits()
    }
    return JSONNumber(
      bytes: bytes.slice(start, to: offset), mantissaBytes: mantissaEnd ?? offset - start,
      offset: start)
  }

  /// Reads digits, at least one, and returns how many.
  @inline(__always)
  private mutating func readDigits() throws(JSONFault) -> Int {
    let start = offset
    while offset < bytes.count, bytes[offset] &- UInt8(ascii: "0") <= 9 { offset += 1 }
    if offset > start { return offset - start }
    throw fault(offset < bytes.count ? .expected("a digit") : .endOfText)
  }

  private mutating func takeIf(_ byte: UInt8) -> Bool {
    guard offset < bytes.count, bytes[offset] == byte else { return false }
    offset += 1
    return true
  }

  mutating func readBoolean() throws(JSONFault) -> Bool {
    let isTrue = try nextByte() == UInt8(ascii: "t")
    try takeWord(isTrue ? JSONReader.trueWord : JSONReader.falseWord)
    return isTrue
  }

  mutating func readNull() throws(JSONFault) {
    _ = try nextByte()
    try takeWord(JSONReader.nullWord)
  }

  private static let trueWord = Array("true".utf8)
  private static let falseWord = Array("false".utf8)
  private static let nullWord = Array("null".utf8)

  private mutating func takeWord(_ word: [UInt8]) throws(JSONFault) {
    guard bytes.starts(with: word, at: offset) else { throw fault(.expected("a value")) }
    offset += word.count
  }
}
