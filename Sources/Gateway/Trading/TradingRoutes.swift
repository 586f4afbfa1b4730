import AppStore
import HTTPTypes
import Market
import PaperTrading
import Reader

/// The gateway's own API of trading on paper. Reading needs the scope account, changing the scope
/// trade; what is changed is answered when the broker has done it, or with 202 and the place to ask
/// again.
package struct TradingRoutes: Sendable {
  let service: TradingService

  package var routes: [Route] { accounts + money + orders + purchases + portfolios }

  typealias Responding =
    @Sendable (TradingRoutes, UserRequest) async throws(Problem) -> Answer

  static let account = Parameter(
    "account", .integer(1...Int64.max), summary: "Its number; the user's first if absent.")
  static let key = Parameter(
    "Idempotency-Key", .matching(.key), in: .header,
    summary: "The same key is the same request: sent again, it has the first answer.",
    example: "3f1c")
  static let page = Parameter(
    "page", .integer(1...Int64(OrderTable.pagesMax)), summary: "From 1 on.", example: "1")
  static let rowsMax: Int64 = 100
  static let rowsDefault: Int64 = 20

  static func id(of what: String) -> Parameter {
    Parameter(
      "id", .integer(1...Int64.max), in: .path, summary: "Of the \(what).", example: "1")
  }

  /// What only reads.
  func reading(
    _ path: String, answer: Schema, parameters: [Parameter] = [account], summary: String,
    respond: @escaping Responding
  ) -> Route {
    .ofUser(
      path, summary: summary, parameters: parameters, answer: answer,
      problems: [.notFound, .unprocessableContent, .serviceUnavailable]
    ) { (request) throws(Problem) in try await respond(self, request) }
  }

  /// What the broker executes.
  func command(
    _ path: String, method: HTTPRequest.Method, status: HTTPResponse.Status = .ok,
    answer: Schema?, body: Schema? = nil, parameters: [Parameter], summary: String,
    respond: @escaping Responding
  ) -> Route {
    .ofUser(
      path, method: method, summary: summary, scope: .trade, parameters: parameters + [Self.key],
      status: status, answer: answer,
      others: [DeclaredAnswer(.accepted, schema: CommandProgress.shape.schema)], body: body,
      problems: Route.problemsOfChange
    ) { (request) throws(Problem) in
      try await service.changing(for: request.identity) { (service) async throws(Problem) in
        try await respond(TradingRoutes(service: service), request)
      }
    }
  }

  /// The answer to a command: what it made, or where to ask for it.
  func answer(
    _ request: CommandRequest, of asked: UserRequest, in account: Int64,
    made: (Int64) async throws(Problem) -> Answer
  ) async throws(Problem) -> Answer {
    let sent = try await service.execute(request, in: account, key: asked.key)
    if let id = sent.resultID,
      let whole = try await service.retryWhileAway(on: { () async throws(Problem) in
        try await made(id)
      })
    {
      return whole
    }
    let command = CommandProgress(
      id: sent.id, account: account, kind: request.kind, state: sent.isDone ? "done" : "pending")
    var answer = Answer.own(
      command, as: CommandProgress.shape, status: .accepted, location: "/v1/commands/\(sent.id)")
    answer.headers[.retryAfter] = "1"
    return answer
  }

  // MARK: Portfolios

  private static let periods: KeyValuePairs = [
    "1d": 1, "1wk": 7, "1mo": 31, "3mo": 92, "6mo": 183, "1y": 365,
  ]

  private var portfolios: [Route] {
    [
      reading(
        "/v1/portfolio", answer: ListedPortfolio.shape.schema,
        summary: "What an account holds, at the prices in the gateway's memory. averagePrice is "
          + "what was paid for a share since there was none, without fees. exUnbooked: the "
          + "exchange's reference price is not yesterday's close, so that a dividend or bonus is "
          + "missing here. low and high: its triggers."
      ) { (routes, request) throws(Problem) in
        let account = try await routes.service.account(request.account, of: request.identity)
        let state = routes.service.memory.state
        let portfolio = ListedPortfolio(
          portfolio: try await routes.service.portfolio(of: account, in: state), state: state)
        return .own(portfolio, as: ListedPortfolio.shape, in: portfolio.zone)
      }.costing(2),
      setTriggers,
      reading(
        "/v1/portfolio/history",
        answer: .object([
          .init("account", PaperAccount.shape.schema),
          .init("days", .array(of: PortfolioDay.shape.schema)),
        ]),
        parameters: [
          Self.account,
          Parameter(
            "period", .choice(Self.periods.map(\.key)), summary: "1mo if absent.", example: "3mo"),
        ],
        summary: "What an account was worth at the close of each day; profit is that less what was "
          + "paid in."
      ) { (routes, request) throws(Problem) in
        let account = try await routes.service.account(request.account, of: request.identity)
        let period = request.arguments["period"] ?? "1mo"
        let back = Self.periods.first { $0.key == period }?.value ?? 0
        let today = routes.service.today(of: account)
        let days = try await routes.service.history(
          of: account, from: today.advanced(by: -back), through: today)
        return .own { answer in
          answer.object("account") {
            $0.write(account, as: PaperAccount.shape, in: account.market.zone)
          }
          answer.list("days", of: days, as: PortfolioDay.shape)
        }
      }.costing(5),
    ]
  }

  private var setTriggers: Route {
    .ofUser(
      "/v1/portfolio/{symbol}/triggers", method: .put,
      summary: "Sets the prices at or beyond which a holding is highlighted; one that is absent is "
        + "none. They stay when it is sold.",
      scope: .trade, parameters: [MarketRoutes.symbol, Self.account], status: .noContent,
      answer: nil, body: TriggersBody.schema,
      problems: Route.problemsOfChange
    ) { (request) throws(Problem) in
      let triggers = try request.body(TriggersBody.self).value()
      let account = try await service.account(request.account, of: request.identity)
      let symbol = try service.series(request.arguments["symbol"] ?? "", for: account).symbol
      try await service.run { (connection) throws(AppStoreError) in
        try HoldingTable(connection).put(triggers, of: symbol, in: account.id)
      }
      return .done
    }
  }
}
