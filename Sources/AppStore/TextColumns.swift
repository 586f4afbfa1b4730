import Market
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

extension Optional {
  /// Empty text for nil.
  var text: String { map { "\($0)" } ?? "" }
}
