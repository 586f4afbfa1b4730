import CPostgres

/// A client that asks for more than a socket holds and takes none of it. Not for two threads at
/// once.
package final class MuteReader {
  private var connection: OpaquePointer?
  /// The server's process for it.
  package let process: Int32

  package struct Failure: Error { package var sentence: String }

  package init(_ url: String) throws {
    connection = PQconnectdb(url)
    process = PQbackendPID(connection)
    let query = "select repeat('x', 1000), generate_series(1, 100000000)"
    guard PQstatus(connection) == CONNECTION_OK, PQsendQuery(connection, query) == 1,
      PQflush(connection) == 0
    else { throw Failure(sentence: String(cString: PQerrorMessage(connection))) }
  }

  package func close() {
    PQfinish(connection)
    connection = nil
  }

  deinit { close() }
}
