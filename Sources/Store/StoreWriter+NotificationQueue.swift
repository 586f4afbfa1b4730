/// How full the server's queue of notifications is.

import Commits
import Market
import Postgres

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

  /// Asking also revives a queue that a stuck listener had filled; nothing else does.
  func notificationQueue() throws(StoreError) -> NotificationQueue {
    var row = try connection.run(Self.queueUsage, context: "ping").row(0)
    var queue = NotificationQueue(usage: try row.numeric())
    guard queue.usage >= NotificationQueue.alarmUsage else { return queue }
    for var row in try connection.run(Self.oldestSession, context: "ping").rows {
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
    try session.opened().notificationQueue()
  }
}
