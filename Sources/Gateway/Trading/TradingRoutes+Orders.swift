/// Orders of the app's documents: by page, one, placed, cancelled, replaced.

import AppStore
import HTTPTypes
import PaperTrading
import Reader

extension TradingRoutes {
  var orders: [Route] {
    [
      reading(
        "/v1/orders", answer: Self.orderPage,
        parameters: [
          Self.account,
          Parameter(
            "status",
            .choice(OrderStatus.allCases.flatMap { [$0.rawValue, $0.rawValue.lowercased()] }),
            summary: "All if absent.", example: "OPEN"),
          Self.page, MarketRoutes.limit(Self.rowsMax),
        ],
        summary:
          "Orders, newest first, by page. One that was refused was no order: its request has "
          + "the reason."
      ) { (routes, request) throws(Problem) in try await routes.list(request) },
      reading(
        "/v1/orders/{id}", answer: OrderDetails.shape.schema,
        parameters: [Self.id(of: "order")],
        summary: "An order with its fills, what each follows from, and what happened to it."
      ) { (routes, request) throws(Problem) in try await routes.details(request) },
      command(
        "/v1/orders", method: .post, status: .created, answer: ListedOrder.shape.schema,
        body: OrderBody.schema, parameters: [Self.account],
        summary: "Places an order. The answer is the order as the broker accepted it."
      ) { (routes, request) throws(Problem) in try await routes.place(request) },
      command(
        "/v1/orders/{id}", method: .delete, answer: ListedOrder.shape.schema,
        parameters: [Self.id(of: "order")],
        summary: "Cancels an order; in the minutes that allow none it waits (pending_cancel)."
      ) { (routes, request) throws(Problem) in
        let order = try await routes.service.order(request.id, of: request.identity).order
        return try await routes.answerOrder(
          .cancel(order: order.id), of: request, in: order.account)
      },
      command(
        "/v1/orders/{id}", method: .patch, answer: ListedOrder.shape.schema,
        body: OrderChangeBody.schema, parameters: [Self.id(of: "order")],
        summary: "Replaces an order by a new one, the answer. What is not named stays."
      ) { (routes, request) throws(Problem) in
        let change = try request.body(OrderChangeBody.self).change()
        let order = try await routes.service.order(request.id, of: request.identity).order
        return try await routes.answerOrder(
          .replace(order: order.id, change), of: request, in: order.account)
      },
    ]
  }

  private static let orderPage = Schema.object([
    .init("orders", .array(of: ListedOrder.shape.schema)), .init("page", .integer),
    .init("limit", .integer), .init("total", .integer),
  ])

  private func place(_ request: UserRequest) async throws(Problem) -> Answer {
    let body = try request.body(OrderBody.self)
    let account = try await service.account(request.account, of: request.identity)
    let series = try service.series(body.stockSymbol, for: account)
    let order = try body.request(for: series.symbol)
    return try await answerOrder(.order(order), of: request, in: account.id, status: .created)
  }

  private func answerOrder(
    _ command: CommandRequest, of request: UserRequest, in account: Int64,
    status: HTTPResponse.Status = .ok
  ) async throws(Problem) -> Answer {
    try await answer(command, of: request, in: account) { (id) async throws(Problem) in
      let record = try await service.order(id, of: request.identity)
      let order = ListedOrder(record, in: service.memory.state)
      return .own(
        order, as: ListedOrder.shape, in: order.zone, status: status,
        location: status == .created ? "/v1/orders/\(id)" : nil)
    }
  }

  private func list(_ request: UserRequest) async throws(Problem) -> Answer {
    let account = try await service.account(request.account, of: request.identity).id
    let page = request.arguments.integer("page") ?? 1
    let limit = request.arguments.integer("limit") ?? Self.rowsDefault
    let status = request.arguments["status"].flatMap { OrderStatus(rawValue: $0.uppercased()) }
    let filter = OrderFilter(
      states: status.map { status in OrderState.allCases.filter { $0.status == status } })
    let (records, total) = try await service.orders(of: request.identity) {
      (table) throws(AppStoreError) in
      (
        try table.orders(
          of: account, filter: filter, limit: Int(limit), offset: Int((page - 1) * limit)),
        try table.count(of: account, filter: filter)
      )
    }
    let state = service.memory.state
    return .own { answer in
      answer.list("orders", of: records.map { ListedOrder($0, in: state) }) {
        $0.write($1, as: ListedOrder.shape, in: $1.zone)
      }
      answer.member("page") { $0.integer(page) }
      answer.member("limit") { $0.integer(limit) }
      answer.member("total") { $0.integer(Int64(total)) }
    }
  }

  private func details(_ request: UserRequest) async throws(Problem) -> Answer {
    let id = request.id
    let record = try await service.order(id, of: request.identity)
    let (fills, events) = try await service.orders(of: request.identity) {
      (table) throws(AppStoreError) in (try table.fills(of: id), try table.events(of: id))
    }
    let details = OrderDetails(
      order: ListedOrder(record, in: service.memory.state), fills: fills, events: events)
    return .own(details, as: OrderDetails.shape, in: details.order.zone)
  }
}
