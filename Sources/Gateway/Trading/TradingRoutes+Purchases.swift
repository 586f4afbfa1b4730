import AppStore
import HTTPTypes
import PaperTrading
import Reader

/// Queue purchases: bought when an instrument comes to its limit-up price.
extension TradingRoutes {
  var purchases: [Route] {
    [
      reading(
        "/v1/queue-purchases",
        answer: .object([
          .init("queuePurchases", .array(of: ListedPurchase.shape.schema)),
          .init("page", .integer), .init("limit", .integer),
        ]),
        parameters: [
          Self.account,
          Parameter(
            "status", .choice(["open", "all"]),
            summary: "open, if absent: those that wait for their trigger or in the queue.",
            example: "open"),
          Self.page, MarketRoutes.limit(Self.rowsMax),
        ],
        summary: "Queue purchases, newest first. aheadAtMost is the volume before it: never more, "
          + "often less."
      ) { (routes, request) throws(Problem) in try await routes.listPurchases(request) },
      command(
        "/v1/queue-purchases", method: .post, status: .created,
        answer: ListedPurchase.shape.schema, body: QueuePurchaseBody.schema,
        parameters: [Self.account],
        summary: "Arms a purchase: with any of its triggers it becomes a limit order at limit-up."
      ) { (routes, request) throws(Problem) in
        let body = try request.body(QueuePurchaseBody.self)
        let account = try await routes.service.account(request.account, of: request.identity)
        let series = try routes.service.series(body.stockSymbol, for: account)
        let purchase = PurchaseRequest(
          symbol: series.symbol, quantity: try body.quantity.decimal("quantity", .quantity),
          terms: try body.terms())
        return try await routes.answerPurchase(
          .arm(purchase), of: request, in: account.id, status: .created)
      },
      reading(
        "/v1/queue-purchases/{id}", answer: ListedPurchase.shape.schema,
        parameters: [Self.id(of: "queue purchase")], summary: "One queue purchase."
      ) { (routes, request) throws(Problem) in
        try await routes.answerPurchase(request.id, of: request)
      },
      command(
        "/v1/queue-purchases/{id}", method: .delete, answer: ListedPurchase.shape.schema,
        parameters: [Self.id(of: "queue purchase")],
        summary: "Disarms a purchase; an order that it became is cancelled as an order."
      ) { (routes, request) throws(Problem) in
        let purchase = try await routes.purchase(request.id, of: request.identity)
        return try await routes.answerPurchase(
          .disarm(purchase: purchase.id), of: request, in: purchase.accountID)
      },
    ]
  }

  private func purchase(
    _ id: Int64, of identity: Principal.Identity
  ) async throws(Problem) -> QueuePurchaseRecord {
    let found = try await service.orders(of: identity) { (table) throws(AppStoreError) in
      try table.purchase(id)
    }
    guard let found else {
      throw Problem(
        .notFound, code: "unknown_purchase", title: "There is no queue purchase of this number.")
    }
    return found
  }

  private func answerPurchase(
    _ command: CommandRequest, of request: UserRequest, in account: Int64,
    status: HTTPResponse.Status = .ok
  ) async throws(Problem) -> Answer {
    try await answer(command, of: request, in: account) { (id) async throws(Problem) in
      try await answerPurchase(
        id, of: request, status: status,
        location: status == .created ? "/v1/queue-purchases/\(id)" : nil)
    }
  }

  private func answerPurchase(
    _ id: Int64, of request: UserRequest, status: HTTPResponse.Status = .ok,
    location: String? = nil
  ) async throws(Problem) -> Answer {
    let purchase = try await purchase(id, of: request.identity)
    let orders = try await orders(of: [purchase], for: request.identity)
    let listed = ListedPurchase(
      purchase, order: orders[purchase.id], in: service.memory.state)
    return .own(
      listed, as: ListedPurchase.shape, in: listed.zone, status: status, location: location)
  }

  /// By purchase, the orders that they became.
  private func orders(
    of purchases: [QueuePurchaseRecord], for identity: Principal.Identity
  ) async throws(Problem) -> [Int64: OrderRecord] {
    let ids = purchases.compactMap(\.orderID)
    if ids.isEmpty { return [:] }
    let records = try await service.orders(of: identity) { (table) throws(AppStoreError) in
      try table.orders(ids)
    }
    let pairs = records.compactMap { record in record.queuePurchaseID.map { ($0, record) } }
    return Dictionary(pairs) { first, _ in first }
  }

  private func listPurchases(_ request: UserRequest) async throws(Problem) -> Answer {
    let account = try await service.account(request.account, of: request.identity).id
    let page = request.arguments.integer("page") ?? 1
    let limit = request.arguments.integer("limit") ?? Self.rowsDefault
    let isOpen = request.arguments["status"] != "all"
    let purchases = try await service.orders(of: request.identity) {
      (table) throws(AppStoreError) in
      try table.purchases(
        of: account, isOpen: isOpen, limit: Int(limit), offset: Int((page - 1) * limit))
    }
    let orders = try await orders(of: purchases, for: request.identity)
    let state = service.memory.state
    let listed = purchases.map { ListedPurchase($0, order: orders[$0.id], in: state) }
    return .own { answer in
      answer.list("queuePurchases", of: listed) {
        $0.write($1, as: ListedPurchase.shape, in: $1.zone)
      }
      answer.member("page") { $0.integer(page) }
      answer.member("limit") { $0.integer(limit) }
    }
  }
}
