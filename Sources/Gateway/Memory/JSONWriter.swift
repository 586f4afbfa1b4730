/// JSON as it is written: bytes appended in the order of the calls. What is sent a thousand times a
/// second is written by this; decimals are the database's text in quotes, their scale kept.

import Market

package struct JSONWriter: ~Copyable {
  /// Safe: nobody else has it, and it goes with the writer; `reserve` comes before each write.
  private var memory: UnsafeMutableRawBufferPointer
  private var count = 0
  /// Whether the next member or element needs a comma before it.
  private var needsComma = false

  package init(capacity: Int = 256) { memory = .allocate(byteCount: capacity, alignment: 1) }

  deinit { memory.deallocate() }

  /// One object of what `body` appends.
  static func encode(object body: (inout JSONWriter) -> Void) -> [UInt8] {
    var text = JSONWriter()
    text.object(body)
    return text.bytes
  }

  /// Begins anew, in the same memory.
  mutating func clear() { (count, needsComma) = (0, false) }

  /// What was written.
  package var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
      UnsafeMutableRawBufferPointer(bytes).copyMemory(from: written)
      initialized = count
    }
  }

  private var written: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: memory[..<count])
  }

  /// Makes room for so many bytes more.
  private mutating func reserve(_ more: Int) {
    if memory.count - count < more { grow(by: more) }
  }

  @inline(never)
  private mutating func grow(by more: Int) {
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(memory.count * 2, count + more), alignment: 1)
    larger.copyMemory(from: written)
    memory.deallocate()
    memory = larger
  }

  private mutating func put(_ byte: UInt8) {
    memory[count] = byte
    count += 1
  }

  private mutating func put(_ text: StaticString) {
    let bytes = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    put(bytes)
  }

  private mutating func put(_ bytes: UnsafeRawBufferPointer) {
    UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  // MARK: Structure

  package mutating func object(_ body: (inout JSONWriter) -> Void) {
    enclose(in: (UInt8(ascii: "{"), UInt8(ascii: "}")), body: body)
  }

  package mutating func array(_ body: (inout JSONWriter) -> Void) {
    enclose(in: (UInt8(ascii: "["), UInt8(ascii: "]")), body: body)
  }

  /// A member of an object; `value` appends exactly one value.
  /// - Parameter name: nothing in it needs an escape.
  package mutating func member(_ name: StaticString, value: (inout JSONWriter) -> Void) {
    reserve(name.utf8CodeUnitCount + 4)
    separate()
    put(UInt8(ascii: "\""))
    put(name)
    put(UInt8(ascii: "\""))
    put(UInt8(ascii: ":"))
    value(&self)
    needsComma = true
  }

  /// A member whose name is known at run time only.
  package mutating func member(named name: String, value: (inout JSONWriter) -> Void) {
    reserve(2)
    separate()
    append(quoted: name)
    reserve(1)
    put(UInt8(ascii: ":"))
    value(&self)
    needsComma = true
  }

  /// A member that is an object of what `body` appends.
  package mutating func object(_ name: StaticString, body: (inout JSONWriter) -> Void) {
    member(name) { $0.object(body) }
  }

  package mutating func object(named name: String, body: (inout JSONWriter) -> Void) {
    member(named: name) { $0.object(body) }
  }

  /// A member that is an array of what `body` appends.
  package mutating func array(_ name: StaticString, body: (inout JSONWriter) -> Void) {
    member(name) { $0.array(body) }
  }

  private mutating func enclose(
    in brackets: (UInt8, UInt8), body: (inout JSONWriter) -> Void
  ) {
    reserve(2)
    separate()
    put(brackets.0)
    body(&self)
    reserve(1)
    put(brackets.1)
    needsComma = true
  }

  /// Room for it must be there.
  private mutating func separate() {
    if needsComma { put(UInt8(ascii: ",")) }
    needsComma = false
  }

  // MARK: Values

  package mutating func string(_ text: String) {
    reserve(1)
    separate()
    append(quoted: text)
    needsComma = true
  }

  /// In quotes, with its scale: "1769.040".
  package mutating func decimal(_ value: ExactDecimal) {
    raw(inQuotes: true) { value.write(to: $0) }
  }

  /// A literal with its scale, 1769.040, as APIs of other makers want it: never through a binary
  /// number.
  package mutating func number(_ value: ExactDecimal) {
    raw(inQuotes: false) { value.write(to: $0) }
  }

  package mutating func integer(_ value: Int64) { number(ExactDecimal(value)) }

  package mutating func boolean(_ value: Bool) { raw(value ? "true" : "false") }

  package mutating func null() { raw("null") }

  /// As the clock there shows it: "2026-07-06T09:31:00+08:00".
  package mutating func moment(_ moment: Timestamp, in zone: MarketZone) {
    raw(inQuotes: true) { zone.write(moment, to: $0) }
  }

  package mutating func day(_ day: TradingDay) {
    raw(inQuotes: true) { day.write(to: $0) }
  }

  /// A value that is JSON already.
  package mutating func encoded(_ json: [UInt8]) {
    reserve(json.count + 1)
    separate()
    json.withUnsafeBytes { put($0) }
    needsComma = true
  }

  private mutating func raw(_ text: StaticString) {
    reserve(text.utf8CodeUnitCount + 1)
    separate()
    put(text)
    needsComma = true
  }

  /// - Parameter write: returns how many bytes it wrote, `momentBytesMax` at most; none of them
  ///   needs an escape.
  private mutating func raw(
    inQuotes: Bool, write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    reserve(MarketZone.momentBytesMax + 3)
    separate()
    if inQuotes { put(UInt8(ascii: "\"")) }
    count += write(UnsafeMutableRawBufferPointer(rebasing: memory[count...]))
    if inQuotes { put(UInt8(ascii: "\"")) }
    needsComma = true
  }

  private mutating func append(quoted text: String) {
    var text = text
    text.withUTF8 { text in
      // Each byte takes six at most.
      reserve(text.count * 6 + 2)
      put(UInt8(ascii: "\""))
      for byte in text { put(escaping: byte) }
      put(UInt8(ascii: "\""))
    }
  }

  private mutating func put(escaping byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      put(UInt8(ascii: "\\"))
      put(byte)
    case 0..<0x20:
      put("\\u00")
      put(Self.digits[Int(byte >> 4)])
      put(Self.digits[Int(byte & 15)])
    default: put(byte)
    }
  }

  private static let digits = Array("0123456789abcdef".utf8)
}
