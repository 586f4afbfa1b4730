import Market

/// The bound parameters of one statement, in binary. Each is one field of a `WireBuffer`.
package struct WireParameters: ~Copyable {
  private var buffer = WireBuffer(capacity: 1024)
  private var starts: [Int] = []

  package init(_ parameters: WireParameter...) { self.init(parameters) }

  package init(_ parameters: [WireParameter]) {
    for parameter in parameters { add(parameter.write) }
  }

  package mutating func add(_ write: (inout WireBuffer) -> Void) {
    buffer.reserveRow()
    starts.append(buffer.count)
    write(&buffer)
  }

  /// The parameters in the form libpq takes them; valid inside `body` only.
  func withArguments<Response>(
    _ body: (
      Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> Response
  ) -> Response {
    let contents = buffer.contents
    var values: [UnsafePointer<CChar>?] = []
    var lengths: [Int32] = []
    for start in starts {
      let length = Int32(bigEndian: contents.loadUnaligned(fromByteOffset: start, as: Int32.self))
      let address = contents.baseAddress?.advanced(by: start + 4)
      values.append(length < 0 ? nil : address?.assumingMemoryBound(to: CChar.self))
      lengths.append(max(length, 0))
    }
    let formats = [Int32](repeating: 1, count: starts.count)
    return values.withUnsafeBufferPointer { values in
      lengths.withUnsafeBufferPointer { lengths in
        formats.withUnsafeBufferPointer { formats in
          body(
            Int32(starts.count), values.baseAddress, lengths.baseAddress, formats.baseAddress)
        }
      }
    }
  }
}

/// One of them; nil is NULL.
package struct WireParameter {
  fileprivate let write: (inout WireBuffer) -> Void

  private init<Value>(_ value: Value?, _ write: @escaping (inout WireBuffer, Value) -> Void) {
    self.write = { $0.optional(value, write: write) }
  }

  package static func bool(_ value: Bool?) -> Self { Self(value) { $0.bool($1) } }
  package static func int16(_ value: Int16?) -> Self { Self(value) { $0.int16($1) } }
  package static func int32(_ value: Int32?) -> Self { Self(value) { $0.int32($1) } }
  package static func int64(_ value: Int64?) -> Self { Self(value) { $0.int64($1) } }
  package static func numeric(_ value: ExactDecimal?) -> Self { Self(value) { $0.numeric($1) } }
  package static func text(_ value: String?) -> Self { Self(value) { $0.text($1) } }
  package static func bytes(_ value: [UInt8]?) -> Self { Self(value) { $0.bytes($1) } }
  package static func jsonb(_ value: String) -> Self { Self(value) { $0.jsonb($1) } }
  package static func day(_ value: TradingDay?) -> Self { Self(value) { $0.date($1) } }
  package static func timestamp(_ value: Timestamp?) -> Self { Self(value) { $0.timestamp($1) } }

  package static func int32s(_ values: [Int32]) -> Self {
    array(values, type: .int4) { $0.int32($1) }
  }

  package static func int64s(_ values: [Int64]) -> Self {
    array(values, type: .int8) { $0.int64($1) }
  }

  package static func days(_ values: [TradingDay]) -> Self {
    array(values, type: .date) { $0.date($1) }
  }

  package static func texts(_ values: [String]?) -> Self {
    Self(values) { buffer, values in buffer.array(values, type: .text) { $0.text($1) } }
  }

  /// A column of rows.
  package static func array<Row>(
    _ rows: [Row], type: ElementType, write: @escaping (inout WireBuffer, Row) -> Void
  ) -> Self {
    Self(rows) { $0.array($1, type: type, write: write) }
  }
}

extension WireBuffer {
  /// NULL for nil.
  package mutating func optional<Value>(
    _ value: Value?, write: (inout WireBuffer, Value) -> Void
  ) {
    if let value { write(&self, value) } else { null() }
  }

  package mutating func optionalText(_ value: String?) {
    if let value { text(value) } else { null() }
  }

  package mutating func optionalNumeric(_ value: ExactDecimal?) {
    if let value { numeric(value) } else { null() }
  }

  package mutating func optionalTimestamp(_ value: Timestamp?) {
    if let value { timestamp(value) } else { null() }
  }
}
