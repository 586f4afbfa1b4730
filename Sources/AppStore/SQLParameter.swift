import Market
import Postgres

/// A parameter of a statement; nil is null.
struct SQLParameter {
  let write: (inout WireBuffer) -> Void

  private init<Value>(_ value: Value?, _ write: @escaping (inout WireBuffer, Value) -> Void) {
    self.write = { buffer in buffer.optional(value, write: write) }
  }

  static func bool(_ value: Bool?) -> Self { Self(value) { $0.bool($1) } }
  static func int32(_ value: Int32?) -> Self { Self(value) { $0.int32($1) } }
  static func int64(_ value: Int64?) -> Self { Self(value) { $0.int64($1) } }
  static func numeric(_ value: ExactDecimal?) -> Self { Self(value) { $0.numeric($1) } }
  static func text(_ value: String?) -> Self { Self(value) { $0.text($1) } }
  static func bytes(_ value: [UInt8]) -> Self { Self(value) { $0.bytes($1) } }
  static func day(_ value: TradingDay?) -> Self { Self(value) { $0.date($1) } }
  static func timestamp(_ value: Timestamp?) -> Self { Self(value) { $0.timestamp($1) } }

  static func int32s(_ values: [Int32]) -> Self {
    Self(values) { buffer, values in buffer.array(values, type: .int4) { $0.int32($1) } }
  }

  static func int64s(_ values: [Int64]) -> Self {
    Self(values) { buffer, values in buffer.array(values, type: .int8) { $0.int64($1) } }
  }

  static func days(_ values: [TradingDay]) -> Self {
    Self(values) { buffer, values in buffer.array(values, type: .date) { $0.date($1) } }
  }

  static func texts(_ values: [String]?) -> Self {
    Self(values) { buffer, values in buffer.array(values, type: .text) { $0.text($1) } }
  }
}

/// Rows for one statement, as one array of text a column: `unnest` makes them rows again, and casts
/// in the statement give them their types. Empty is null where the statement says `nullif`.
struct TextColumns {
  private var columns: [[String]]
  private(set) var count = 0

  init(_ columns: Int) { self.columns = Array(repeating: [], count: columns) }

  mutating func append(_ row: [String]) {
    precondition(row.count == columns.count, "a row has another number of columns")
    for (place, value) in row.enumerated() { columns[place].append(value) }
    count += 1
  }

  var parameters: [SQLParameter] { columns.map { .texts($0) } }

  /// `unnest($1::text[], $2::text[], …)`.
  static func unnest(_ columns: Int) -> String {
    "unnest(" + (1...columns).map { "$\($0)::text[]" }.joined(separator: ", ") + ")"
  }

  /// A moment from a column of microseconds since 1970.
  static func moment(_ column: String) -> String {
    "(timestamptz 'epoch' + \(column)::bigint * interval '1 microsecond')"
  }
}

/// An insertion of rows of text into a table, whose columns have their names and types here once.
struct RowInsertion {
  let statement: Statement
  let columns: Int

  /// - Parameters:
  ///   - columns: a name and a type each; `moment` is a column of microseconds since 1970, and of a
  ///     type with `?` empty text is null.
  ///   - key: a row of the same one is there, perhaps: then it gets `updates`.
  init(
    _ name: String, into table: String, _ columns: String, key: String? = nil,
    updating updates: [String] = []
  ) {
    let pairs = columns.split(separator: ",").map { $0.split(whereSeparator: \.isWhitespace) }
    let names = pairs.map { $0[0] }.joined(separator: ", ")
    let values = pairs.map { Self.value(String($0[0]), type: $0[1]) }.joined(separator: ", ")
    let changes = updates.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    self.columns = pairs.count
    statement = Statement(
      name: name,
      sql: """
        insert into \(table) (\(names))
        select \(values)
        from \(TextColumns.unnest(pairs.count)) as added (\(names))
        \(key.map { "on conflict (\($0)) do update set \(changes)" } ?? "")
        """)
  }

  private static func value(_ name: String, type: Substring) -> String {
    if type == "moment" { return TextColumns.moment(name) }
    return type.last == "?" ? "nullif(\(name), '')::\(type.dropLast())" : "\(name)::\(type)"
  }
}

extension Optional {
  /// Empty text for nil.
  var text: String { map { "\($0)" } ?? "" }
}
