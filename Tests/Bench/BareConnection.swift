/// PostgreSQL without candled: a libpq connection and COPY both ways, as plain as it gets.

import CPostgres

final class BareConnection {
  private let connection: OpaquePointer

  init(url: String) throws {
    guard let connection = PQconnectdb(url), PQstatus(connection) == CONNECTION_OK else {
      throw BenchFailure(description: "libpq cannot connect")
    }
    self.connection = connection
    try run("set search_path = candled, public")
  }

  deinit { PQfinish(connection) }

  func run(_ sql: String, expecting status: ExecStatusType = PGRES_COMMAND_OK) throws {
    let response = PQexec(connection, sql)
    defer { PQclear(response) }
    guard PQresultStatus(response) == status else { throw failure() }
  }

  /// The first row of an answer, as text.
  func firstRow(_ sql: String) throws -> [String] {
    let response = PQexec(connection, sql)
    defer { PQclear(response) }
    guard PQresultStatus(response) == PGRES_TUPLES_OK else { throw failure() }
    return (0..<PQnfields(response)).map { String(cString: PQgetvalue(response, 0, $0)) }
  }

  /// Rows in the format of binary COPY.
  /// - Parameter source: a table, or a query in parentheses.
  func rows(of source: String) throws -> [UInt8] {
    try run("copy \(source) to stdout (format binary)", expecting: PGRES_COPY_OUT)
    var rows: [UInt8] = []
    while true {
      var piece: UnsafeMutablePointer<CChar>?
      let count = PQgetCopyData(connection, &piece, 0)
      guard count > 0, let piece else { break }
      rows += UnsafeRawBufferPointer(start: piece, count: Int(count))
      PQfreemem(piece)
    }
    while let rest = PQgetResult(connection) { PQclear(rest) }
    return rows
  }

  /// - Parameter target: a table, with columns if not all.
  func copy(_ rows: [UInt8], into target: String) throws {
    try run("copy \(target) from stdin (format binary)", expecting: PGRES_COPY_IN)
    let sent = rows.withUnsafeBytes { bytes in
      PQputCopyData(
        connection, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
    }
    guard sent == 1, PQputCopyEnd(connection, nil) == 1 else { throw failure() }
    while let response = PQgetResult(connection) {
      defer { PQclear(response) }
      if PQresultStatus(response) != PGRES_COMMAND_OK { throw failure() }
    }
  }

  /// Starts a statement whose answer nobody reads.
  func send(_ sql: String) throws {
    guard PQsendQuery(connection, sql) == 1 else { throw failure() }
  }

  /// Whether what was sent is over; its answer is thrown away.
  func isIdle() -> Bool {
    PQconsumeInput(connection)
    if PQisBusy(connection) != 0 { return false }
    while let rest = PQgetResult(connection) { PQclear(rest) }
    return true
  }

  /// Ends what was sent, and waits until it is over.
  func cancel() {
    if let order = PQgetCancel(connection) {
      var message = [CChar](repeating: 0, count: 256)
      PQcancel(order, &message, Int32(message.count))
      PQfreeCancel(order)
    }
    while let rest = PQgetResult(connection) { PQclear(rest) }
  }

  private func failure() -> BenchFailure {
    BenchFailure(description: String(cString: PQerrorMessage(connection)))
  }
}
