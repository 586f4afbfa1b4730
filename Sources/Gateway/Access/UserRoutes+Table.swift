import AppStore
import HTTPTypes
import Market

/// The routes of a user's own things.
extension UserRoutes {
  package var routes: [Route] {
    ofUser + ofWatchlists + ofSymbols + ofAlerts + ofNotifications + ofWebhooks
  }

  private var ofUser: [Route] {
    [
      // Any token may have one: what it opens is the token's.
      route(
        .post, path: "/v1/tickets", scope: nil, status: .created, answer: Self.ticket,
        summary: "A one-time ticket for a WebSocket of a browser: /ws?ticket=…, within 30 s.",
        respond: makeTicket),
      route(
        .get, path: "/v1/preferences", answer: .anyObject,
        summary: "The user's preferences: one JSON object.", respond: preferences),
      route(
        .put, path: "/v1/preferences", status: .noContent, answer: nil, body: .anyObject,
        summary: "Replaces the user's preferences."
      ) { (request) throws(Problem) in
        try await changePreferences(request, merging: false)
      },
      route(
        .patch, path: "/v1/preferences", status: .noContent, answer: nil, body: .anyObject,
        summary: "Replaces the members that the body has; those of other apps stay."
      ) { (request) throws(Problem) in
        try await changePreferences(request, merging: true)
      },
    ]
  }

  private var ofWatchlists: [Route] {
    numbered(
      "watchlists", each: "watchlist", in: WatchlistTable.self, as: Watchlist.shape,
      summary: "The user's watchlists, in order, with their symbols.")
      + [
        route(
          .post, path: "/v1/watchlists", status: .created, answer: Watchlist.shape.schema,
          body: Self.name, summary: "Makes a watchlist.", problems: [.conflict],
          respond: makeWatchlist),
        route(
          .put, path: "/v1/watchlists/{id}", status: .noContent, answer: nil, body: Self.name,
          summary: "Renames a watchlist.", problems: [.notFound, .conflict],
          respond: renameWatchlist),
      ]
  }

  private var ofSymbols: [Route] {
    [
      route(
        .put, path: "/v1/watchlists/{id}/symbols", answer: Watchlist.shape.schema,
        body: Self.symbols,
        summary: "Makes these all its symbols, in this order: each a string, or an object with "
          + "symbol, low and high. A bare string keeps the triggers.",
        problems: [.notFound, .conflict], respond: replaceSymbols),
      route(
        .put, path: "/v1/watchlists/{id}/symbols/{symbol}", status: .noContent, answer: nil,
        body: TriggersBody.schema,
        summary: "Adds a symbol at the end, or sets its triggers.",
        problems: [.notFound, .conflict], respond: putSymbol),
      route(
        .delete, path: "/v1/watchlists/{id}/symbols/{symbol}", status: .noContent, answer: nil,
        summary: "Removes a symbol. Removing it again is no error.", problems: [.notFound],
        respond: removeSymbol),
    ]
  }

  /// The routes of what a user has several of, by number: all of them, one, and the end of one.
  func numbered<Table: NumberedTable>(
    _ name: StaticString, each noun: String, article: String = "a", in type: Table.Type,
    as shape: Shape<Table.Row>, summary: String
  ) -> [Route] {
    let path = "/v1/\(name)"
    return [
      route(
        .get, path: path, answer: .object([.init("\(name)", .array(of: shape.schema))]),
        summary: summary
      ) { (request) throws(Problem) in
        let rows = try await run(request, over: type) { (table) throws(AppStoreError) in
          try table.all()
        }
        return .own { $0.list(name, of: rows, as: shape, in: .shanghai) }
      },
      route(
        .get, path: "\(path)/{id}", answer: shape.schema, summary: "One \(noun).",
        problems: [.notFound]
      ) { (request) throws(Problem) in
        let row = try await run(request, over: type) { (table) throws(AppStoreError) in
          try table.one(request.id)
        }
        return .own(row, as: shape, in: .shanghai)
      },
      route(
        .delete, path: "\(path)/{id}", status: .noContent, answer: nil,
        summary: "Deletes \(article) \(noun). Deleting it again is no error."
      ) { (request) throws(Problem) in
        try await run(request, over: type) { (table) throws(AppStoreError) in
          try table.delete(request.id)
        }
        return .done
      },
    ]
  }

  typealias Responding =
    @Sendable (UserRequest) async throws(Problem) -> Answer

  func route(
    _ method: HTTPRequest.Method, path: String, scope: TokenScope? = .account,
    status: HTTPResponse.Status = .ok, answer: Schema?, body: Schema? = nil, summary: String,
    query: [Parameter] = [], problems: [HTTPResponse.Status] = [],
    respond: @escaping Responding
  ) -> Route {
    let parameters =
      [Self.id, Self.symbol].filter { path.contains("{\($0.name)}") } + query
    return .ofUser(
      path, method: method, summary: summary, scope: scope, parameters: parameters,
      status: status, answer: answer, body: body,
      problems: [.contentTooLarge, .unprocessableContent, .serviceUnavailable] + problems,
      respond: respond)
  }

  // MARK: Shapes

  private static let id = Parameter(
    "id", .integer(1...Int64.max), in: .path, summary: "Its number.", example: "1")
  private static let symbol = Parameter(
    "symbol", .text(charactersMax: 40), in: .path, summary: "In any spelling.",
    example: "600519.SH")
  private static let ticket = Schema.object([
    .init("ticket", .string), .init("expiresInSeconds", .integer),
  ])
  private static let name = Schema.object([.init("name", .text(charactersMax: 64))])
  private static let symbols = Schema.object([
    .init(
      "symbols",
      .array(
        of: .either(
          .string,
          .object([
            .init("symbol", .string), .init("low", .nullable(.matching(.price)), isRequired: false),
            .init("high", .nullable(.matching(.price)), isRequired: false),
          ]))))
  ])
}
