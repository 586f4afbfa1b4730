/// What a JSON text is made of, as it stands there: bytes of the text, decoded only on demand.

import Market

enum JSONKind: Equatable {
  case object, array, string, number, boolean, null
}

/// One value. Containers are read by opening them; here they are only known to be well-formed.
enum JSONValue {
  case string(JSONString)
  case number(JSONNumber)
  case boolean(Bool)
  case null
  case container
}

extension JSONValue {
  var string: JSONString? {
    if case .string(let string) = self { string } else { nil }
  }

  var number: JSONNumber? {
    if case .number(let number) = self { number } else { nil }
  }
}

/// What stands between two quotation marks: well-formed UTF-8 and escapes.
struct JSONString {
  let bytes: UnsafeRawBufferPointer
  let hasEscapes: Bool

  /// The text with its escapes undone.
  var text: String {
    hasEscapes
      ? String(decoding: unescaped, as: UTF8.self) : String(decoding: bytes, as: UTF8.self)
  }

  private var unescaped: [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "\\"), let escape = JSONEscape(bytes, at: index) {
        text.append(contentsOf: UTF8.encode(escape.scalar).map(Array.init) ?? [])
        index += escape.length
      } else {
        text.append(bytes[index])
        index += 1
      }
    }
    return text
  }

  /// Whether the text is `word`; lets a key be switched on.
  @inline(__always)
  static func ~= (word: StaticString, string: JSONString) -> Bool {
    if string.hasEscapes { return string.text == word.description }
    let count = word.utf8CodeUnitCount
    guard string.bytes.count == count else { return false }
    // Keys are short and mostly differ at once: a call would cost more than the comparison.
    for index in 0..<count where string.bytes[index] != word.utf8Start[index] { return false }
    return true
  }
}

/// One escape inside a string: `\n`, `\u4e2d`, `\ud840\udc00`.
struct JSONEscape {
  let scalar: Unicode.Scalar
  /// The bytes that it has in the text: 2, 6 or 12.
  let length: Int

  private init(scalar: Unicode.Scalar, length: Int) {
    self.scalar = scalar
    self.length = length
  }

  /// nil where there is none: an unknown letter, missing digits, half a surrogate pair.
  init?(_ bytes: UnsafeRawBufferPointer, at start: Int) {
    guard start + 1 < bytes.count else { return nil }
    let letter = bytes[start + 1]
    guard letter != UInt8(ascii: "u") else {
      self.init(codeUnitsIn: bytes, at: start)
      return
    }
    guard let scalar = JSONEscape.letter(letter) else { return nil }
    self.init(scalar: scalar, length: 2)
  }

  private init?(codeUnitsIn bytes: UnsafeRawBufferPointer, at start: Int) {
    guard let first = JSONEscape.codeUnit(in: bytes, at: start) else { return nil }
    if let scalar = Unicode.Scalar(first) {
      self.init(scalar: scalar, length: 6)
    } else if (0xD800...0xDBFF).contains(first),
      let second = JSONEscape.codeUnit(in: bytes, at: start + 6),
      (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x1_0000 + (first - 0xD800) << 10 + (second - 0xDC00))
    {
      self.init(scalar: scalar, length: 12)
    } else {
      return nil
    }
  }

  private static func letter(_ byte: UInt8) -> Unicode.Scalar? {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): Unicode.Scalar(byte)
    case UInt8(ascii: "b"): "\u{8}"
    case UInt8(ascii: "f"): "\u{C}"
    case UInt8(ascii: "n"): "\n"
    case UInt8(ascii: "r"): "\r"
    case UInt8(ascii: "t"): "\t"
    default: nil
    }
  }

  /// The four hexadecimal digits of `\u5e73` at `start`.
  private static func codeUnit(in bytes: UnsafeRawBufferPointer, at start: Int) -> UInt32? {
    guard start + 6 <= bytes.count, bytes[start] == UInt8(ascii: "\\"),
      bytes[start + 1] == UInt8(ascii: "u")
    else { return nil }
    var unit: UInt32 = 0
    for index in start + 2..<start + 6 {
      guard let digit = Character(Unicode.Scalar(bytes[index])).hexDigitValue else { return nil }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }
}

/// A number as its literal: a binary number would lose digits of it.
struct JSONNumber {
  /// The whole literal, checked against the grammar.
  let bytes: UnsafeRawBufferPointer
  /// The bytes up to the exponent, if there is one.
  let mantissaBytes: Int
  /// Where it stands in the text.
  let offset: Int

  /// The value with the places its literal has; an exponent moves the point.
  /// - Throws: `numberBeyondRange` for more digits than an exact decimal holds.
  func decimal() throws(JSONFault) -> ExactDecimal {
    do throws(ExactDecimalError) {
      let mantissa = try ExactDecimal(parsing: bytes.slice(0, to: mantissaBytes))
      return mantissaBytes == bytes.count ? mantissa : try mantissa.shifted(by: exponent)
    } catch {
      throw JSONFault(reason: .numberBeyondRange, offset: offset)
    }
  }

  /// The value if it is whole and fits.
  var whole: Int64? {
    guard let value = try? decimal().normalized, value.scale == 0 else { return nil }
    return value.units
  }

  /// Bounded: beyond a thousand places nothing differs any more.
  private var exponent: Int {
    var exponent = 0
    for byte in bytes.dropFirst(mantissaBytes + 1) where (48...57).contains(byte) {
      exponent = min(exponent * 10 + Int(byte - 48), 1000)
    }
    return bytes[mantissaBytes + 1] == UInt8(ascii: "-") ? -exponent : exponent
  }
}

extension ExactDecimal {
  /// Times ten to the power of `exponent`.
  /// - Throws: `overflow`.
  fileprivate func shifted(by exponent: Int) throws(ExactDecimalError) -> ExactDecimal {
    if isZero { return .zero }
    var units = units
    var scale = Int(scale) - exponent
    while scale < 0 {
      let (grown, overflow) = units.multipliedReportingOverflow(by: 10)
      if overflow { throw .overflow }
      units = grown
      scale += 1
    }
    while scale > Int(ExactDecimal.scaleMax), units % 10 == 0 {
      units /= 10
      scale -= 1
    }
    guard scale <= Int(ExactDecimal.scaleMax) else { throw .overflow }
    return ExactDecimal(units: units, scale: UInt8(scale))
  }
}
