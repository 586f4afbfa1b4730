/// Alpaca's positions: what is held, and closing it by a market order.

import AppStore
import HTTPTypes
import Market
import PaperTrading
import Reader

extension AlpacaTradingRoutes {
  private static let position = Schema.named(
    "AlpacaPosition",
    .object(
      [
        "asset_id", "symbol", "exchange", "asset_class", "avg_entry_price", "qty", "qty_available",
        "side", "market_value", "cost_basis", "unrealized_pl", "unrealized_intraday_pl",
      ].map { .init($0, .string) }
        + [.init("current_price", .optionalString), .init("candled", .object([]))]))

  private static let closing = [
    Parameter("qty", .matching(.quantity), summary: "How much of it.", example: "100"),
    Parameter(
      "percentage", .matching(.quantity),
      summary: "How much of it, down to whole lots, and no more than may be sold today.",
      example: "50"),
  ]

  var positions: [Route] {
    [
      route(
        "/v2/positions", summary: "Alpaca: what is held.", answer: .array(of: Self.position)
      ) { (routes, call) throws(Problem) in
        let held = try await routes.service.portfolio(of: call.account).holdings
        let state = routes.service.memory.state
        return .ownList(of: held) { $0.write(alpaca: $1, in: state) }
      },
      route(
        "/v2/positions/{symbol}", summary: "Alpaca: what is held of one.",
        parameters: [AlpacaRoutes.assetSymbol], answer: Self.position
      ) { (routes, call) throws(Problem) in
        let holding = try await routes.holding(call)
        let state = routes.service.memory.state
        return .own { $0.write(alpaca: holding, in: state) }
      },
      route(
        "/v2/positions/{symbol}", method: .delete,
        summary: "Alpaca: sells what may be sold today of one, by a market order.",
        parameters: [AlpacaRoutes.assetSymbol] + Self.closing, answer: Self.order
      ) { (routes, call) throws(Problem) in
        let holding = try await routes.holding(call)
        let quantity = try call.quantity(of: holding)
        let id = try await routes.sell(holding, quantity: quantity, of: call)
        return routes.answer(try await routes.made(id, of: call))
      },
      route(
        "/v2/positions", method: .delete,
        summary: "Alpaca: sells all that may be sold today, by market orders.",
        parameters: [
          Parameter(
            "cancel_orders", .choice(["true", "false", "True", "False"]),
            summary: "Cancels all open orders before.", example: "true")
        ], status: .several,
        answer: .array(
          of: .object([
            .init("symbol", .string), .init("status", .integer), .init("body", .object([])),
          ]))
      ) { (routes, call) throws(Problem) in try await routes.closeAll(call) },
    ]
  }

  private func holding(_ call: AlpacaCall) async throws(Problem) -> ValuedHolding {
    let name = call.arguments["symbol"] ?? ""
    let state = service.memory.state
    let held = try await service.portfolio(of: call.account).holdings
    let symbol = state.directory.place(spelling: name).map { state.directory[$0].symbol }
    let found = held.first { holding in
      holding.record.symbol == symbol
        || ListedStock(holding.record.symbol, in: state).series?.assetID == name.lowercased()
    }
    guard let found else {
      throw Problem(.notFound, code: "unknown_position", title: "position does not exist")
    }
    return found
  }

  private func sell(
    _ holding: ValuedHolding, quantity: ExactDecimal, of call: AlpacaCall
  ) async throws(Problem) -> Int64 {
    let order = OrderRequest(
      symbol: holding.record.symbol, side: .sell, kind: .fiveBestThenCancel, quantity: quantity)
    return try await execute(.order(order), of: call)
  }

  private func closeAll(_ call: AlpacaCall) async throws(Problem) -> Answer {
    if call.arguments["cancel_orders"]?.lowercased() == "true" { _ = try await cancelAll(call) }
    var results: [(holding: ValuedHolding, result: Result<OrderRecord, Problem>)] = []
    var isAway = false
    for holding in try await service.portfolio(of: call.account).holdings {
      do throws(Problem) {
        // What was sold before is in the answer; each further wait would only delay it.
        if isAway { throw .storeAway }
        let id = try await sell(holding, quantity: holding.closing, of: call)
        results.append((holding, .success(try await made(id, of: call))))
      } catch {
        isAway = isAway || error.isUndecided
        results.append((holding, .failure(error)))
      }
    }
    let state = service.memory.state
    return .ownList(.several, of: results) {
      $0.write(closing: $1.holding, result: $1.result, in: state)
    }
  }
}

extension ValuedHolding {
  /// What may be sold today. Where that is nothing all of it: the refusal then names what there is.
  fileprivate var closing: ExactDecimal { sellable.isPositive ? sellable : record.quantity }
}

extension AlpacaCall {
  private static let whole = ExactDecimal(100)

  fileprivate func quantity(of holding: ValuedHolding) throws(Problem) -> ExactDecimal {
    let percentage = arguments["percentage"]
    if let text = arguments["qty"] {
      if percentage != nil { throw .unstorable("percentage", expected: "none beside a qty") }
      return try text.decimal("qty", .quantity)
    }
    guard let percentage else { return holding.closing }
    let percent = try percentage.decimal("percentage", .quantity)
    guard percent <= Self.whole,
      let hundredfold = try? holding.record.quantity * percent
    else { throw .unstorable("percentage", expected: "one from 0 to 100") }
    let shares = (0..<hundredfold.scale).reduce(hundredfold.units) { units, _ in units / 10 } / 100
    if ExactDecimal(shares) >= holding.closing { return holding.closing }
    // A remainder is sold with all of it alone.
    let lot = Instrument.classify(holding.record.symbol)?.lot
    let step = lot.map { Int64($0.increment) } ?? 1
    let lots = shares / step * step
    guard lots >= lot.map({ Int64($0.minimum) }) ?? 1 else {
      throw .unstorable(
        "percentage", expected: "one that is a lot of the \(holding.record.quantity) at least")
    }
    return ExactDecimal(lots)
  }
}

extension JSONWriter {
  fileprivate mutating func write(alpaca holding: ValuedHolding, in state: MarketState) {
    let (record, price) = (holding.record, holding.price)
    let known = ListedStock(record.symbol, in: state)
    let valueBefore = (try? holding.value - holding.profitToday) ?? .zero
    func ratio(_ profit: ExactDecimal, of whole: ExactDecimal) -> String {
      (try? profit.divided(by: whole, scale: 6))?.description ?? "0"
    }
    member("asset_id") { $0.string(known.series?.assetID ?? AlpacaID.account.text(0, in: .none)) }
    member("symbol") { $0.string(record.symbol.description) }
    member("exchange") { $0.string("") }
    member("asset_class") { $0.string("us_equity") }
    member("asset_marginable") { $0.boolean(false) }
    member("avg_entry_price") { $0.decimal(record.averagePrice ?? .zero) }
    member("qty") { $0.decimal(record.quantity) }
    member("qty_available") { $0.decimal(holding.sellable) }
    member("side") { $0.string("long") }
    member("market_value") { $0.decimal(holding.value) }
    member("cost_basis") { $0.decimal(holding.cost) }
    member("unrealized_pl") { $0.decimal(holding.profit) }
    member("unrealized_plpc") { $0.string(ratio(holding.profit, of: holding.cost)) }
    member("unrealized_intraday_pl") { $0.decimal(holding.profitToday) }
    member("unrealized_intraday_plpc") { $0.string(ratio(holding.profitToday, of: valueBefore)) }
    member("current_price") { $0.optional(price.last) { $0.decimal($1) } }
    member("lastday_price") { $0.optional(price.previousClose) { $0.decimal($1) } }
    member("change_today") { text in
      let change = price.last.flatMap { last in price.previousClose.flatMap { try? last - $0 } }
      text.optional(change) { $0.string(ratio($1, of: price.previousClose ?? .zero)) }
    }
    object("candled") { ours in
      ours.member("exUnbooked") { $0.boolean(holding.isActionMissing) }
      ours.member("stale") { $0.boolean(price.isStale) }
    }
  }

  fileprivate mutating func write(
    closing holding: ValuedHolding, result: Result<OrderRecord, Problem>, in state: MarketState
  ) {
    let symbol = holding.record.symbol.description
    member("symbol") { $0.string(symbol) }
    switch result {
    case .success(let record):
      let id = AlpacaID.order.text(record.order.id, in: state.epochs)
      member("order_id") { $0.string(id) }
      member("status") { $0.integer(200) }
      object("body") { $0.write(alpaca: record, in: state) }
    case .failure(let problem):
      member("status") { $0.integer(Int64(problem.status.code)) }
      object("body") { body in
        body.member("code") { $0.integer(Int64(problem.status.code) * 100_000 + 10_000) }
        body.member("message") { $0.string(problem.title) }
        body.member("symbol") { $0.string(symbol) }
      }
    }
  }
}
