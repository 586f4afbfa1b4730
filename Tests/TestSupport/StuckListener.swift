import CPostgres

/// A consumer that listens and then sits in an open transaction: the server keeps every
/// notification for it. Blocking; not for two threads at once.
package final class StuckListener {
  private var connection: OpaquePointer?

  package struct Failure: Error { package var sentence: String }

  package init(_ url: String) throws {
    connection = PQconnectdb(url)
    for statement in ["listen candled", "begin", "select count(*) from pg_class"] {
      let response = PQexec(connection, statement)
      defer { PQclear(response) }
      let status = PQresultStatus(response)
      guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
        throw Failure(sentence: "\(statement): \(String(cString: PQerrorMessage(connection)))")
      }
    }
  }

  package func close() {
    PQfinish(connection)
    connection = nil
  }

  deinit { close() }
}
