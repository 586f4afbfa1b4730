/// MessagePack (github.com/msgpack/msgpack): what a door's messages need of it.

import Market

struct MessagePackWriter: Sendable {
  private(set) var bytes: [UInt8] = []

  mutating func null() { bytes.append(0xC0) }

  mutating func integer(_ value: Int64) {
    if (-32...127).contains(value) {
      bytes.append(UInt8(truncatingIfNeeded: value))
    } else {
      append(0xD3, UInt64(bitPattern: value), byteCount: 8)
    }
  }

  /// The nearest binary number: MessagePack has no decimals.
  mutating func number(_ value: ExactDecimal) {
    // Safe: what a reader of the decimal in JSON gets, rounded once, from its text.
    append(0xCB, (Double(value.description) ?? 0).bitPattern, byteCount: 8)
  }

  mutating func string(_ text: String) {
    let length = text.utf8.count
    switch length {
    case ..<32: bytes.append(0xA0 | UInt8(length))
    case ..<0x100: append(0xD9, UInt64(length), byteCount: 1)
    default: append(0xDA, UInt64(min(length, 0xFFFF)), byteCount: 2)
    }
    bytes.append(contentsOf: text.utf8.prefix(0xFFFF))
  }

  mutating func array(count: Int) { collection(count, small: 0x90, large: 0xDC) }

  /// A name and a value follow for each of `count` members.
  mutating func map(count: Int) { collection(count, small: 0x80, large: 0xDE) }

  private mutating func collection(_ count: Int, small: UInt8, large: UInt8) {
    if count < 16 {
      bytes.append(small | UInt8(count))
    } else if count < 0x10000 {
      append(large, UInt64(count), byteCount: 2)
    } else {
      append(large + 1, UInt64(count), byteCount: 4)
    }
  }

  /// The extension type −1: nanoseconds in 30 bits, seconds in 34.
  mutating func moment(_ value: Timestamp) {
    let nanoseconds = UInt64(value.microseconds - value.seconds * 1_000_000) * 1_000
    bytes += [0xD7, 0xFF]
    append(nanoseconds << 34 | UInt64(bitPattern: value.seconds) & 0x3_FFFF_FFFF, byteCount: 8)
  }

  private mutating func append(_ type: UInt8, _ value: UInt64, byteCount: Int) {
    bytes.append(type)
    append(value, byteCount: byteCount)
  }

  private mutating func append(_ value: UInt64, byteCount: Int) {
    for index in (0..<byteCount).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index))))
    }
  }
}

/// Reads one value and writes it as JSON, so that messages in either encoding have one reader.
/// Binary data, fractions and extensions become null: no request has them. What is not MessagePack,
/// deeper than `depthMax`, or followed by more bytes is refused. It takes a step for each byte at
/// most, whatever lengths are claimed.
struct MessagePackReader {
  static let depthMax = 8

  private var rest: ArraySlice<UInt8>
  private var isBroken = false

  static func json(of bytes: [UInt8]) -> [UInt8]? {
    var reader = MessagePackReader(rest: bytes[...])
    var text = JSONWriter(capacity: bytes.count * 2)
    reader.copyValue(to: &text, depth: 0)
    return reader.isBroken || !reader.rest.isEmpty ? nil : text.bytes
  }

  private init(rest: ArraySlice<UInt8>) { self.rest = rest }

  private mutating func copyValue(to text: inout JSONWriter, depth: Int) {
    let type = UInt8(truncatingIfNeeded: number(byteCount: 1))
    if isBroken { return }
    switch type {
    case ...0x7F: text.integer(Int64(type))
    case ...0x8F: copyMap(count: UInt64(type & 15), to: &text, depth: depth)
    case ...0x9F: copyArray(count: UInt64(type & 15), to: &text, depth: depth)
    case ...0xBF: text.string(string(byteCount: UInt64(type & 31)))
    case 0xC0: text.null()
    case 0xC2, 0xC3: text.boolean(type == 0xC3)
    case 0xC4...0xC6: skip(number(byteCount: 1 << Int(type - 0xC4)), to: &text)
    case 0xC7...0xC9: skip(number(byteCount: 1 << Int(type - 0xC7)) &+ 1, to: &text)
    case 0xCA, 0xCB: skip(type == 0xCA ? 4 : 8, to: &text)
    case 0xCC...0xCF:
      text.integer(Int64(clamping: number(byteCount: 1 << Int(type - 0xCC))))
    case 0xD0...0xD3:
      let bits = 8 << UInt64(type - 0xD0)
      let value = Int64(bitPattern: number(byteCount: Int(bits) / 8) << (64 - bits))
      text.integer(value >> Int64(64 - bits))
    case 0xD4...0xD8: skip(1 + 1 << UInt64(type - 0xD4), to: &text)
    case 0xD9...0xDB: text.string(string(byteCount: number(byteCount: 1 << Int(type - 0xD9))))
    case 0xDC, 0xDD:
      copyArray(count: number(byteCount: type == 0xDC ? 2 : 4), to: &text, depth: depth)
    case 0xDE, 0xDF:
      copyMap(count: number(byteCount: type == 0xDE ? 2 : 4), to: &text, depth: depth)
    case 0xE0...0xFF: text.integer(Int64(Int8(bitPattern: type)))
    default: isBroken = true
    }
  }

  private mutating func copyArray(count: UInt64, to text: inout JSONWriter, depth: Int) {
    isBroken = isBroken || depth == Self.depthMax
    text.array { list in
      var index: UInt64 = 0
      while index < count, !isBroken {
        copyValue(to: &list, depth: depth + 1)
        index += 1
      }
    }
  }

  private mutating func copyMap(count: UInt64, to text: inout JSONWriter, depth: Int) {
    isBroken = isBroken || depth == Self.depthMax
    text.object { object in
      var index: UInt64 = 0
      while index < count, !isBroken {
        object.member(named: key()) { copyValue(to: &$0, depth: depth + 1) }
        index += 1
      }
    }
  }

  private mutating func key() -> String {
    let type = UInt8(truncatingIfNeeded: number(byteCount: 1))
    switch type {
    case 0xA0...0xBF: return string(byteCount: UInt64(type & 31))
    case 0xD9...0xDB: return string(byteCount: number(byteCount: 1 << Int(type - 0xD9)))
    default:
      isBroken = true
      return ""
    }
  }

  private mutating func string(byteCount: UInt64) -> String {
    String(validating: take(byteCount), as: UTF8.self) ?? broken()
  }

  private mutating func broken() -> String {
    isBroken = true
    return ""
  }

  private mutating func skip(_ byteCount: UInt64, to text: inout JSONWriter) {
    _ = take(byteCount)
    text.null()
  }

  private mutating func number(byteCount: Int) -> UInt64 {
    take(UInt64(byteCount)).reduce(0) { $0 << 8 | UInt64($1) }
  }

  private mutating func take(_ byteCount: UInt64) -> ArraySlice<UInt8> {
    guard !isBroken, byteCount <= UInt64(rest.count) else {
      isBroken = true
      return []
    }
    let taken = rest.prefix(Int(byteCount))
    rest = rest.dropFirst(Int(byteCount))
    return taken
  }
}
