import Postgres

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

  var parameters: [WireParameter] { columns.map { .texts($0) } }

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
