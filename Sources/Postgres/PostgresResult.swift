import CPostgres
import Market

/// The answer to one statement, in binary. Freed with the object.
package final class PostgresResult {
  private let handle: OpaquePointer

  /// Takes ownership of `handle`.
  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { PQclear(handle) }

  var status: ExecStatusType { PQresultStatus(handle) }
  package var rowCount: Int { Int(PQntuples(handle)) }

  /// Rows written, as the command tag says.
  package var affectedRows: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

  var sqlState: String? {
    PQresultErrorField(handle, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
  }

  /// The server's primary message: names objects, never row contents (those are in its detail).
  var primaryMessage: String? {
    PQresultErrorField(handle, Int32(UInt8(ascii: "M"))).map { String(cString: $0) }
  }

  package func row(_ index: Int) -> PostgresRow { PostgresRow(result: self, index: Int32(index)) }

  package var rows: some Sequence<PostgresRow> { (0..<rowCount).lazy.map { self.row($0) } }

  /// All fields as they came: text, after `execute`.
  package var textRows: [[String?]] {
    (0..<Int32(rowCount)).map { row in
      (0..<PQnfields(handle)).map { column in
        field(row, column: column).map { String(decoding: $0, as: UTF8.self) }
      }
    }
  }

  fileprivate func field(_ row: Int32, column: Int32) -> UnsafeRawBufferPointer? {
    if PQgetisnull(handle, row, column) == 1 { return nil }
    return UnsafeRawBufferPointer(
      start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
  }
}

/// One row, read left to right: `next` methods decode the next column and fail when it is not of
/// the width its type has.
package struct PostgresRow {
  fileprivate let result: PostgresResult
  fileprivate let index: Int32
  private var column: Int32 = 0

  fileprivate init(result: PostgresResult, index: Int32) {
    self.result = result
    self.index = index
  }

  private mutating func nextField() -> UnsafeRawBufferPointer? {
    defer { column += 1 }
    return result.field(index, column: column)
  }

  package func malformed() -> StoreError {
    StoreError(
      .malformed, message: "column \(column) of a result does not match the schema",
      context: "decode")
  }

  private mutating func require<Value>(_ value: Value?) throws(StoreError) -> Value {
    guard let value else { throw malformed() }
    return value
  }

  private mutating func nextWord<Word: FixedWidthInteger>(_: Word.Type) throws(StoreError) -> Word?
  {
    guard let field = nextField() else { return nil }
    guard field.count == MemoryLayout<Word>.size else { throw malformed() }
    return Word(bigEndian: field.loadUnaligned(as: Word.self))
  }
}

extension PostgresRow {
  package mutating func int16() throws(StoreError) -> Int16 { try require(nextWord(Int16.self)) }
  package mutating func int32() throws(StoreError) -> Int32 { try require(nextWord(Int32.self)) }
  package mutating func int64() throws(StoreError) -> Int64 { try require(nextWord(Int64.self)) }
  package mutating func optionalInt16() throws(StoreError) -> Int16? { try nextWord(Int16.self) }
  package mutating func optionalInt32() throws(StoreError) -> Int32? { try nextWord(Int32.self) }
  package mutating func optionalInt64() throws(StoreError) -> Int64? { try nextWord(Int64.self) }
  package mutating func bool() throws(StoreError) -> Bool { try require(nextWord(UInt8.self)) == 1 }
  package mutating func optionalBool() throws(StoreError) -> Bool? {
    try nextWord(UInt8.self).map { $0 == 1 }
  }

  package mutating func day() throws(StoreError) -> TradingDay {
    TradingDay(daysSince1970: try int32() + PostgresEpoch.days)
  }

  package mutating func optionalDay() throws(StoreError) -> TradingDay? {
    try nextWord(Int32.self).map { TradingDay(daysSince1970: $0 + PostgresEpoch.days) }
  }

  package mutating func timestamp() throws(StoreError) -> Timestamp {
    try require(optionalTimestamp())
  }

  /// The infinities become the ends of what a `Timestamp` holds.
  package mutating func optionalTimestamp() throws(StoreError) -> Timestamp? {
    guard let value = try nextWord(Int64.self) else { return nil }
    let (sum, overflow) = value.addingReportingOverflow(PostgresEpoch.microseconds)
    return Timestamp(microseconds: overflow || value == .min ? value : sum)
  }

  package mutating func bytes() throws(StoreError) -> [UInt8] {
    Array(try require(nextField()))
  }

  package mutating func text() throws(StoreError) -> String { try require(optionalText()) }

  package mutating func optionalText() throws(StoreError) -> String? {
    nextField().map { String(decoding: $0, as: UTF8.self) }
  }

  package mutating func symbol() throws(StoreError) -> Symbol {
    try require(Symbol(bytes: require(nextField())))
  }

  package mutating func numeric() throws(StoreError) -> ExactDecimal {
    try require(optionalNumeric())
  }

  package mutating func optionalNumeric() throws(StoreError) -> ExactDecimal? {
    guard let field = nextField() else { return nil }
    guard let value = ExactDecimal(binaryNumeric: field) else { throw malformed() }
    return value
  }
}

extension PostgresRow {
  /// A book side, `price:volume price:volume …` as `QuoteColumns` stores it; what is
  /// missing at the end is an empty level.
  package mutating func book() throws(StoreError) -> Quote.Book {
    let bytes = try bytes()
    var book = Quote.Book(repeating: .empty)
    let levels = bytes.split(separator: UInt8(ascii: " "))
    guard levels.count <= book.count else { throw malformed() }
    for (index, level) in levels.enumerated() {
      let parts = level.split(separator: UInt8(ascii: ":"))
      guard parts.count == 2, let price = decimal(parts[0]), let volume = decimal(parts[1])
      else { throw malformed() }
      book[index] = BookLevel(price: price, volume: volume)
    }
    return book
  }

  private func decimal(_ bytes: ArraySlice<UInt8>) -> ExactDecimal? {
    bytes.withUnsafeBytes { try? ExactDecimal(parsing: $0) }
  }
}

extension ExactDecimal {
  /// Reads PostgreSQL's binary `numeric`; nil for NaN, the infinities and what does not fit.
  init?(binaryNumeric field: UnsafeRawBufferPointer) {
    func word(_ index: Int) -> Int16 {
      Int16(bigEndian: field.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self))
    }
    guard field.count >= 8, field.count == 8 + 2 * Int(word(0)) else { return nil }
    let weight = Int(word(1))
    let scale = Int(word(3))
    guard word(2) == 0 || word(2) == 0x4000, (0...Int(ExactDecimal.scaleMax)).contains(scale)
    else { return nil }
    // Accumulate all groups down to the one the scale ends in, then cut the surplus places.
    let groupsBehind = (scale + 3) / 4
    let groupsTotal = max(weight + 1, 0) + groupsBehind
    var units: Int128 = 0
    for place in 0..<groupsTotal {
      let power = max(weight, -1) - place
      let index = weight - power
      let digit = index >= 0 && index < Int(word(0)) ? Int128(word(4 + index)) : 0
      let (shifted, overflow) = units.multipliedReportingOverflow(by: 10_000)
      if overflow { return nil }
      units = shifted + digit
    }
    for _ in 0..<(groupsBehind * 4 - scale) { units /= 10 }
    guard let narrow = Int64(exactly: word(2) == 0 ? units : -units) else { return nil }
    self.init(units: narrow, scale: UInt8(scale))
  }
}
