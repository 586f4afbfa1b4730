import Market

/// A schema as this build reads and writes it, and whether a database has it.
package struct SchemaVersion: Sendable {
  /// Its name in the database.
  package let schema: String
  /// What people call it: `schema`, or more where there is another one beside it.
  let title: String
  /// The number its file writes into `schema_version`.
  package let current: Int
  /// The first that a release had: it and each later one is upgraded, an earlier one refused.
  package let oldest: Int
  /// The program whose `schema apply` applies it.
  let program: String
  /// The role that may read it.
  let readerRole: String

  package init(
    schema: String, title: String, current: Int, oldest: Int, program: String, readerRole: String
  ) {
    self.schema = schema
    self.title = title
    self.current = current
    self.oldest = oldest
    self.program = program
    self.readerRole = readerRole
  }

  /// Of schema.sql.
  package static let candled = SchemaVersion(
    schema: "candled", title: "schema", current: 13, oldest: 13, program: "candled",
    readerRole: "candled_reader")

  /// - Throws: `schemaMismatch` with the sentence that says what to do.
  package func require(_ connection: PostgresConnection) throws(StoreError) {
    let found: Int32
    do throws(StoreError) {
      found = try stored(in: connection)
    } catch  where error.code == .operatorNeeded || error.code == .malformed {
      throw StoreError(
        .schemaMismatch,
        message: error.sqlState == StoreError.insufficientPrivilege
          ? "this login may not read the \(schema) schema: grant it the role \(readerRole)"
          : "the database has no \(schema) schema: run `\(program) schema apply`",
        sqlState: error.sqlState, context: "schema check")
    }
    if found != current {
      let advice =
        if found > current {
          "newer than version \(current) of this \(program): install the release that applied it"
        } else if upgrades(from: found) {
          "this \(program) needs \(current): run `\(program) schema apply`"
        } else {
          "which no release had and this \(program) cannot upgrade: begin with a new database"
        }
      throw StoreError(
        .schemaMismatch, message: "the database has \(title) version \(found), \(advice)",
        context: "schema check")
    }
  }

  func upgrades(from found: Int32) -> Bool { (oldest...current).contains(Int(found)) }

  package func stored(in connection: PostgresConnection) throws(StoreError) -> Int32 {
    let read = Statement(
      name: "read_schema_version_\(schema)",
      sql: "select max(version) from \(schema).schema_version")
    var row = try connection.run(read, context: "schema check").row(0)
    return try row.int32()
  }
}
