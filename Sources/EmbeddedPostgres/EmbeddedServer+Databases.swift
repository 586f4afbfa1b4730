/// The databases of the cluster. Everything inside one is the business of the connection and the
/// schema, not of the server.

import Market
import Postgres

extension EmbeddedServer {
  /// Makes the database unless it is there, and takes from readers what could stop its writer.
  /// Names are without quotes.
  /// - Parameter template: the database to copy; it must have no sessions.
  /// - Throws: `startFailed` without a connection, `initFailed` when the server says no.
  package func createDatabase(
    _ name: String, template: String = "template1"
  ) throws(EmbeddedServerError) {
    let session = try AdminSession(self)
    if try !session.run("select datname from pg_database").contains([name]) {
      try session.run("create database \"\(name)\" template \"\(template)\"")
    }
    try protectLocks(in: name)
  }

  /// Locks are the whole server's, so no database may be left out.
  func makeRoles() throws(EmbeddedServerError) {
    try AdminSession(self).run(Self.makeRoles)
    for database in ["postgres", "template1"] { try protectLocks(in: database) }
  }

  private func protectLocks(in database: String) throws(EmbeddedServerError) {
    try AdminSession(self, database: database).run(Self.protectLocks)
  }

  /// After a bulk load: until autovacuum comes, plans would be made without statistics.
  /// - Throws: `startFailed` without a connection, `initFailed` when the server says no.
  package func gatherStatistics() throws(EmbeddedServerError) {
    try AdminSession(self, database: Self.databaseName).run("analyze")
  }

  /// One short connection, to the database `postgres` unless another is named.
  private struct AdminSession {
    private let connection: PostgresConnection
    private let directory: String

    init(_ server: EmbeddedServer, database: String = "postgres") throws(EmbeddedServerError) {
      directory = server.directory
      let url = server.adminConnectionString(database: database) + " connect_timeout=60"
      do throws(StoreError) {
        connection = try PostgresConnection(url: url, application: "candled")
      } catch {
        throw EmbeddedServerError(
          .startFailed, sentence: "The server of \(directory) accepts no connection.",
          log: [error.message])
      }
      // A database is copied, and a whole one analysed, for as long as it takes.
      try run("set statement_timeout = 0")
    }

    @discardableResult
    func run(_ statement: String) throws(EmbeddedServerError) -> [[String?]] {
      do throws(StoreError) {
        return try connection.execute(statement, context: "cluster").textRows
      } catch {
        throw EmbeddedServerError(
          .initFailed, sentence: "The server of \(directory) refused a command on a database.",
          log: [error.message])
      }
    }
  }
}
