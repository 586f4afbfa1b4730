import Alerts
import AppStore
import HTTPTypes
import Market

/// The user's alerts, and the inbox.
extension UserRoutes {
  // MARK: Alerts

  func makeAlert(_ request: UserRequest) async throws(Problem) -> Answer {
    let wanted = try wanted(request)
    let alert = try await run(request, over: AlertTable.self) { (table) throws(AppStoreError) in
      try table.create(wanted)
    }
    return .own(
      alert, as: Alert.shape, in: .shanghai, status: .created, location: "/v1/alerts/\(alert.id)")
  }

  func replaceAlert(_ request: UserRequest) async throws(Problem) -> Answer {
    let (id, wanted) = (request.id, try wanted(request))
    let alert = try await run(request, over: AlertTable.self) { (table) throws(AppStoreError) in
      try table.replace(id, with: wanted)
    }
    return .own(alert, as: Alert.shape, in: .shanghai)
  }

  private func wanted(_ request: UserRequest) throws(Problem) -> AlertTable.Request {
    let body = try request.body(AlertBody.self)
    return AlertTable.Request(
      subject: try subject(body), condition: body.condition, threshold: try body.decimal(),
      repeats: body.repeats)
  }

  /// 404 would mean that there is no such alert.
  private func subject(_ body: AlertBody) throws(Problem) -> AlertSubject {
    guard body.condition == .sourceStale else {
      guard let series = series(body.subject) else { throw unknown(.conflict) }
      return series
    }
    guard sourceNames.contains(body.subject) else {
      throw Problem(.conflict, code: "unknown_source", title: "there is no such source")
    }
    return AlertSubject(symbol: nil, source: body.subject)
  }

  // MARK: Notifications

  static let inboxRowsDefault: Int64 = 50
  static let inboxRowsMax: Int64 = 500

  /// The first page has the alerts, too, as a client that lists what it created expects.
  func notifications(_ request: UserRequest) async throws(Problem) -> Answer {
    let user = request.identity.userID
    let isUnread = request.arguments["unread"] == "true"
    let limit = Int(request.arguments.integer("limit") ?? Self.inboxRowsDefault)
    let fingerprint = "inbox \(user) \(isUnread)"
    let before = try request.arguments.cursor(of: fingerprint)
    let (rows, unread, alerts) = try await run { (connection) throws(AppStoreError) in
      let table = NotificationTable(connection)
      return (
        try table.inbox(of: user, before: before, isUnread: isUnread, limit: Int32(limit + 1)),
        try table.unreadCount(of: user),
        try before == nil && !isUnread ? AlertTable(connection, userID: user).all() : nil
      )
    }
    let shown = rows.prefix(limit)
    let next = rows.count > limit ? shown.last.map { Cursor.text($0.id, of: fingerprint) } : nil
    return .own { object in
      if let alerts { object.list("alerts", of: alerts, as: Alert.shape, in: .shanghai) }
      object.list("notifications", of: shown) { $1.writeWhole(to: &$0) }
      object.member("unread") { $0.integer(unread) }
      object.member("nextCursor") { $0.optional(next) { $0.string($1) } }
    }
  }

  func readNotifications(_ request: UserRequest) async throws(Problem) -> Answer {
    let user = request.identity.userID
    let last = request.arguments.integer("through") ?? .max
    try await run { (connection) throws(AppStoreError) in
      try NotificationTable(connection).markAllRead(through: last, of: user)
    }
    return .done
  }

  func readNotification(_ request: UserRequest) async throws(Problem) -> Answer {
    try await changeNotification(request) { (table, id, user) throws(AppStoreError) in
      try table.markRead(id, of: user)
    }
  }

  func deleteNotification(_ request: UserRequest) async throws(Problem) -> Answer {
    try await changeNotification(request) { (table, id, user) throws(AppStoreError) in
      try table.delete(id, of: user)
    }
  }

  private func changeNotification(
    _ request: UserRequest,
    body: @Sendable (NotificationTable, Int64, Int64) throws(AppStoreError) -> Void
  ) async throws(Problem) -> Answer {
    let (id, user) = (request.id, request.identity.userID)
    try await run { (connection) throws(AppStoreError) in
      try body(NotificationTable(connection), id, user)
    }
    return .done
  }
}

/// Each condition has fields of its own.
private struct AlertBody: Decodable {
  var condition: AlertCondition
  var repeats: Alert.Repeats
  /// A symbol, or a source.
  var subject: String
  /// A string, so that no digit is lost on the way.
  var threshold: String?

  private enum CodingKeys: String, CodingKey {
    case stockSymbol, source, condition, threshold
    case repeats = "repeat"
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    condition = try fields.decode(AlertCondition.self, forKey: .condition)
    repeats = try fields.decodeIfPresent(Alert.Repeats.self, forKey: .repeats) ?? .once
    subject = try fields.decode(
      String.self, forKey: condition == .sourceStale ? .source : .stockSymbol)
    if condition.threshold != nil {
      threshold = try fields.decode(String.self, forKey: .threshold)
    }
  }

  func decimal() throws(Problem) -> ExactDecimal? {
    guard let threshold, let pattern = condition.threshold?.pattern else { return nil }
    return try threshold.decimal("threshold", pattern)
  }
}
