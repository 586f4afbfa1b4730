/// Databases of the cluster, made and dropped. Everything inside a database is the business of the
/// connection and the schema, not of the server.

import CPostgres

extension EmbeddedServer {
  /// Makes the database unless it is there, and takes from readers what could stop its writer.
  /// - Parameter template: the database to copy; it must have no sessions.
  /// - Throws: `startFailed` without a connection, `initFailed` when the server says no.
  package func createDatabase(
    _ name: String, template: String = "template1"
  ) throws(EmbeddedServerError) {
    let session = try AdminSession(self)
    if try !session.exists(name) {
      let template = try session.quoted(template)
      try session.run("create database \(try session.quoted(name)) template \(template)")
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

  /// Drops the database if it is there, with the sessions in it.
  /// - Throws: `startFailed` without a connection, `initFailed` when the server says no.
  package func dropDatabase(_ name: String) throws(EmbeddedServerError) {
    let session = try AdminSession(self)
    try session.run("drop database if exists \(try session.quoted(name)) with (force)")
  }

  /// After a bulk load: until autovacuum comes, plans would be made without statistics.
  /// - Throws: `startFailed` without a connection, `initFailed` when the server says no.
  package func gatherStatistics() throws(EmbeddedServerError) {
    try AdminSession(self, database: Self.databaseName).run("analyze")
  }

  /// One short connection, to the database `postgres` unless another is named.
  private final class AdminSession {
    private let connection: OpaquePointer
    private let directory: String

    init(_ server: EmbeddedServer, database: String = "postgres") throws(EmbeddedServerError) {
      directory = server.directory
      let failure = EmbeddedServerError(
        .startFailed, sentence: "The server of \(directory) accepts no connection.")
      guard let opened = PQconnectdb(server.adminConnectionString(database: database)) else {
        throw failure
      }
      connection = opened
      // What it says beside its answers is for nobody: libpq would print it.
      PQsetNoticeProcessor(opened, { _, _ in }, nil)
      guard PQstatus(opened) == CONNECTION_OK else {
        var failure = failure
        failure.log = message
        throw failure
      }
    }

    deinit { PQfinish(connection) }

    func run(_ statement: String) throws(EmbeddedServerError) {
      let result = PQexec(connection, statement)
      defer { PQclear(result) }
      guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw refused() }
    }

    func exists(_ database: String) throws(EmbeddedServerError) -> Bool {
      let result = database.withCString { name in
        PQexecParams(
          connection, "select 1 from pg_database where datname = $1", 1, nil, [name], nil, nil, 0)
      }
      defer { PQclear(result) }
      guard PQresultStatus(result) == PGRES_TUPLES_OK else { throw refused() }
      return PQntuples(result) > 0
    }

    func quoted(_ name: String) throws(EmbeddedServerError) -> String {
      guard let escaped = PQescapeIdentifier(connection, name, name.utf8.count) else {
        throw refused()
      }
      defer { PQfreemem(escaped) }
      return String(cString: escaped)
    }

    private func refused() -> EmbeddedServerError {
      EmbeddedServerError(
        .initFailed, sentence: "The server of \(directory) refused a command on a database.",
        log: message)
    }

    private var message: [String] {
      String(cString: PQerrorMessage(connection)).split(separator: "\n").map(String.init)
    }
  }
}
