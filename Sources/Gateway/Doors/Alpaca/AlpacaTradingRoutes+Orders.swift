/// Alpaca's orders.

import AppStore
import HTTPTypes
import PaperTrading
import Reader

extension AlpacaTradingRoutes {
  static let order = Schema.named(
    "AlpacaOrder",
    .object(
      ["id", "client_order_id", "symbol", "asset_class", "qty", "filled_qty", "order_class"].map {
        .init($0, .string)
      } + [
        .init("created_at", .moment), .init("updated_at", .moment),
        .init("submitted_at", .moment), .init("filled_at", .nullable(.moment)),
        .init("filled_avg_price", .optionalString), .init("limit_price", .optionalString),
        .init("stop_price", .optionalString), .init("side", .choice(Side.allCases.map(\.name))),
        .init("type", .choice(["market", "limit", "stop", "stop_limit"])),
        .init("time_in_force", .choice(AlpacaOrderBody.forces)),
        .init("replaces", .optionalString), .init("replaced_by", .optionalString),
        .init(
          "status", .choice([OrderState.waitingName] + OrderState.allCases.map(\.alpacaName))),
        .init("extended_hours", .boolean), .init("candled", .object([])),
      ]))

  static let ordersMax: Int64 = 500
  private static let ordersDefault: Int64 = 50

  private static let orderID = Parameter(
    "order_id", .text(charactersMax: 36), in: .path, summary: "Of the order.",
    example: "0000000b-0000-8000-8000-000000000001")
  private static let nested = Parameter(
    "nested", .text(charactersMax: 5), summary: "Has no effect: orders have no legs.",
    example: "true")

  private static let listParameters = [
    Parameter(
      "status", .choice(["open", "closed", "all"]), summary: "open if absent.", example: "all"),
    Parameter(
      "limit", .integer(1...ordersMax), summary: "How many at most; 50 if absent.", example: "50"),
    Parameter("after", .moment, summary: "Submitted later.", example: "2026-07-06"),
    Parameter("until", .moment, summary: "Submitted earlier.", example: "2026-07-07"),
    Parameter("direction", .choice(["asc", "desc"]), summary: "By time.", example: "desc"),
    Parameter("side", .choice(["buy", "sell"]), summary: "Only those.", example: "buy"),
    Parameter(
      "symbols", .list(countMax: 100), summary: "Only of these; unknown ones have no orders.",
      example: "sh600519"),
    nested,
  ]

  var orders: [Route] {
    [
      route(
        "/v2/orders", method: .post, summary: "Alpaca: places an order.", answer: Self.order,
        body: AlpacaOrderBody.schema
      ) { (routes, call) throws(Problem) in try await routes.place(call) },
      route(
        "/v2/orders", summary: "Alpaca: orders.", parameters: Self.listParameters,
        answer: .array(of: Self.order)
      ) { (routes, call) throws(Problem) in try await routes.list(call) },
      route(
        "/v2/orders", method: .delete, summary: "Alpaca: cancels all open orders.",
        status: .several,
        answer: .array(of: .object([.init("id", .string), .init("status", .integer)]))
      ) { (routes, call) throws(Problem) in
        let results = try await routes.cancelAll(call)
        let epochs = routes.service.memory.state.epochs
        return .ownList(.several, of: results) { row, result in
          row.member("id") { $0.string(AlpacaID.order.text(result.id, in: epochs)) }
          row.member("status") { $0.integer(Int64(result.status.code)) }
        }
      },
      route(
        "/v2/orders/{order_id}", summary: "Alpaca: an order.",
        parameters: [Self.orderID, Self.nested], answer: Self.order
      ) { (routes, call) throws(Problem) in
        routes.answer(try await routes.order(of: call))
      },
      route(
        "/v2/orders:by_client_order_id", summary: "Alpaca: an order by its client's name.",
        parameters: [
          Parameter(
            "client_order_id", .text(charactersMax: 128), summary: "As it was sent.",
            example: "3f1c", isRequired: true)
        ], answer: Self.order
      ) { (routes, call) throws(Problem) in
        let (key, account) = (call.arguments["client_order_id"] ?? "", call.account.id)
        let found = try await routes.service.orders(of: call.identity) {
          (table) throws(AppStoreError) in try table.order(key: key, in: account)
        }
        guard let found else { throw .unknownOrder }
        return routes.answer(found)
      },
      route(
        "/v2/orders/{order_id}", method: .patch, summary: "Alpaca: replaces an order by a new one.",
        parameters: [Self.orderID], answer: Self.order, body: AlpacaChangeBody.schema
      ) { (routes, call) throws(Problem) in
        let body = try AlpacaNumbers.decode(AlpacaChangeBody.self, from: call.arguments.body)
        let change: OrderChange
        do throws(Problem) { change = try body.change() } catch { throw error.asUnprocessable }
        let id = try await routes.owned(call)
        let next = try await routes.execute(
          .replace(order: id, change), of: call, key: body.clientOrderID)
        return routes.answer(try await routes.made(next, of: call))
      },
      route(
        "/v2/orders/{order_id}", method: .delete, summary: "Alpaca: cancels an order.",
        parameters: [Self.orderID], status: .noContent, answer: nil
      ) { (routes, call) throws(Problem) in
        _ = try await routes.execute(.cancel(order: try await routes.owned(call)), of: call)
        return .done
      },
    ]
  }

  func answer(_ record: OrderRecord) -> Answer {
    let state = service.memory.state
    return .own { $0.write(alpaca: record, in: state) }
  }

  /// The number of the order in the path, which must be of the account that trades.
  private func owned(_ call: AlpacaCall) async throws(Problem) -> Int64 {
    let order = try await order(of: call).order
    guard order.account == call.account.id else { throw .unknownOrder }
    return order.id
  }

  private func place(_ call: AlpacaCall) async throws(Problem) -> Answer {
    let body = try AlpacaNumbers.decode(AlpacaOrderBody.self, from: call.arguments.body)
    let series = try service.series(body.symbol, for: call.account)
    let request: OrderRequest
    do throws(Problem) {
      request = try body.order().request(for: series.symbol)
    } catch {
      throw error.asUnprocessable
    }
    let id = try await execute(.order(request), of: call, key: body.clientOrderID)
    return answer(try await made(id, of: call))
  }

  private func list(_ call: AlpacaCall) async throws(Problem) -> Answer {
    let arguments = call.arguments
    let state = service.memory.state
    let status = arguments["status"] ?? "open"
    var filter = OrderFilter(
      states: status == "all"
        ? nil : OrderState.allCases.filter { $0.isTerminal == (status == "closed") })
    filter.symbols = arguments.list("symbols").map { spellings in
      spellings.compactMap { spelling in
        state.directory.place(spelling: spelling).map { state.directory[$0].symbol }
      }
    }
    filter.side = Side.allCases.first { $0.name == arguments["side"] }
    filter.after = arguments.moment("after", zone: call.account.market.zone)
    filter.until = arguments.moment("until", zone: call.account.market.zone)
    filter.isOldestFirst = arguments["direction"] == "asc"
    let (wanted, account) = (filter, call.account.id)
    let limit = Int(arguments.integer("limit") ?? Self.ordersDefault)
    let records = try await service.orders(of: call.identity) { (table) throws(AppStoreError) in
      try table.orders(of: account, filter: wanted, limit: limit)
    }
    return .ownList(of: records) { $0.write(alpaca: $1, in: state) }
  }

  /// Of each open order, what became of its cancellation.
  func cancelAll(
    _ call: AlpacaCall
  ) async throws(Problem) -> [(id: Int64, status: HTTPResponse.Status)] {
    let account = call.account.id
    let open = try await service.orders(of: call.identity) { (table) throws(AppStoreError) in
      try table.orders(of: account, filter: .open, limit: Int(Self.ordersMax))
    }
    var results: [(id: Int64, status: HTTPResponse.Status)] = []
    for record in open {
      do throws(Problem) {
        _ = try await execute(.cancel(order: record.order.id), of: call)
        results.append((record.order.id, .ok))
      } catch {
        if error.isUndecided { throw error }
        results.append((record.order.id, error.status))
      }
    }
    return results
  }

  /// The order in the path.
  private func order(of call: AlpacaCall) async throws(Problem) -> OrderRecord {
    let text = call.arguments["order_id"] ?? ""
    guard let id = AlpacaID.order.number(text, in: service.memory.state.epochs) else {
      throw .unknownOrder
    }
    return try await service.order(id, of: call.identity)
  }
}
