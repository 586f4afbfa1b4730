import Market

/// Integers in as many bytes as they need, behind the format's number.
struct PlaceWriter {
  private(set) var bytes = [Self.format]

  /// Raised with each change of what is written.
  static let format: UInt8 = 3

  mutating func put(_ value: some FixedWidthInteger) {
    var rest = Int64(value).folded
    while rest > 0x7F {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func put(_ value: ExactDecimal) {
    put(value.scale)
    put(value.units)
  }

  mutating func put(_ text: String) {
    put(text.utf8.count)
    bytes += text.utf8
  }

  mutating func put<Value: CaseIterable & Equatable>(_ value: Value) {
    put(Value.allCases.prefix { $0 != value }.count)
  }

  mutating func putOptional<Value>(_ value: Value?, by put: (inout Self, Value) -> Void) {
    self.put(value == nil ? 0 : 1)
    if let value { put(&self, value) }
  }

  mutating func putAll<Values: Collection>(
    _ values: Values, by put: (inout Self, Values.Element) -> Void
  ) {
    self.put(values.count)
    for value in values { put(&self, value) }
  }
}

struct PlaceReader {
  struct Malformed: Error {}

  private var bytes: ArraySlice<UInt8>

  init(_ body: [UInt8]) throws {
    bytes = body.dropFirst()
    guard body.first == PlaceWriter.format else { throw Malformed() }
  }

  var isAtEnd: Bool { bytes.isEmpty }

  mutating func integer<Value: FixedWidthInteger>() throws -> Value {
    guard let folded = UInt64(decoding: { bytes.popFirst() }),
      let value = Value(exactly: Int64(folded: folded))
    else { throw Malformed() }
    return value
  }

  mutating func decimal() throws -> ExactDecimal {
    let scale: UInt8 = try integer()
    guard scale <= ExactDecimal.scaleMax else { throw Malformed() }
    return ExactDecimal(units: try integer(), scale: scale)
  }

  mutating func text() throws -> String {
    let count: Int = try integer()
    guard count >= 0, count <= bytes.count else { throw Malformed() }
    defer { bytes.removeFirst(count) }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  mutating func named<Value: CaseIterable>() throws -> Value {
    let index: Int = try integer()
    guard index >= 0, let value = Value.allCases.dropFirst(index).first else { throw Malformed() }
    return value
  }

  mutating func optional<Value>(_ read: (inout Self) throws -> Value) throws -> Value? {
    try integer() == 0 ? nil : try read(&self)
  }

  mutating func all<Value>(_ read: (inout Self) throws -> Value) throws -> [Value] {
    let count: Int = try integer()
    var values: [Value] = []
    guard count >= 0 else { throw Malformed() }
    while values.count < count { values.append(try read(&self)) }
    return values
  }

  /// nil where the bytes are none of it, whole.
  static func read<Value>(_ body: [UInt8], by read: (inout Self) throws -> Value) -> Value? {
    guard var reader = try? Self(body), let value = try? read(&reader) else { return nil }
    return reader.isAtEnd ? value : nil
  }
}
