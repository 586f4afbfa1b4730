import Alerts
import AppStore
import HTTPTypes

/// The routes of alerts and of the inbox.
extension UserRoutes {
  var ofAlerts: [Route] {
    numbered(
      "alerts", each: "alert", article: "an", in: AlertTable.self, as: Alert.shape,
      summary: "The user's alerts, in the order they were made.")
      + [
        making(path: "/v1/alerts", summary: "Makes an alert, armed as its series stands now."),
        route(
          .put, path: "/v1/alerts/{id}", answer: Alert.shape.schema, body: Self.alertBody,
          summary: "Makes another alert of it, armed anew.", problems: [.notFound, .conflict],
          respond: replaceAlert),
      ]
  }

  var ofNotifications: [Route] {
    [
      route(
        .get, path: "/v1/notifications",
        answer: .object([
          .init("alerts", .array(of: Alert.shape.schema), isRequired: false),
          .init("notifications", .array(of: InboxItem.schema)), .init("unread", .integer),
          .init("nextCursor", .optionalString),
        ]),
        summary: "The inbox: what alerts fired, the newest first, and how many of all are unread. "
          + "Its first page has the alerts, but for unread=true.",
        query: [
          Parameter(
            "unread", .choice(["true", "false"]), summary: "true: only what was not read.",
            example: "true"),
          Parameter(
            "limit", .integer(1...Self.inboxRowsMax),
            summary: "Notifications of a page; \(Self.inboxRowsDefault) if none is given.",
            example: "10"),
          Parameter("cursor", .matching(.cursor), summary: "nextCursor of the page before."),
        ], problems: [.notFound], respond: notifications),
      making(path: "/v1/notifications", summary: "Makes an alert, as POST /v1/alerts does."),
      hiding(path: "/v1/notifications/{id}"),
      route(
        .put, path: "/v1/inbox", status: .noContent, answer: nil,
        summary: "Marks all notifications as read, or those that are not newer than one of them.",
        query: [
          Parameter("through", .integer(1...Int64.max), summary: "The newest one that was seen.")
        ], respond: readNotifications),
      route(
        .put, path: "/v1/inbox/{id}/read", status: .noContent, answer: nil,
        summary: "Marks a notification as read. Doing so again is no error.",
        respond: readNotification),
      hiding(path: "/v1/inbox/{id}"),
    ]
  }

  private func making(path: String, summary: String) -> Route {
    route(
      .post, path: path, status: .created, answer: Alert.shape.schema, body: Self.alertBody,
      summary: summary, problems: [.conflict], respond: makeAlert)
  }

  private func hiding(path: String) -> Route {
    route(
      .delete, path: path, status: .noContent, answer: nil,
      summary: "Takes a notification out of the inbox. Doing so again is no error.",
      respond: deleteNotification)
  }

  // MARK: Shapes

  private static let alertBody = Schema.either(
    .either(body(.amount), body(.percent)), .either(body(nil), body(nil, of: "source")))

  /// - Parameter threshold: of the conditions; nil: they have none.
  private static func body(
    _ threshold: AlertCondition.Threshold?, of subject: String = "stockSymbol"
  ) -> Schema {
    let conditions = AlertCondition.allCases.filter {
      $0.threshold == threshold && ($0 == .sourceStale) == (subject == "source")
    }
    var members: [Schema.Member] = [
      .init(subject, .string), .init("condition", .choice(conditions.map(\.rawValue))),
      .init("repeat", .nullable(.choice(Alert.Repeats.names)), isRequired: false),
    ]
    if let threshold { members.append(.init("threshold", .matching(threshold.pattern))) }
    return .object(members)
  }
}

extension AlertCondition.Threshold {
  var pattern: TextPattern { self == .percent ? .percent : .price }
}
