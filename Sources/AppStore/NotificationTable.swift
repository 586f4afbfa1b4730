import Alerts
import Market
import PaperTrading
import Postgres

/// A row of `notification`, as its user reads it.
package struct InboxItem: Sendable, Hashable {
  package var id: Int64
  package var userID: Int64
  package var content: Content
  /// When it was stored.
  package var storedAt: Timestamp
  package var readAt: Timestamp?

  package enum Content: Sendable, Hashable {
    case alert(AlertNotification)
    case trading(TradingNotice)
  }

  /// nil for one of trading.
  package var alert: AlertNotification? {
    if case .alert(let alert) = content { alert } else { nil }
  }
}

/// That an alert fired, that this was withdrawn, or that it ended with its instrument.
package struct AlertNotification: Sendable, Hashable {
  package var alertID: Int64
  package var subject: AlertSubject
  package var condition: AlertCondition
  package var threshold: ExactDecimal?
  /// Of a withdrawn one: the notification that was false.
  package var withdraws: Int64?
  package var day: TradingDay
  package var evidence: AlertEvidence
  package var position: FeedPosition

  package enum Kind: String, Sendable, CaseIterable {
    case fired, withdrawn, ended
  }

  package var kind: Kind {
    switch evidence.basis {
    case .merger, .conversion: .ended
    default: withdraws == nil ? .fired : .withdrawn
    }
  }
}

/// Notifications: of one user, and of all for those who pass them on.
package struct NotificationTable: AppTable {
  let connection: AppConnection
  static let context = "notifications"

  package init(_ connection: AppConnection) { self.connection = connection }

  static let columns = """
    n.id, n.user_id, n.at, n.read_at, n.kind, n.trading_day, n.observed_at, n.symbol, n.alert_id,
    n.source, n.condition, n.threshold, n.refers_to, n.basis, n.value, n.feed_epoch, n.feed_seq,
    n.event, n.account_id, n.order_id, n.queue_purchase_id, n.side, n.quantity, n.filled,
    n.turnover, n.reason
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
  ) throws(AppStoreError) -> [InboxItem] {
    return try notifications(
      Self.readInbox, [.int64(userID), .int64(id), .bool(isUnread), .int32(limit)])
  }

  private static let countUnread = Statement(
    name: "count_unread_notifications",
    sql: """
      select count(*)
      from notification
      where user_id = $1::bigint
        and deleted_at is null
        and read_at is null
      """)

  package func unreadCount(of userID: Int64) throws(AppStoreError) -> Int64 {
    return try numbers(Self.countUnread, with: [.int64(userID)])
      .first ?? 0
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
  func notifications(_ ids: [Int64]) throws(AppStoreError) -> [InboxItem] {
    return try notifications(Self.readSome, [.int64s(ids)])
  }

  private func notifications(
    _ statement: Statement, _ parameters: [WireParameter]
  ) throws(AppStoreError) -> [InboxItem] {
    try read(statement, with: parameters) { (row) throws(StoreError) in
      try row.notification()
    }
  }

  // MARK: Changes

  private static func mark(
    _ name: String, _ column: String, where condition: String
  ) -> Statement {
    Statement(
      name: name,
      sql: """
        update notification
        set \(column) = clock_timestamp()
        where user_id = $1::bigint
          and \(condition)
          and \(column) is null
        """)
  }

  private static let markRead = mark(
    "mark_notification_read", "read_at", where: "id = $2::bigint")

  /// One that is not there, or was read, is no fault.
  package func markRead(_ id: Int64, of userID: Int64) throws(AppStoreError) {
    try change(Self.markRead, id, of: userID)
  }

  private static let markAllRead = mark(
    "mark_notifications_read", "read_at", where: "id <= $2::bigint and deleted_at is null")

  /// - Parameter id: the newest one that the user has seen; later ones stay unread.
  package func markAllRead(through id: Int64, of userID: Int64) throws(AppStoreError) {
    try change(Self.markAllRead, id, of: userID)
  }

  private static let hide = mark(
    "hide_notification", "deleted_at", where: "id = $2::bigint")

  /// Takes it out of the inbox.
  package func delete(_ id: Int64, of userID: Int64) throws(AppStoreError) {
    try change(Self.hide, id, of: userID)
  }

  private func change(
    _ statement: Statement, _ id: Int64, of userID: Int64
  ) throws(AppStoreError) {
    try write(statement, with: [.int64(userID), .int64(id)])
  }
}

extension PostgresRow {
  /// The columns of `NotificationTable.columns`.
  mutating func notification() throws(StoreError) -> InboxItem {
    let (id, userID, storedAt) = (try int64(), try int64(), try timestamp())
    let (readAt, kind) = (try optionalTimestamp(), try text())
    let (day, observedAt) = (try day(), try timestamp())
    let symbol = try optionalText().flatMap { Symbol($0) }
    let alert = try alertNotification(of: symbol, on: day, at: observedAt)
    let trading = try tradingNotice(kind, of: symbol, on: day, at: observedAt)
    guard let content = alert.map({ .alert($0) }) ?? trading.map({ InboxItem.Content.trading($0) })
    else { throw malformed() }
    return InboxItem(
      id: id, userID: userID, content: content, storedAt: storedAt, readAt: readAt)
  }

  /// nil where the columns are those of another kind.
  private mutating func alertNotification(
    of symbol: Symbol?, on day: TradingDay, at observedAt: Timestamp
  ) throws(StoreError) -> AlertNotification? {
    let (alertID, source) = (try optionalInt64(), try optionalText())
    let condition = try optionalText().flatMap { AlertCondition(rawValue: $0) }
    let (threshold, withdraws) = (try optionalNumeric(), try optionalInt64())
    let basis = try optionalText().flatMap { AlertBasis(rawValue: $0) }
    let (value, epoch, seq) = (try optionalNumeric(), try optionalInt64(), try optionalInt64())
    guard let alertID, let source, let condition, let basis, let epoch, let seq else { return nil }
    return AlertNotification(
      alertID: alertID, subject: AlertSubject(symbol: symbol, source: source),
      condition: condition, threshold: threshold, withdraws: withdraws, day: day,
      evidence: AlertEvidence(basis, value),
      position: FeedPosition(epoch: epoch, seq: seq, at: observedAt))
  }

  private mutating func tradingNotice(
    _ kind: String, of symbol: Symbol?, on day: TradingDay, at observedAt: Timestamp
  ) throws(StoreError) -> TradingNotice? {
    let event = try optionalText().flatMap { TradingNotice.Event(rawValue: $0) }
    let (accountID, orderID) = (try optionalInt64(), try optionalInt64())
    let (purchaseID, side) = (try optionalInt64(), try optionalText())
    let (quantity, filled) = (try optionalNumeric(), try optionalNumeric())
    let (turnover, reason) = (try optionalNumeric(), try optionalText())
    guard let kind = TradingNotice.Kind(rawValue: kind), let event, let accountID else {
      return nil
    }
    var notice = TradingNotice(kind, event, accountID: accountID, day: day, at: observedAt)
    (notice.symbol, notice.orderID, notice.purchaseID) = (symbol, orderID, purchaseID)
    notice.side = side.flatMap { name in Side.allCases.first { $0.name == name } }
    (notice.quantity, notice.filled, notice.turnover) = (quantity, filled, turnover)
    notice.reason = reason
    return notice
  }
}
