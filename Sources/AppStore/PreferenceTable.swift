import Market
import Postgres

/// The preferences of users: one JSON object each, which only apps understand.
package struct PreferenceTable: AppTable, UserTable {
  let connection: AppConnection
  private let userID: Int64
  static let context = "preferences"

  /// As the schema's check has it.
  package static let bytesMax = 16_384

  package init(_ connection: AppConnection, userID: Int64) {
    self.connection = connection
    self.userID = userID
  }

  private static let readValue = Statement(
    name: "read_preference",
    sql: """
      select value::text
      from preference
      where user_id = $1::bigint
      """)

  /// As JSON text; an empty object where none are stored.
  package func value() throws(AppStoreError) -> String {
    let rows = try read(Self.readValue, with: [.int64(userID)]) { (row) throws(StoreError) in
      try row.text()
    }
    return rows.first ?? "{}"
  }

  private static let upsert = Statement(
    name: "write_preference",
    sql: """
      insert into preference (user_id, value)
      values ($1::bigint, $2::text::jsonb)
      on conflict (user_id) do update
      set
        value = case when $3::boolean then preference.value else '{}' end || excluded.value,
        updated_at = now()
      where preference.value is distinct from
        case when $3::boolean then preference.value else '{}' end || excluded.value
      returning value::text
      """)

  /// Replaces them all, or with `merging` the members that the object has.
  /// - Parameter json: the text of one JSON object.
  /// - Throws: `invalid` for what is no object, `tooLarge`, `store`.
  package func write(_ json: String, merging: Bool) throws(AppStoreError) {
    let problem = AppStoreError.invalid(field: "body", expected: "one JSON object")
    guard json.utf8.count <= Self.bytesMax else { throw .tooLarge(bytesMax: Self.bytesMax) }
    guard json.first(where: { !$0.isWhitespace }) == "{", !json.utf8.contains(0) else {
      throw problem
    }
    do throws(AppStoreError) {
      try write(Self.upsert, with: [.int64(userID), .text(json), .bool(merging)])
    } catch {
      guard case .store(let cause) = error, let state = cause.sqlState else { throw error }
      // The table's check: stored text has blanks that were not sent.
      if state == "23514" { throw .tooLarge(bytesMax: Self.bytesMax) }
      // 22P02 no JSON, 22P05 a character that text cannot hold, 22023 and 54001 nested too deep.
      throw state.hasPrefix("22") || state == "54001" ? problem : error
    }
  }
}
