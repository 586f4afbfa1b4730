import Market
import Postgres

/// One connection to what apps keep in the database. The rights of `candled_app` suffice. Every
/// value is a parameter, never part of the SQL. Blocking; use it on the thread that made it.
package final class AppConnection {
  let connection: PostgresConnection

  /// - Parameters:
  ///   - url: a libpq URL or keyword string.
  ///   - statementSeconds: what a statement may take.
  /// - Throws: `connectionLost`, `transient`, `operatorNeeded`, `schemaMismatch`, `badAddress`.
  package init(
    url: String, application: String, statementSeconds: Int = AppConnection.statementSecondsMax
  ) throws(StoreError) {
    connection = try PostgresConnection(url: url, application: application)
    try AppSchema.version.require(connection)
    // Holdings are read beside years of candles: to compile that takes longer than to run it.
    try connection.execute(
      """
      set search_path = candled_app;
      set jit = off;
      set statement_timeout = '\(statementSeconds)s';
      \(Self.unanswered)
      """, context: "connect")
  }

  /// A program that is frozen, and a machine that is gone, keep no lock from the broker: the server
  /// ends their sessions. Over a local socket the lines of TCP do nothing.
  private static let unanswered = """
    set idle_in_transaction_session_timeout = '\(idleSecondsMax)s';
    set tcp_keepalives_idle = 3;
    set tcp_keepalives_interval = 1;
    set tcp_keepalives_count = 4;
    set tcp_user_timeout = 7000
    """

  /// Between two statements of a transaction.
  private static let idleSecondsMax = 5

  /// Of the broker: also what apps may read of the candles, over the same session, whose end frees
  /// the lead. The server notices within seconds that the client's machine is gone.
  package init(brokerOn connection: PostgresConnection) throws(StoreError) {
    self.connection = connection
    try AppSchema.version.require(connection)
    try connection.execute(
      """
      set search_path = candled_app, candled;
      set statement_timeout = '\(Self.brokerSecondsMax)s';
      \(Self.unanswered)
      """, context: "connect")
  }

  /// A whole market of open orders is read when one begins to lead.
  private static let brokerSecondsMax = 60

  /// Of an app that waits for its own list; all statements here are of milliseconds.
  package static let statementSecondsMax = 5

  /// All that `body` reads is of one moment.
  package func inSnapshot<Value>(
    _ body: () throws(AppStoreError) -> Value
  ) throws(AppStoreError) -> Value {
    try inTransaction(
      "snapshot", begin: "begin isolation level repeatable read read only", body: body)
  }

  /// As one transaction.
  func inTransaction<Value>(
    _ context: String, begin: String = "begin", body: () throws(AppStoreError) -> Value
  ) throws(AppStoreError) -> Value {
    try execute(begin, context: context)
    do {
      let value = try body()
      try execute("commit", context: context)
      return value
    } catch {
      _ = try? connection.execute("rollback", context: context)
      throw error
    }
  }

  private static let lockUser = Statement(
    name: "lock_user",
    sql: """
      select
      from app_user
      where id = $1::bigint
      for no key update
      """)

  /// As one transaction, behind all others that change how much the user has: what `body` counts
  /// stays so. Rows that name the user are written meanwhile, the broker's too.
  func inTransaction<Value>(
    ofUser id: Int64, _ context: String, body: () throws(AppStoreError) -> Value
  ) throws(AppStoreError) -> Value {
    try inTransaction(context) { () throws(AppStoreError) in
      _ = try read(Self.lockUser, with: [.int64(id)], context: context) { (_) throws(StoreError) in
      }
      return try body()
    }
  }

  func execute(_ sql: String, context: String) throws(AppStoreError) {
    try AppStoreError.ofStore { () throws(StoreError) -> Void in
      try connection.execute(sql, context: context)
    }
  }

  /// - Returns: rows written.
  @discardableResult
  func write(
    _ statement: Statement, with parameters: [WireParameter], context: String
  ) throws(AppStoreError) -> Int {
    try AppStoreError.ofStore { () throws(StoreError) in
      try connection.run(statement, with: WireParameters(parameters), context: context).affectedRows
    }
  }

  func read<Value>(
    _ statement: Statement, with parameters: [WireParameter] = [], context: String,
    decode: (inout PostgresRow) throws(StoreError) -> Value
  ) throws(AppStoreError) -> [Value] {
    try AppStoreError.ofStore { () throws(StoreError) in
      try connection.read(
        statement, with: WireParameters(parameters), context: context, decode: decode)
    }
  }
}

// MARK: - Notifications

/// What the schema's triggers notify.
package enum AppChannel: String, Sendable {
  case token = "candled_app_token"
  case alert = "candled_app_alert"
  case notification = "candled_app_notification"
  case outbox = "candled_app_outbox"
  case webhook = "candled_app_webhook"
}

extension AppConnection {
  /// From now on these are notified to this connection; on a standby they are looked for.
  package func listen(to channels: [AppChannel]) throws(AppStoreError) {
    try AppStoreError.ofStore { () throws(StoreError) in
      try connection.listen(to: channels.map(\.rawValue), lookingEvery: Self.lookMilliseconds)
    }
  }

  /// Of what is read whole at each look.
  private static let lookMilliseconds: Int32 = 1_000

  /// Whether who looks, instead of listening, may still not write: the server is a standby.
  package func isStandby() throws(AppStoreError) -> Bool {
    guard connection.isLooking else { return false }
    return try AppStoreError.ofStore { () throws(StoreError) in try connection.isStandby() }
  }

  /// What was said with the notifications that ended the last wait.
  package var payloads: [String] { connection.payloads }

  /// Blocks until something is notified, `interrupt` becomes readable, or time is up.
  package func wait(milliseconds: Int32, interrupt: Int32) throws(AppStoreError) -> WakeReason {
    try AppStoreError.ofStore { () throws(StoreError) in
      try connection.wait(milliseconds: milliseconds, interrupt: interrupt)
    }
  }
}

extension AppStoreError {
  /// Whether it is a violation of that constraint. The server's message names it in any language.
  func isViolation(of constraint: String) -> Bool {
    guard case .store(let error) = self, error.sqlState?.hasPrefix("23") == true else {
      return false
    }
    return error.message.contains("\"\(constraint)\"")
  }
}

// MARK: - Tables

/// Statements about one matter over a connection.
protocol AppTable {
  /// What errors name.
  static var context: String { get }
  var connection: AppConnection { get }
}

/// What belongs to one user.
package protocol UserTable: SendableMetatype {
  init(_ connection: AppConnection, userID: Int64)
}

/// What one user has several of, by number.
package protocol NumberedTable: UserTable {
  associatedtype Row: Sendable

  func all() throws(AppStoreError) -> [Row]
  /// - Throws: that there is none of this number, `store`.
  func one(_ id: Int64) throws(AppStoreError) -> Row
  /// One that is not there is no fault.
  func delete(_ id: Int64) throws(AppStoreError)
}

extension AppTable {
  func read<Value>(
    _ statement: Statement, with parameters: [WireParameter] = [],
    decode: (inout PostgresRow) throws(StoreError) -> Value
  ) throws(AppStoreError) -> [Value] {
    try connection.read(statement, with: parameters, context: Self.context, decode: decode)
  }

  /// Of each row its only column.
  func numbers(
    _ statement: Statement, with parameters: [WireParameter] = []
  ) throws(AppStoreError) -> [Int64] {
    try read(statement, with: parameters) { (row) throws(StoreError) in try row.int64() }
  }

  /// - Returns: rows written.
  @discardableResult
  func write(
    _ statement: Statement, with parameters: [WireParameter]
  ) throws(AppStoreError) -> Int {
    try connection.write(statement, with: parameters, context: Self.context)
  }

  /// - Throws: `invalid`.
  func requireName(_ name: String, charactersMax: Int) throws(AppStoreError) {
    let isPlain = !name.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
    guard (1...charactersMax).contains(name.unicodeScalars.count), isPlain else {
      throw .invalid(
        field: "name", expected: "1 to \(charactersMax) characters without control characters")
    }
  }
}
