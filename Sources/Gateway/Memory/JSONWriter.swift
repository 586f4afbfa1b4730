/// JSON as it is written: bytes appended in the order of the calls. What is sent a thousand times a
/// second is written by this; decimals are the database's text in quotes, their scale kept.

import Market

package struct JSONWriter: Sendable {
  package private(set) var bytes: [UInt8] = []
  /// Whether the next member or element needs a comma before it.
  private var needsComma = false

  package init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

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
    separate()
    append(ascii: "\"")
    append(ascii: name)
    append(ascii: "\":")
    value(&self)
    needsComma = true
  }

  /// A member whose name is known at run time only.
  package mutating func member(named name: String, value: (inout JSONWriter) -> Void) {
    separate()
    append(quoted: name)
    bytes.append(UInt8(ascii: ":"))
    value(&self)
    needsComma = true
  }

  private mutating func enclose(
    in brackets: (UInt8, UInt8), body: (inout JSONWriter) -> Void
  ) {
    separate()
    bytes.append(brackets.0)
    body(&self)
    bytes.append(brackets.1)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = false
  }

  // MARK: Values

  package mutating func string(_ text: String) {
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

  /// A value that is JSON already.
  package mutating func encoded(_ json: [UInt8]) {
    separate()
    bytes.append(contentsOf: json)
    needsComma = true
  }

  private mutating func raw(_ text: StaticString) {
    separate()
    append(ascii: text)
    needsComma = true
  }

  /// - Parameter write: returns how many bytes it wrote; none of them needs an escape.
  private mutating func raw(
    inQuotes: Bool, write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    separate()
    if inQuotes { bytes.append(UInt8(ascii: "\"")) }
    withUnsafeTemporaryAllocation(byteCount: MarketZone.momentBytesMax, alignment: 1) { buffer in
      let count = write(buffer)
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    if inQuotes { bytes.append(UInt8(ascii: "\"")) }
    needsComma = true
  }

  private mutating func append(ascii text: StaticString) {
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private mutating func append(quoted text: String) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { text in
      if text.allSatisfy(Self.isPlain) {
        bytes.append(contentsOf: text)
      } else {
        for byte in text { append(escaped: byte) }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private mutating func append(escaped byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      bytes.append(UInt8(ascii: "\\"))
      bytes.append(byte)
    case 0..<0x20:
      append(ascii: "\\u00")
      bytes.append(Self.digits[Int(byte >> 4)])
      bytes.append(Self.digits[Int(byte & 15)])
    default: bytes.append(byte)
    }
  }

  private static let digits = Array("0123456789abcdef".utf8)
}
