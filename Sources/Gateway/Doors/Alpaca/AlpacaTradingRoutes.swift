/// Alpaca's trading API (docs.alpaca.markets) over the user's main account: unmodified alpaca-py
/// trades here on paper. What its clients check strictly is as they want it; what we know beyond
/// that is in `candled`.

import AppStore
import HTTPTypes
import PaperTrading

struct AlpacaTradingRoutes: Sendable {
  let service: TradingService

  var all: [Route] { accounts + activities + orders + positions + watchlists }

  typealias Responding =
    @Sendable (AlpacaTradingRoutes, AlpacaCall) async throws(Problem) -> Answer

  /// - Parameter isTrade: whether it changes what the account has; nil: any that is no GET does.
  func route(
    _ path: String, method: HTTPRequest.Method = .get, summary: String, isTrade: Bool? = nil,
    parameters: [Parameter] = [], status: HTTPResponse.Status = .ok, answer: Schema?,
    body: Schema? = nil, respond: @escaping Responding
  ) -> Route {
    let isTrade = isTrade ?? (method != .get)
    return .ofUser(
      path, method: method, summary: summary, scope: isTrade ? .trade : .account,
      parameters: parameters, status: status, answer: answer, body: body,
      problems: Route.problemsOfChange, door: AlpacaDoor.door
    ) { (request) throws(Problem) in
      if !isTrade { return try await self.respond(to: request, by: respond) }
      return try await service.changing(for: request.identity) {
        (service) async throws(Problem) in
        try await AlpacaTradingRoutes(service: service).respond(to: request, by: respond)
      }
    }
  }

  private func respond(
    to request: UserRequest, by respond: Responding
  ) async throws(Problem) -> Answer {
    let account = try await service.mainAccount(of: request.identity)
    return try await respond(
      self,
      AlpacaCall(account: account, identity: request.identity, arguments: request.arguments))
  }

  /// Sends a command; without an outcome in time its client must look it up: 409, which it does not
  /// send again by itself.
  /// - Parameter key: the client's name of an order. Sent again it is the same order while that
  ///   lives; whoever is answered with one that has ended would believe that it has an order.
  /// - Returns: the number of what it made.
  func execute(
    _ request: CommandRequest, of call: AlpacaCall, key: String? = nil
  ) async throws(Problem) -> Int64 {
    let account = call.account.id
    if let key {
      let known = try await service.orders(of: call.identity) { (table) throws(AppStoreError) in
        try table.order(key: key, in: account)
      }
      if known?.state.isTerminal == true { throw .nameUsed(key) }
    }
    let sent: TradingService.Sent
    do throws(Problem) {
      sent = try await service.execute(request, in: account, key: key)
    } catch {
      throw error.code == Problem.otherRequestOfKey.code ? .nameUsed(key ?? "") : error
    }
    guard let made = sent.resultID else { throw .outcomeUnknown(key: sent.key) }
    return made
  }

  /// The order that a command made.
  /// - Throws: 409 where it cannot be read: 503 would have some clients send the command again.
  func made(_ id: Int64, of call: AlpacaCall) async throws(Problem) -> OrderRecord {
    let record = try await service.retryWhileAway { () async throws(Problem) in
      try await service.order(id, of: call.identity)
    }
    guard let record else {
      let name = AlpacaID.order.text(id, in: service.memory.state.epochs)
      throw Problem(
        .conflict, code: Problem.outcomeUnknownCode,
        title: "The request was carried out as order \(name), which cannot be read now: look it "
          + "up.")
    }
    return record
  }

  // MARK: Accounts

  private static let account = Schema.named(
    "AlpacaAccount",
    .object(
      ([
        "id", "account_number", "status", "currency", "cash", "buying_power", "portfolio_value",
        "equity", "last_equity", "long_market_value", "short_market_value", "multiplier",
      ]).map { .init($0, .string) } + [.init("created_at", .moment)]))

  private static let configurations: KeyValuePairs = [
    "fractional_trading": "false", "max_margin_multiplier": #""1""#, "no_shorting": "true",
    "suspend_trade": "false", "trade_confirm_email": #""none""#, "ptp_no_exception_entry": "false",
  ]

  private static let unchanged = Schema.object(
    configurations.map { .init($0.key, .only(["null", $0.value]), isRequired: false) }
      + ["dtbp_check", "pdt_check", "max_options_trading_level"].map {
        .init($0, .only(["null"]), isRequired: false)
      })

  private static var configuration: Answer {
    .own { answer in
      for (name, value) in configurations {
        answer.member(named: name) { $0.encoded(Array(value.utf8)) }
      }
    }
  }

  private var accounts: [Route] {
    [
      route("/v2/account", summary: "Alpaca: the account.", answer: Self.account) {
        (routes, call) throws(Problem) in
        let portfolio = try await routes.service.portfolio(of: call.account)
        return .own { $0.write(alpaca: portfolio) }
      },
      route(
        "/v2/account/configurations", summary: "Alpaca: what the account may do.",
        answer: .object(Self.configurations.map { .init($0.key, .encoded("{}")) })
      ) { (_, _) throws(Problem) in Self.configuration },
      route(
        "/v2/account/configurations", method: .patch,
        summary: "Alpaca: answers with what the account may do; 422 to change it.",
        answer: .object(Self.configurations.map { .init($0.key, .encoded("{}")) }),
        body: Self.unchanged
      ) { (_, call) throws(Problem) in
        if !call.arguments.body.isEmpty { try AlpacaNumbers.requireObject(call.arguments.body) }
        return Self.configuration
      },
    ]
  }
}

/// A request of a known user for the user's main account.
struct AlpacaCall: Sendable {
  let account: PaperAccount
  let identity: Principal.Identity
  let arguments: Arguments
}
