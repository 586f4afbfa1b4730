import Market
import Platform
import Postgres

/// The session that a test's statements run in, kept between them: to open one costs more than most
/// statements do. Each begins as if in a fresh one, and what one leaves behind ends with it.
final class KeptSession: Sendable {
  /// `@unchecked Sendable` holds because a connection is in `idle`, guarded by its lock, or with
  /// the one thread that took it from there.
  private struct Idle: @unchecked Sendable { var connection: PostgresConnection? }

  private let url: String
  private let idle = Locked(Idle())

  private static let context = "probe"
  /// As of a new connection; machines that tests share stand still for a minute at times.
  private static let settings = """
    set search_path = candled, public;
    set statement_timeout = '5min';
    set idle_in_transaction_session_timeout = '1min';
    set client_min_messages = error
    """

  init(url: String) { self.url = url }

  /// - Returns: the last statement's rows as text, NULL as nil.
  func run(_ sql: String) throws(StoreError) -> [[String?]] {
    let connection = try take()
    let rows = try connection.execute(sql, context: Self.context).textRows
    // Refused in a transaction that was left open: it ends with its session.
    if (try? connection.execute("discard all", context: Self.context)) != nil {
      idle.withLock { $0.connection = connection }
    }
    return rows
  }

  /// For who needs the database to have no sessions.
  func close() { idle.withLock { $0.connection = nil } }

  /// The one that is kept, if its server has not ended it.
  private func take() throws(StoreError) -> PostgresConnection {
    let kept = idle.withLock { idle -> Idle in
      defer { idle.connection = nil }
      return idle
    }
    if let connection = kept.connection,
      (try? connection.execute(Self.settings, context: Self.context)) != nil
    {
      return connection
    }
    let connection = try PostgresConnection(url: url, application: "candled probe")
    try connection.execute(Self.settings, context: Self.context)
    return connection
  }
}
