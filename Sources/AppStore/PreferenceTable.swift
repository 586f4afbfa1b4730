import Market
import Postgres

/// The preferences of users: one JSON object each, which only apps understand.
package struct PreferenceTable {
  private let connection: AppConnection
  private let userID: Int64
  private static let context = "preferences"

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
    var parameters = WireParameters()
    parameters.add { $0.int64(userID) }
    let rows = try connection.read(Self.readValue, with: parameters, context: Self.context) {
      (row) throws(StoreError) in try row.text()
    }
    return rows.first ?? "{}"
  }

  private static let write = Statement(
    name: "write_preference",
    sql: """
      insert into preference (user_id, value)
      values ($1::bigint, $2::text::jsonb)
      on conflict (user_id) do update
      set
        value = excluded.value,
        updated_at = now()
      where preference.value is distinct from excluded.value
      returning value::text
      """)

  /// Replaces them all.
  /// - Parameter json: the text of one JSON object.
  /// - Throws: `invalid` for what is no object or too large, `store`.
  package func replace(with json: String) throws(AppStoreError) {
    let expected = "one JSON object of at most \(Self.bytesMax) bytes"
    guard json.utf8.count <= Self.bytesMax, !json.utf8.contains(0) else {
      throw .invalid(field: "body", expected: expected)
    }
    var parameters = WireParameters()
    parameters.add { $0.int64(userID) }
    parameters.add { $0.text(json) }
    do throws(AppStoreError) {
      try connection.write(Self.write, with: parameters, context: Self.context)
    } catch {
      // 22P02 no JSON, 22P05 a character that text cannot hold, 22023 and 54001 nested too deep, 23
      // a check of the table.
      guard case .store(let cause) = error, let state = cause.sqlState,
        state.hasPrefix("22") || state.hasPrefix("23") || state == "54001"
      else { throw error }
      throw .invalid(field: "body", expected: expected)
    }
  }
}
