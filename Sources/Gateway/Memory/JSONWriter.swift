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
    enclose(in: ("{", "}"), body: body)
  }

  package mutating func array(_ body: (inout JSONWriter) -> Void) {
    enclose(in: ("[", "]"), body: body)
  }

  /// A member of an object; `value` appends exactly one value.
  package mutating func member(_ name: StaticString, value: (inout JSONWriter) -> Void) {
    member(named: name.description, value: value)
  }

  /// A member whose name is known at run time only.
  package mutating func member(named name: String, value: (inout JSONWriter) -> Void) {
    separate()
    append(quoted: name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
    value(&self)
    needsComma = true
  }

  private mutating func enclose(
    in brackets: (Unicode.Scalar, Unicode.Scalar), body: (inout JSONWriter) -> Void
  ) {
    separate()
    bytes.append(UInt8(ascii: brackets.0))
    needsComma = false
    body(&self)
    bytes.append(UInt8(ascii: brackets.1))
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
  package mutating func decimal(_ value: ExactDecimal) { raw("\"\(value)\"") }

  /// A literal with its scale, 1769.040, as APIs of other makers want it: never through a binary
  /// number.
  package mutating func number(_ value: ExactDecimal) { raw(value.description) }

  package mutating func integer(_ value: Int64) { raw(String(value)) }

  package mutating func boolean(_ value: Bool) { raw(value ? "true" : "false") }

  package mutating func null() { raw("null") }

  /// A value that is JSON already.
  package mutating func encoded(_ json: [UInt8]) {
    separate()
    bytes.append(contentsOf: json)
    needsComma = true
  }

  private mutating func raw(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  private mutating func append(quoted text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20:
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(Self.digits[Int(byte >> 4)])
        bytes.append(Self.digits[Int(byte & 15)])
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static let digits = Array("0123456789abcdef".utf8)
}
