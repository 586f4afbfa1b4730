import Market

/// Bytes on their way to the server, in PostgreSQL's binary formats (big-endian).
///
/// It owns raw memory rather than an array because a whole-market sweep is 5,400 rows of 30
/// fields: with one bound check a row instead of one a byte, a candle row costs 0.1 µs.
/// Every field writer but `bytes` relies on `reserveRow` having been called for its row.
package struct WireBuffer: ~Copyable {
  package private(set) var memory: UnsafeMutableRawBufferPointer
  package var count = 0

  /// More than any fixed-size row: 40 fields of at most `numericBytesMax` with their lengths.
  static let rowBytesMax = 40 * (4 + numericBytesMax) + 2 * bookBytesMax
  /// Five levels of two decimals of at most 21 bytes, and a byte between each.
  static let bookBytesMax = 5 * 2 * 22
  /// Header of four words, and at most 7 groups of four digits: 19 digits before or behind the
  /// point, plus one group cut by it on either side.
  static let numericBytesMax = 8 + 2 * 8

  package init(capacity: Int = 64 * 1024) {
    memory = .allocate(byteCount: max(capacity, WireBuffer.rowBytesMax), alignment: 8)
  }

  deinit { memory.deallocate() }

  /// The bytes written so far; valid until the next write.
  var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[0..<count]) }

  mutating func clear() { count = 0 }

  mutating func reserveRow() { reserve(WireBuffer.rowBytesMax) }

  private mutating func reserve(_ more: Int) {
    if memory.count - count >= more { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(memory.count * 2, count + more), alignment: 8)
    larger.copyMemory(from: contents)
    memory.deallocate()
    memory = larger
  }

  @inline(__always)
  package mutating func store<Word: FixedWidthInteger & BitwiseCopyable>(_ word: Word) {
    memory.storeBytes(of: word.bigEndian, toByteOffset: count, as: Word.self)
    count += MemoryLayout<Word>.size
  }
}

// MARK: COPY framing

extension WireBuffer {
  /// Starts a binary COPY: signature, flags, no header extension.
  package mutating func beginCopy() {
    clear()
    let signature: [UInt8] = [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00]
    append(signature)
    store(Int32(0))
    store(Int32(0))
  }

  package mutating func beginRow(fields: Int16) {
    reserveRow()
    store(fields)
  }

  package mutating func endCopy() {
    reserveRow()
    store(Int16(-1))
  }

  private mutating func append(_ bytes: [UInt8]) {
    reserve(bytes.count)
    for byte in bytes { store(byte) }
  }
}

// MARK: fields, each with its length before it

extension WireBuffer {
  @inline(__always)
  package mutating func null() { store(Int32(-1)) }

  package mutating func bool(_ value: Bool) {
    store(Int32(1))
    store(Int8(value ? 1 : 0))
  }

  @inline(__always)
  package mutating func int16(_ value: Int16) {
    store(Int32(2))
    store(value)
  }

  @inline(__always)
  package mutating func int32(_ value: Int32) {
    store(Int32(4))
    store(value)
  }

  @inline(__always)
  package mutating func int64(_ value: Int64) {
    store(Int32(8))
    store(value)
  }

  @inline(__always)
  package mutating func date(_ day: TradingDay) { int32(day.daysSince1970 - PostgresEpoch.days) }

  @inline(__always)
  package mutating func timestamp(_ at: Timestamp) {
    let (moved, overflow) = at.microseconds.subtractingReportingOverflow(PostgresEpoch.microseconds)
    // The least is minus infinity there.
    int64(overflow ? .min : moved)
  }

  /// Bytes of any length: `bytea` and `text`.
  package mutating func bytes(_ bytes: some Collection<UInt8>) {
    let length = bytes.count
    reserve(length + 4 + WireBuffer.rowBytesMax)
    store(Int32(length))
    UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyBytes(from: bytes)
    count += length
  }

  package mutating func text(_ text: String) { bytes(text.utf8) }

  /// A jsonb value: a version byte, then its text.
  package mutating func jsonb(_ text: String) {
    bytes([1] + Array(text.utf8))
  }

  /// A one-dimensional array of elements without nulls.
  package mutating func array<Element>(
    _ elements: some Collection<Element>, type: ElementType,
    write: (inout WireBuffer, Element) -> Void
  ) {
    reserveRow()
    let lengthAt = count
    store(Int32(0))
    store(Int32(elements.isEmpty ? 0 : 1))
    store(Int32(0))
    store(type.rawValue)
    if !elements.isEmpty {
      store(Int32(elements.count))
      store(Int32(1))
    }
    for element in elements {
      reserveRow()
      write(&self, element)
    }
    patchLength(at: lengthAt)
  }

  package mutating func patchLength(at offset: Int) {
    let length = Int32(count - offset - 4)
    memory.storeBytes(of: length.bigEndian, toByteOffset: offset, as: Int32.self)
  }
}

/// Type identifiers that are fixed in every PostgreSQL (pg_type.dat).
package enum ElementType: UInt32 {
  case bool = 16
  case int8 = 20
  case int2 = 21
  case int4 = 23
  case text = 25
  case bytea = 17
  case date = 1082
  case timestamptz = 1184
  case numeric = 1700
}

/// PostgreSQL counts days and microseconds from 2000-01-01.
package enum PostgresEpoch {
  static let days: Int32 = 10_957
  static let microseconds: Int64 = 946_684_800_000_000
}
