import Commits
import Market
import Postgres

/// A table that takes its rows by one statement, bound as one array a column (`unnest`), which
/// under a few hundred rows beats staging. One list of columns makes the SQL, the parameters, the
/// counter and what is kept of a row that the database refuses.
struct RowTable<Row>: Sendable {
  struct Column: Sendable {
    let name: String
    let type: ElementType
    var role = ColumnRole.value
    let write: @Sendable (inout WireBuffer, Row) -> Void
  }

  /// Of a refused row, for people.
  let kind: String
  let statement: Statement
  let columns: [Column]
  let hasStamp: Bool
  let counter: any WritableKeyPath<CommitReceipt, Int> & Sendable
  /// Whose row it is, for `rejected`.
  let origin: @Sendable (Row) -> RefusedRow.Origin
  /// Rows with one key are one row, of which the last counts; nil where each is its own.
  var identity: (@Sendable (Row) -> String)?

  /// - Parameters:
  ///   - name: of the statement.
  ///   - stamps: columns of the commit's moment.
  ///   - conflict: what becomes of a row whose key is stored already.
  ///   - refreshes: a condition on the stored row `t` under which even an equal row is written.
  init(
    _ kind: String, name: String, into table: String, columns: [Column], stamps: [String] = [],
    conflict: RowConflict, refreshes: String? = nil, returning: String? = nil,
    counter: any WritableKeyPath<CommitReceipt, Int> & Sendable,
    origin: @escaping @Sendable (Row) -> RefusedRow.Origin,
    identity: (@Sendable (Row) -> String)? = nil
  ) {
    self.kind = kind
    self.columns = columns
    self.counter = counter
    self.origin = origin
    self.identity = identity
    hasStamp = !stamps.isEmpty
    let stamp = "$\(columns.count + 1)::timestamptz"
    let arrays = columns.enumerated().map { "$\($0.offset + 1)::\($0.element.type.sqlName)[]" }
    var sql = """
      insert into \(table) as t (\((columns.map(\.name) + stamps).joined(separator: ", ")))
      select \((["r.*"] + stamps.map { _ in stamp }).joined(separator: ", "))
      from unnest(\(arrays.joined(separator: ", "))) r

      """
    switch conflict {
    case .refused: break
    case .ignored(let key): sql += "on conflict (\(key)) do nothing\n"
    case .replaced:
      sql += Self.replacement(columns: columns, stamps: stamps, refreshes: refreshes)
    }
    if let returning { sql += "returning \(returning)" }
    statement = Statement(name: name, sql: sql)
  }

  /// Leaves an equal row alone, so that a repetition writes nothing.
  private static func replacement(
    columns: [Column], stamps: [String], refreshes: String?
  ) -> String {
    let key = columns.filter { $0.role == .key }.map(\.name).joined(separator: ", ")
    let written = columns.filter { ![.key, .first].contains($0.role) }
    let values = written.map { ($0.name, $0.role.value(of: $0.name)) }
    let compared = zip(written, values).filter { $0.0.role != .remark }.map(\.1)
    let different = """
      (\(compared.map { "t.\($0.0)" }.joined(separator: ", ")))
        is distinct from (\(compared.map(\.1).joined(separator: ", ")))
      """
    let assigned = values + stamps.map { ($0, "excluded.\($0)") }
    return """
      on conflict (\(key)) do update
      set \(assigned.map { "\($0.0) = \($0.1)" }.joined(separator: ", "))
      where \(refreshes.map { "\($0) or " } ?? "")\(different)

      """
  }

  func parameters(_ rows: [Row], stamp: Timestamp) -> WireParameters {
    var parameters = WireParameters()
    for column in columns {
      parameters.add { $0.array(rows, type: column.type) { column.write(&$0, $1) } }
    }
    if hasStamp { parameters.add { $0.timestamp(stamp) } }
    return parameters
  }

  /// One a key, in its order.
  func distinct(_ rows: [Row]) -> [Row] {
    guard let identity else { return rows }
    return rows.lastOfEach(identity).map { (identity($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  func rowDescription(_ row: Row) -> RefusedRow.RowDescription {
    RefusedRow.RowDescription(kind, of: row, from: origin(row))
  }
}

/// What becomes of a row whose key is stored already.
enum RowConflict: Sendable {
  /// There is none, or the commit decides.
  case refused
  case ignored(key: String)
  /// By its key; an equal row is left alone.
  case replaced
}

enum ColumnRole: Sendable {
  case key
  case value
  /// NULL leaves what is stored.
  case kept
  /// A row that differs in it alone is the same.
  case remark
  /// Only as first written.
  case first

  fileprivate func value(of name: String) -> String {
    self == .kept ? "coalesce(excluded.\(name), t.\(name))" : "excluded.\(name)"
  }
}

/// An instrument's row, which names it by its id in the tables.
struct Identified<Row> {
  let id: Int32
  let row: Row
}

extension RowTable.Column {
  static func int16(
    _ name: String, role: ColumnRole = .value, value: @escaping @Sendable (Row) -> Int16?
  ) -> Self {
    Self(name: name, type: .int2, role: role) { $0.optional(value($1)) { $0.int16($1) } }
  }

  static func int32(
    _ name: String, role: ColumnRole = .value, value: @escaping @Sendable (Row) -> Int32
  ) -> Self {
    Self(name: name, type: .int4, role: role) { $0.int32(value($1)) }
  }

  static func int64(
    _ name: String, role: ColumnRole = .value, value: @escaping @Sendable (Row) -> Int64
  ) -> Self {
    Self(name: name, type: .int8, role: role) { $0.int64(value($1)) }
  }

  static func bool(_ name: String, value: @escaping @Sendable (Row) -> Bool) -> Self {
    Self(name: name, type: .bool) { $0.bool(value($1)) }
  }

  static func numeric(
    _ name: String, role: ColumnRole = .value, value: @escaping @Sendable (Row) -> ExactDecimal?
  ) -> Self {
    Self(name: name, type: .numeric, role: role) { $0.optionalNumeric(value($1)) }
  }

  static func day(
    _ name: String, role: ColumnRole = .value, value: @escaping @Sendable (Row) -> TradingDay?
  ) -> Self {
    Self(name: name, type: .date, role: role) { $0.optional(value($1)) { $0.date($1) } }
  }

  static func timestamp(
    _ name: String, role: ColumnRole = .value, value: @escaping @Sendable (Row) -> Timestamp?
  ) -> Self {
    Self(name: name, type: .timestamptz, role: role) { $0.optionalTimestamp(value($1)) }
  }

  static func text(
    _ name: String, role: ColumnRole = .value, value: @escaping @Sendable (Row) -> String?
  ) -> Self {
    Self(name: name, type: .text, role: role) { $0.optionalText(value($1)) }
  }

  /// Text may quote a row of a source, and PostgreSQL's holds no NUL.
  static func quotation(
    _ name: String, value: @escaping @Sendable (Row) -> String
  ) -> Self {
    Self(name: name, type: .text) { $0.bytes(value($1).utf8.filter { $0 != 0 }) }
  }

  static func bytes(_ name: String, value: @escaping @Sendable (Row) -> [UInt8]) -> Self {
    Self(name: name, type: .bytea) { $0.bytes(value($1)) }
  }
}

extension ElementType {
  fileprivate var sqlName: String {
    switch self {
    case .int8: "bigint"
    case .int2: "smallint"
    case .int4: "int"
    case .text: "text"
    case .bytea: "bytea"
    case .bool: "boolean"
    case .date: "date"
    case .timestamptz: "timestamptz"
    case .numeric: "numeric"
    }
  }
}
