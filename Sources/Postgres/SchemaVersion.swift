import Market

/// The schema this build reads and writes, and whether a database has it.
package enum SchemaVersion {
  /// The number schema.sql writes into `schema_version`.
  package static let current = 8

  private static let readVersion = Statement(
    name: "read_schema_version", sql: "select max(version) from candled.schema_version")

  /// - Throws: `schemaMismatch` with the sentence that says what to do.
  package static func require(_ connection: PostgresConnection) throws(StoreError) {
    let found: Int32
    do throws(StoreError) {
      found = try stored(in: connection)
    } catch  where error.code == .operatorNeeded || error.code == .malformed {
      throw StoreError(
        .schemaMismatch, message: "the database has no candled schema: run `candled schema apply`",
        sqlState: error.sqlState, context: "schema check")
    }
    if found != current {
      let advice =
        found < current
        ? "this candled needs \(current): run `candled schema apply`"
        : "newer than version \(current) of this candled: install the release that applied it"
      throw StoreError(
        .schemaMismatch, message: "the database has schema version \(found), \(advice)",
        context: "schema check")
    }
  }

  package static func stored(
    in connection: PostgresConnection
  ) throws(StoreError) -> Int32 {
    var row = try connection.run(readVersion, context: "schema check").row(0)
    return try row.int32()
  }
}
