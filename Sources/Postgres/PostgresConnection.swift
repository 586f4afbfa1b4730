import CPostgres
import Glibc
import Market
import Platform

/// One libpq connection, blocking. Blocking calls on a thread of one's own measured as fast as
/// libpq's non-blocking mode with poll(2), at half the code.
///
/// Not Sendable on purpose: it lives inside one actor on a `ThreadExecutor`, or on a plain thread.
/// Values reach the server as bound binary parameters or COPY fields, never inside SQL text.
package final class PostgresConnection {
  private let handle: OpaquePointer
  private var prepared: Set<String> = []
  /// Of the notifications that ended the last wait.
  package private(set) var payloads: [String] = []
  /// A server that says nothing for so long while it is asked counts as lost: what lies between may
  /// acknowledge and not pass on. nil leaves it to the server's own time limit.
  package var silenceSecondsMax: Int?
  /// Decided by `listen`.
  var hints = CommitHints.notifications

  static let statementSecondsMax = 60
  /// libpq copies each piece into its send buffer; small pieces keep that buffer small.
  static let copyPieceBytes = 64 * 1024

  /// - Parameter url: a libpq URL or keyword string; its own settings win over ours.
  /// - Parameter unacknowledgedMilliseconds: for who cannot wait as long as the others.
  /// - Throws: `connectionLost`, `operatorNeeded`, `badAddress`.
  package init(
    url: String, application: String,
    unacknowledgedMilliseconds: Int = PostgresConnection.unacknowledgedMillisecondsMax
  ) throws(StoreError) {
    handle = try Self.open(
      url: url, application: application, unacknowledgedMilliseconds: unacknowledgedMilliseconds)
    PQsetNoticeProcessor(handle, { _, _ in }, nil)
    _ = try execute(
      """
      set search_path = candled, public;
      set statement_timeout = '\(Self.statementSecondsMax)s';
      set idle_in_transaction_session_timeout = '\(Self.idleSecondsMax)s';
      set client_min_messages = error
      """, context: "connect")
  }

  /// Between two statements of a transaction: a frozen program keeps no lock and no snapshot.
  private static let idleSecondsMax = 60

  deinit { PQfinish(handle) }

  package var socket: Int32 { PQsocket(handle) }
  package var backendProcess: Int32 { PQbackendPID(handle) }
  package var isLooking: Bool { hints != .notifications }
}

extension PostgresConnection {
  /// Runs fixed SQL, several statements included; answers are text and belong to the last one.
  @discardableResult
  package func execute(_ sql: String, context: String) throws(StoreError) -> PostgresResult {
    StatementCount.current?.withLock { $0 += 1 }
    guard let seconds = silenceSecondsMax else {
      return try check(PQexec(handle, sql), context: context)
    }
    return try response(PQsendQuery(handle, sql), within: seconds, context: context)
  }

  /// As `execute`, looking every so often how long the server takes.
  /// - Parameter look: called while there is no answer; what it throws ends the wait, and the
  ///   connection is of no use any more.
  @discardableResult
  package func execute(
    _ sql: String, context: String, lookingEvery milliseconds: Int32,
    look: () throws(StoreError) -> Void
  ) throws(StoreError) -> PostgresResult {
    let isSent = PQsendQuery(handle, sql)
    return try response(isSent, lookingEvery: milliseconds, context: context, look: look)
  }

  /// The last result of what was sent.
  private func response(
    _ isSent: Int32, lookingEvery milliseconds: Int32, context: String,
    look: () throws(StoreError) -> Void
  ) throws(StoreError) -> PostgresResult {
    if isSent != 1 { throw lost(context: context) }
    var last: PostgresResult?
    while true {
      while PQisBusy(handle) == 1 {
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        if poll(&descriptor, 1, milliseconds) == 0 { try look() }
        if PQconsumeInput(handle) != 1 { throw lost(context: context) }
      }
      guard let response = PQgetResult(handle) else { break }
      last = PostgresResult(response)
    }
    guard let last else { throw lost(context: context) }
    return try check(last, context: context)
  }

  /// As long as the server goes on saying something.
  @discardableResult
  private func response(
    _ isSent: Int32, within seconds: Int, context: String
  ) throws(StoreError) -> PostgresResult {
    try response(
      isSent, lookingEvery: Int32(clamping: seconds * 1_000), context: context
    ) { () throws(StoreError) in
      throw StoreError(
        .connectionLost, message: "PostgreSQL does not respond within \(seconds) s",
        context: context)
    }
  }

  /// Runs a prepared statement, preparing it on first use.
  @discardableResult
  package func run(
    _ statement: Statement, with parameters: borrowing WireParameters, context: String
  ) throws(StoreError) -> PostgresResult {
    StatementCount.current?.withLock { $0 += 1 }
    if let seconds = silenceSecondsMax {
      return try run(statement, with: parameters, within: seconds, context: context)
    }
    if !prepared.contains(statement.name) {
      try check(PQprepare(handle, statement.name, statement.sql, 0, nil), context: context)
      prepared.insert(statement.name)
    }
    let response = parameters.withArguments { count, values, lengths, formats in
      PQexecPrepared(handle, statement.name, count, values, lengths, formats, 1)
    }
    return try check(response, context: context)
  }

  private func run(
    _ statement: Statement, with parameters: borrowing WireParameters, within seconds: Int,
    context: String
  ) throws(StoreError) -> PostgresResult {
    if !prepared.contains(statement.name) {
      let isSent = PQsendPrepare(handle, statement.name, statement.sql, 0, nil)
      try response(isSent, within: seconds, context: context)
      prepared.insert(statement.name)
    }
    let isSent = parameters.withArguments { count, values, lengths, formats in
      PQsendQueryPrepared(handle, statement.name, count, values, lengths, formats, 1)
    }
    return try response(isSent, within: seconds, context: context)
  }

  @discardableResult
  package func run(_ statement: Statement, context: String) throws(StoreError) -> PostgresResult {
    try run(statement, with: WireParameters(), context: context)
  }

  /// Runs a prepared statement and decodes its rows.
  package func read<Value>(
    _ statement: Statement, with parameters: borrowing WireParameters = WireParameters(),
    context: String, decode: (inout PostgresRow) throws(StoreError) -> Value
  ) throws(StoreError) -> [Value] {
    let response = try run(statement, with: parameters, context: context)
    var values: [Value] = []
    values.reserveCapacity(response.rowCount)
    for var row in response.rows {
      values.append(try decode(&row))
    }
    return values
  }

  /// Sends a binary COPY. `sql` is `copy … from stdin (format binary)`.
  /// - Returns: rows copied.
  package func copy(
    _ sql: String, from body: inout WireBuffer, context: String
  ) throws(StoreError) -> Int {
    try beginCopy(sql, context: context)
    return try endCopy(&body, context: context)
  }

  package func beginCopy(_ sql: String, context: String) throws(StoreError) {
    try check(PQexec(handle, sql), context: context)
  }

  /// Sends and empties the buffer once a piece of the usual size has gathered.
  package func sendWhenLarge(_ body: inout WireBuffer, context: String) throws(StoreError) {
    if body.count >= Self.copyPieceBytes { try send(&body, context: context) }
  }

  /// Sends the rest and takes the server's answer.
  /// - Returns: rows copied.
  package func endCopy(_ body: inout WireBuffer, context: String) throws(StoreError) -> Int {
    try send(&body, context: context)
    if PQputCopyEnd(handle, nil) != 1 { throw lost(context: context) }
    let response = PQgetResult(handle)
    while let rest = PQgetResult(handle) { PQclear(rest) }
    return try check(response, context: context).affectedRows
  }

  private func send(_ body: inout WireBuffer, context: String) throws(StoreError) {
    let contents = body.contents
    var offset = 0
    while offset < contents.count {
      let piece = UnsafeRawBufferPointer(
        rebasing: contents[offset..<min(offset + Self.copyPieceBytes, contents.count)])
      let sent = PQputCopyData(
        handle, piece.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(piece.count))
      if sent != 1 { throw lost(context: context) }
      offset += piece.count
    }
    body.clear()
  }

  /// Takes what the server has sent and says whether a notification was among it.
  func consumeNotifications() throws(StoreError) -> Bool {
    if PQconsumeInput(handle) != 1 { throw lost(context: "listen") }
    payloads = []
    while let notification = PQnotifies(handle) {
      payloads.append(String(cString: notification.pointee.extra))
      PQfreemem(notification)
    }
    return !payloads.isEmpty
  }

  @discardableResult
  private func check(_ response: OpaquePointer?, context: String) throws(StoreError)
    -> PostgresResult
  {
    guard let response else { throw lost(context: context) }
    return try check(PostgresResult(response), context: context)
  }

  private func check(
    _ result: PostgresResult, context: String
  ) throws(StoreError) -> PostgresResult {
    switch result.status {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_COPY_IN: return result
    default:
      if PQstatus(handle) != CONNECTION_OK { throw lost(context: context) }
      throw StoreError(
        StoreError.code(forSQLState: result.sqlState),
        message: result.primaryMessage ?? "the server gave no reason",
        sqlState: result.sqlState, context: context)
    }
  }

  private func lost(context: String) -> StoreError {
    StoreError(.connectionLost, message: "the connection to PostgreSQL was lost", context: context)
  }
}

/// How many times a task has waited for a server: what a request costs grows by its rows, this must
/// not. Nobody counts outside of tests and benchmarks.
package enum StatementCount {
  @TaskLocal package static var current: Locked<Int>?
}

/// A statement with a name, prepared once a connection.
package struct Statement: Sendable {
  let name: String
  let sql: String

  package init(name: String, sql: String) {
    self.name = name
    self.sql = sql
  }
}

/// Calls `body` with a null-terminated array of C strings.
func withCStrings<Response>(
  _ strings: [String], body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Response
) -> Response {
  var bytes: [CChar] = []
  var offsets: [Int] = []
  for string in strings {
    offsets.append(bytes.count)
    bytes.append(contentsOf: string.utf8.lazy.map { CChar(bitPattern: $0) })
    bytes.append(0)
  }
  return bytes.withUnsafeBufferPointer { bytes in
    var pointers = offsets.map { bytes.baseAddress?.advanced(by: $0) }
    pointers.append(nil)
    return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
  }
}
