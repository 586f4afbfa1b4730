import Market
import Postgres

/// The server's queue of notifications, which every listener must have read before it empties. A
/// stuck one (in an open transaction, or with an unread socket) fills it, and then every commit
/// with a NOTIFY aborts, its data included.
package struct NotificationQueue: Sendable, Hashable {
  /// A session that may be holding it: the one whose transaction has been open longest.
  package struct Holder: Sendable, Hashable {
    package var process: Int32
    package var application: String
    package var role: String
    package var openSeconds: Int64
  }

  /// The filled share, 0…1.
  package var usage: ExactDecimal
  /// Looked for once the queue is filled beyond `alarmUsage`.
  package var holder: Holder?

  /// MEASURED, NOTIFY: alarm at 10 %.
  package static let alarmUsage = ExactDecimal(units: 1, scale: 1)

  package init(usage: ExactDecimal, holder: Holder? = nil) {
    self.usage = usage
    self.holder = holder
  }
}

extension WriterSession {
  private static let queueUsage = Statement(
    name: "notification_queue_usage", sql: "select pg_notification_queue_usage()::numeric(7, 6)")

  /// Which sessions listen is not to be seen; which hold a snapshot is.
  private static let oldestSession = Statement(
    name: "oldest_session",
    sql: """
      select pid, coalesce(application_name, ''), coalesce(usename, ''),
        extract(epoch from clock_timestamp() - xact_start)::bigint
      from pg_stat_activity
      where xact_start is not null
        and backend_type = 'client backend'
        and pid <> pg_backend_pid()
      order by xact_start
      limit 1
      """)

  /// Asking also revives a queue that a stuck listener had filled; nothing else does (MEASURED).
  func notificationQueue() throws(StoreError) -> NotificationQueue {
    var row = try connection.run(Self.queueUsage, context: "ping").row(0)
    var queue = NotificationQueue(usage: try row.numeric())
    guard queue.usage >= NotificationQueue.alarmUsage else { return queue }
    for row in try connection.run(Self.oldestSession, context: "ping").rows {
      var row = row
      queue.holder = NotificationQueue.Holder(
        process: try row.int32(), application: try row.text(), role: try row.text(),
        openSeconds: try row.int64())
    }
    return queue
  }
}

extension StoreWriter {
  /// To be asked every ten seconds, commits or not. It also proves the connection.
  /// - Throws: `connectionLost`, `transient`.
  package func notificationQueue() throws(StoreError) -> NotificationQueue {
    try open().notificationQueue()
  }
}
