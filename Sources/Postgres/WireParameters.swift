import Market

/// The bound parameters of one statement, in binary. Each is one field of a `WireBuffer`.
package struct WireParameters: ~Copyable {
  private var buffer = WireBuffer(capacity: 1024)
  private var starts: [Int] = []

  package init() {}

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

extension WireBuffer {
  /// NULL for nil.
  package mutating func optional<Value>(
    _ value: Value?, write: (inout WireBuffer, Value) -> Void
  ) {
    if let value { write(&self, value) } else { null() }
  }

  package mutating func optionalInt16(_ value: Int16?) {
    if let value { int16(value) } else { null() }
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
