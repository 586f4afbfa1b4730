import Alerts
import Market
import Postgres

/// A row of `notification`, as its user reads it.
package struct AlertNotification: Sendable, Hashable {
  package var id: Int64
  package var userID: Int64
  package var alertID: Int64
  package var subject: AlertSubject
  package var condition: AlertCondition
  package var threshold: ExactDecimal?
  /// Of a withdrawn one: the notification that was false.
  package var withdraws: Int64?
  package var day: TradingDay
  package var evidence: AlertEvidence
  package var position: FeedPosition
  /// When it was stored.
  package var storedAt: Timestamp
  package var readAt: Timestamp?
}

/// Notifications: of one user, and of all for those who pass them on.
package struct NotificationTable {
  private let connection: AppConnection
  private static let context = "notifications"

  package init(_ connection: AppConnection) { self.connection = connection }

  static let columns = """
    n.id, n.user_id, n.alert_id, n.symbol, n.source, n.condition, n.threshold, n.refers_to,
    n.trading_day, n.basis, n.value, n.feed_epoch, n.feed_seq, n.observed_at, n.at, n.read_at
    """

  private static let readInbox = Statement(
    name: "read_inbox",
    sql: """
      select \(columns)
      from notification n
      where n.user_id = $1::bigint
        and n.deleted_at is null
        and ($2::bigint is null or n.id < $2::bigint)
        and (not $3::boolean or n.read_at is null)
      order by n.id desc
      limit $4::integer
      """)

  /// The newest first.
  /// - Parameter before: the oldest that is known already.
  package func inbox(
    of userID: Int64, before id: Int64?, isUnread: Bool, limit: Int32
  ) throws(AppStoreError) -> [AlertNotification] {
    var parameters = WireParameters()
    parameters.add { $0.int64(userID) }
    parameters.add { $0.optional(id) { $0.int64($1) } }
    parameters.add { $0.bool(isUnread) }
    parameters.add { $0.int32(limit) }
    return try notifications(Self.readInbox, parameters)
  }

  private static let readSome = Statement(
    name: "read_some_notifications",
    sql: """
      select \(columns)
      from notification n
      where n.id = any ($1::bigint[])
        and n.deleted_at is null
      """)

  /// Of any users; those that were taken out of the inbox are left out.
  func notifications(_ ids: [Int64]) throws(AppStoreError) -> [AlertNotification] {
    var parameters = WireParameters()
    parameters.add { buffer in buffer.array(ids, type: .int8) { $0.int64($1) } }
    return try notifications(Self.readSome, parameters)
  }

  private func notifications(
    _ statement: Statement, _ parameters: borrowing WireParameters
  ) throws(AppStoreError) -> [AlertNotification] {
    try connection.read(statement, with: parameters, context: Self.context) {
      (row) throws(StoreError) in try row.notification()
    }
  }

  // MARK: Changes

  private static let markRead = Statement(
    name: "mark_notification_read",
    sql: """
      update notification
      set read_at = clock_timestamp()
      where user_id = $1::bigint
        and id = $2::bigint
        and read_at is null
      """)

  /// One that is not there, or was read, is no fault.
  package func markRead(_ id: Int64, of userID: Int64) throws(AppStoreError) {
    try change(Self.markRead, id, of: userID)
  }

  private static let hide = Statement(
    name: "hide_notification",
    sql: """
      update notification
      set deleted_at = clock_timestamp()
      where user_id = $1::bigint
        and id = $2::bigint
        and deleted_at is null
      """)

  /// Takes it out of the inbox.
  package func delete(_ id: Int64, of userID: Int64) throws(AppStoreError) {
    try change(Self.hide, id, of: userID)
  }

  private func change(
    _ statement: Statement, _ id: Int64, of userID: Int64
  ) throws(AppStoreError) {
    var parameters = WireParameters()
    parameters.add { $0.int64(userID) }
    parameters.add { $0.int64(id) }
    try connection.write(statement, with: parameters, context: Self.context)
  }
}

extension PostgresRow {
  mutating func notification() throws(StoreError) -> AlertNotification {
    let (id, userID, alertID) = (try int64(), try int64(), try int64())
    let subject = AlertSubject(
      symbol: try optionalText().flatMap { Symbol($0) }, source: try text())
    let (condition, threshold) = (try text(), try optionalNumeric())
    let (withdraws, day) = (try optionalInt64(), try day())
    let (basis, value) = (try text(), try optionalNumeric())
    let (epoch, seq) = (try int64(), try int64())
    guard let condition = AlertCondition(rawValue: condition),
      let basis = AlertBasis(rawValue: basis)
    else {
      throw StoreError(
        .malformed, message: "a notification of another version", context: "notifications")
    }
    return AlertNotification(
      id: id, userID: userID, alertID: alertID, subject: subject, condition: condition,
      threshold: threshold, withdraws: withdraws, day: day,
      evidence: AlertEvidence(basis, value),
      position: FeedPosition(epoch: epoch, seq: seq, at: try timestamp()),
      storedAt: try timestamp(), readAt: try optionalTimestamp())
  }
}
