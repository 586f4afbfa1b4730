/// What happened to the account, and what it was worth by day.

import AppStore
import HTTPTypes
import Market

extension AlpacaTradingRoutes {
  var activities: [Route] {
    [
      route(
        "/v2/account/activities", summary: "Alpaca: what changed the account's cash.",
        parameters: [
          Parameter(
            "activity_types", .choices(AlpacaActivity.kinds.map(\.key)),
            summary: "Only these; all if absent.",
            example: "FILL,CSD")
        ] + Self.activityParameters, answer: .array(of: Self.activity)
      ) { (routes, call) throws(Problem) in
        try await routes.activities(call, types: call.arguments.list("activity_types"))
      },
      route(
        "/v2/account/activities/{type}", summary: "Alpaca: the same of one type.",
        parameters: [
          Parameter(
            "type", .choice(AlpacaActivity.kinds.map(\.key)), in: .path, summary: "Which.",
            example: "FILL")
        ] + Self.activityParameters, answer: .array(of: Self.activity)
      ) { (routes, call) throws(Problem) in
        try await routes.activities(call, types: call.arguments["type"].map { [$0] })
      },
      history,
    ]
  }

  private static let activity = Schema.object([
    .init("id", .string), .init("activity_type", .string),
    .init("net_amount", .string, isRequired: false),
  ])

  private static let activityParameters = [
    Parameter("date", .moment, summary: "Of this day alone.", example: "2026-07-06"),
    Parameter("after", .moment, summary: "Later than then.", example: "2026-07-06"),
    Parameter("until", .moment, summary: "Earlier than then.", example: "2026-07-07"),
    Parameter(
      "direction", .choice(["asc", "desc"]), summary: "By time; desc if absent.", example: "desc"),
    Parameter(
      "page_size", .integer(1...100), summary: "How many at most; 100 if absent.", example: "10"),
    Parameter(
      "page_token", .integer(1...Int64.max), summary: "id of the last activity of the page before.",
      example: "12"),
  ]

  private func activities(_ call: AlpacaCall, types: [String]?) async throws(Problem) -> Answer {
    let (account, arguments) = (call.account, call.arguments)
    let zone = account.market.zone
    let filter = AlpacaActivity.filter(types: types, by: arguments, zone: zone)
    let limit = Int(arguments.integer("page_size") ?? 100)
    let end = arguments.integer("page_token")
    let rows = try await service.run { (connection) throws(AppStoreError) in
      try LedgerTable(connection).transactionLog(
        of: account.id, filter: filter, behind: end, limit: limit)
    }
    let epochs = service.memory.state.epochs
    return .ownList(of: rows) { $0.write(AlpacaActivity($1), zone: zone, epochs: epochs) }
  }

  // MARK: History

  private static let period = TextPattern(
    "^[1-9][0-9]?[DWMA]$", expectation: "a number below 100 and D, W, M or A")
  private static let switches = ["true", "false", "True", "False"]

  private static let historyParameters = [
    Parameter(
      "period", .matching(period),
      summary: "1M if absent; has no effect beside both a start and an end.", example: "3M"),
    Parameter("timeframe", .choice(["1D"]), summary: "Days only.", example: "1D"),
    Parameter("start", .moment, summary: "From the day of then on.", example: "2026-07-06"),
    Parameter("end", .moment, summary: "Until the day of then.", example: "2026-07-07"),
    Parameter("date_end", .day, summary: "The same, where end is absent.", example: "2026-07-07"),
    Parameter(
      "extended_hours", .choice(switches), summary: "Has no effect on days.", example: "false"),
    Parameter(
      "intraday_reporting", .choice(["market_hours", "extended_hours", "continuous"]),
      summary: "Has no effect on days.", example: "market_hours"),
    Parameter(
      "pnl_reset", .choice(["per_day", "no_reset"]), summary: "Has no effect on days.",
      example: "no_reset"),
    Parameter(
      "cashflow_types", .choice(["NONE"]), summary: "Cash flows are activities.", example: "NONE"),
  ]

  private var history: Route {
    route(
      "/v2/account/portfolio/history", summary: "Alpaca: what the account was worth by day.",
      parameters: Self.historyParameters,
      answer: .object(
        ["timestamp", "equity", "profit_loss", "profit_loss_pct"].map {
          .init($0, .array(of: .nullable(.number)))
        } + [.init("base_value", .number), .init("timeframe", .string)])
    ) { (routes, call) throws(Problem) in
      let zone = call.account.market.zone
      let range = AlpacaHistoryRange(
        call.arguments, today: routes.service.today(of: call.account), zone: zone)
      let days = try await routes.service.history(
        of: call.account, from: range.first, through: range.last)
      return .own { $0.write(alpaca: days, zone: zone) }
    }
  }
}

extension AlpacaActivity {
  /// - Parameter types: nil: any.
  fileprivate static func filter(
    types: [String]?, by arguments: Arguments, zone: MarketZone
  ) -> LogFilter {
    var filter = LogFilter(
      kinds: types.map { types in
        kinds.filter { types.contains($0.key) }.flatMap(\.value)
      })
    filter.after = arguments.moment("after", zone: zone)
    filter.until = arguments.moment("until", zone: zone)
    filter.isOldestFirst = arguments["direction"] == "asc"
    if let day = arguments.moment("date", zone: zone).map({ zone.day(at: $0) }) {
      let begins = zone.moment(on: day, secondOfDay: 0)
      // Later than: the first moment of the day is one of it.
      let before = Timestamp(microseconds: begins.microseconds - 1)
      let ends = zone.moment(on: day.advanced(by: 1), secondOfDay: 0)
      filter.after = max(filter.after ?? before, before)
      filter.until = min(filter.until ?? ends, ends)
    }
    return filter
  }
}

/// Which days a history is of: a period that ends today, or from a start or until an end. A start
/// that is later than the end makes it one of no days.
struct AlpacaHistoryRange: Sendable, Hashable {
  let first: TradingDay
  let last: TradingDay

  private static let unitDays: [Character: Int] = ["D": 1, "W": 7, "M": 31, "A": 366]

  init(_ arguments: Arguments, today: TradingDay, zone: MarketZone) {
    func day(_ name: String) -> TradingDay? {
      arguments.moment(name, zone: zone).map { zone.day(at: $0) }
    }
    let (start, end) = (day("start"), day("end") ?? arguments.day("date_end"))
    let period = arguments["period"] ?? "1M"
    let span = (Int(period.dropLast()) ?? 1) * (Self.unitDays[period.last ?? "M"] ?? 31)
    let fromStart = arguments["period"] == nil ? nil : start?.advanced(by: span)
    last = min(end ?? fromStart ?? today, today)
    first = start ?? last.advanced(by: -span)
  }
}

extension JSONWriter {
  fileprivate mutating func write(alpaca days: [PortfolioDay], zone: MarketZone) {
    let base = days.first?.equity ?? .zero
    // The close is on that day in UTC, too: clients make dates of it.
    let closes = zone.market?.sessions.last?.closes ?? 0
    let profits = days.map { day in (try? day.profit - days[0].profit) ?? .zero }
    array("timestamp") { list in
      for day in days { list.integer(zone.moment(on: day.day, secondOfDay: closes).seconds) }
    }
    member("equity") { $0.numbers(days.map(\.equity)) }
    member("profit_loss") { $0.numbers(profits) }
    member("profit_loss_pct") { list in
      list.numbers(profits.map { base.isPositive ? (try? $0.divided(by: base, scale: 6)) : nil })
    }
    member("base_value") { $0.number(base) }
    member("timeframe") { $0.string("1D") }
  }

  private mutating func numbers(_ values: [ExactDecimal?]) {
    array { list in
      for value in values { list.optional(value) { $0.number($1) } }
    }
  }
}
