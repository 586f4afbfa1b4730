/// Alpaca's trading API (docs.alpaca.markets) over the user's first account: unmodified alpaca-py
/// trades here on paper. What its clients check strictly is as they want it; what we know beyond
/// that is in `candled`.

import AppStore
import Foundation
import HTTPTypes
import Hummingbird
import Market
import PaperTrading
import Reader

struct AlpacaTradingRoutes: Sendable {
  let service: TradingService

  var all: [Route] { accounts + orders + positions }

  typealias Responding =
    @Sendable (AlpacaTradingRoutes, AlpacaCall) async throws(Problem) -> Answer

  func route(
    _ path: String, method: HTTPRequest.Method = .get, summary: String,
    parameters: [Parameter] = [], status: HTTPResponse.Status = .ok, answer: Schema?,
    body: Schema? = nil, respond: @escaping Responding
  ) -> Route {
    let scope: TokenScope = method == .get ? .account : .trade
    return Route(
      path, method: method, summary: summary, scope: method == .get ? .account : .trade,
      parameters: parameters, status: status, answer: answer, body: body,
      problems: [
        .notFound, .conflict, .contentTooLarge, .unprocessableContent, .serviceUnavailable,
      ],
      door: AlpacaDoor.door
    ) { arguments, _, context in
      let identity = try context.principal.identity(with: scope)
      if method == .get {
        return try await self.respond(to: identity, arguments, respond)
      }
      return try await service.changing(for: identity) { (service) async throws(Problem) in
        try await AlpacaTradingRoutes(service: service).respond(to: identity, arguments, respond)
      }
    }
  }

  private func respond(
    to identity: Principal.Identity, _ arguments: Arguments, _ respond: Responding
  ) async throws(Problem) -> Answer {
    let account = try await service.account(nil, of: identity)
    return try await respond(
      self, AlpacaCall(account: account, identity: identity, arguments: arguments))
  }

  /// Sends a command; without an outcome in time its client must look it up: 409, which it does not
  /// send again by itself.
  /// - Returns: the number of what it made.
  func execute(
    _ request: CommandRequest, of call: AlpacaCall, key: String? = nil
  ) async throws(Problem) -> Int64 {
    let sent = try await service.execute(request, in: call.account.id, key: key)
    guard let made = sent.made else { throw .outcomeUnknown(key: sent.key) }
    return made
  }

  /// The order that a command made.
  /// - Throws: 409 where it cannot be read: 503 would have some clients send the command again.
  func made(_ id: Int64, of call: AlpacaCall) async throws(Problem) -> OrderRecord {
    let record = try await service.insist { () async throws(Problem) in
      try await order(id, of: call)
    }
    guard let record else {
      throw Problem(
        .conflict, code: Problem.outcomeUnknownCode,
        title: "The request was carried out as order \(AlpacaID.order.text(id)), which cannot be "
          + "read now: look it up.")
    }
    return record
  }

  func order(_ id: Int64, of call: AlpacaCall) async throws(Problem) -> OrderRecord {
    try await service.order(id, of: call.identity)
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

  private static var configuration: Answer {
    .own { text in
      text.object { answer in
        for (name, value) in configurations {
          answer.member(named: name) { $0.encoded(Array(value.utf8)) }
        }
      }
    }
  }

  private static let activity = Schema.object([
    .init("id", .string), .init("activity_type", .string),
    .init("net_amount", .string, isRequired: false),
  ])

  private static let activityParameters = [
    Parameter(
      "page_size", .integer(1...100), summary: "How many at most; 100 if absent.", example: "10"),
    Parameter(
      "page_token", .integer(1...Int64.max), summary: "id of the last activity of the page before.",
      example: "12"),
    Parameter("direction", .choice(["desc"]), summary: "Newest first.", example: "desc"),
  ]

  private var accounts: [Route] {
    [
      route("/v2/account", summary: "Alpaca: the account.", answer: Self.account) {
        (routes, call) throws(Problem) in
        let portfolio = try await routes.service.portfolio(of: call.account)
        return .own { text in text.object { $0.write(alpaca: portfolio) } }
      },
      route(
        "/v2/account/configurations", summary: "Alpaca: what the account may do.",
        answer: .object(Self.configurations.map { .init($0.key, .encoded("{}")) })
      ) { (_, _) throws(Problem) in Self.configuration },
      route(
        "/v2/account/configurations", method: .patch,
        summary: "Alpaca: answers with what the account may do; 409 to change it.",
        answer: .object(Self.configurations.map { .init($0.key, .encoded("{}")) }),
        body: .encoded(#"{"type":"object"}"#)
      ) { (_, call) throws(Problem) in
        try Self.requireUnchanged(call.arguments.body)
        return Self.configuration
      },
      route(
        "/v2/account/activities", summary: "Alpaca: what changed the account's cash, newest first.",
        parameters: Self.activityParameters, answer: .array(of: Self.activity)
      ) { (routes, call) throws(Problem) in try await routes.activities(call, types: nil) },
      route(
        "/v2/account/activities/{type}", summary: "Alpaca: the same of one type.",
        parameters: [
          Parameter(
            "type", .choice(AlpacaActivity.kinds.map(\.key)), in: .path, summary: "Which.",
            example: "FILL")
        ] + Self.activityParameters, answer: .array(of: Self.activity)
      ) { (routes, call) throws(Problem) in
        try await routes.activities(call, types: call.arguments["type"])
      },
      history,
    ]
  }

  private static func requireUnchanged(_ body: [UInt8]) throws(Problem) {
    let object = try? JSONSerialization.jsonObject(with: Data(body))
    guard let wanted = object as? [String: Any] else {
      throw .invalid("body", expected: "a JSON object", found: "")
    }
    for (name, value) in configurations {
      guard let asked = wanted[name], !(asked is NSNull) else { continue }
      let known = try? JSONSerialization.jsonObject(
        with: Data(value.utf8), options: .fragmentsAllowed)
      guard let known = known as? NSObject, known.isEqual(asked) else {
        throw Problem(
          .conflict, code: "not_configurable", title: "\(name) of an account on paper is \(value).")
      }
    }
  }

  private func activities(_ call: AlpacaCall, types: String?) async throws(Problem) -> Answer {
    let account = call.account
    let kinds = types.map { type in
      AlpacaActivity.kinds.first { $0.key == type }?.value ?? []
    }
    let limit = Int(call.arguments.integer("page_size") ?? 100)
    let before = call.arguments.integer("page_token")
    let rows = try await service.run { (connection) throws(AppStoreError) in
      try LedgerTable(connection).transactionLog(
        of: account.id, before: before, limit: limit, kinds: kinds)
    }
    return .own { text in
      text.array { list in
        for row in rows { list.object { $0.write(AlpacaActivity(row), zone: account.market.zone) } }
      }
    }
  }

  // MARK: History

  private static let period = TextPattern(
    "^[1-9][0-9]?[DWMA]$", expectation: "a number below 100 and D, W, M or A")
  private static let unitDays: [Character: Int] = ["D": 1, "W": 7, "M": 31, "A": 366]

  private var history: Route {
    route(
      "/v2/account/portfolio/history", summary: "Alpaca: what the account was worth by day.",
      parameters: [
        Parameter("period", .matching(Self.period), summary: "1M if absent.", example: "3M"),
        Parameter("timeframe", .choice(["1D"]), summary: "Days only.", example: "1D"),
      ],
      answer: .object(
        ["timestamp", "equity", "profit_loss", "profit_loss_pct"].map {
          .init($0, .array(of: .nullable(.number)))
        } + [.init("base_value", .number), .init("timeframe", .string)])
    ) { (routes, call) throws(Problem) in
      let period = call.arguments["period"] ?? "1M"
      let back = (Int(period.dropLast()) ?? 1) * (Self.unitDays[period.last ?? "M"] ?? 31)
      let days = try await routes.service.history(of: call.account, daysBack: back)
      let zone = call.account.market.zone
      let base = days.first?.equity ?? .zero
      let profits = days.map { day in (try? day.profit - (days[0].profit)) ?? .zero }
      return .own { text in
        text.object { answer in
          answer.member("timestamp") { list in
            list.array { list in
              for day in days { list.integer(zone.moment(on: day.day, secondOfDay: 0).seconds) }
            }
          }
          answer.member("equity") { $0.numbers(days.map(\.equity)) }
          answer.member("profit_loss") { $0.numbers(profits) }
          answer.member("profit_loss_pct") { list in
            list.numbers(
              profits.map { base.isPositive ? (try? $0.divided(by: base, scale: 6)) : nil })
          }
          answer.member("base_value") { $0.number(base) }
          answer.member("timeframe") { $0.string("1D") }
        }
      }
    }
  }
}

/// A request of a known user for the user's first account.
struct AlpacaCall: Sendable {
  let account: PaperAccount
  let identity: Principal.Identity
  let arguments: Arguments
}

extension JSONWriter {
  mutating func numbers(_ values: [ExactDecimal?]) {
    array { list in
      for value in values { list.optional(value) { $0.number($1) } }
    }
  }
}
