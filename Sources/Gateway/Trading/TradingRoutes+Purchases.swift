import AppStore
import HTTPTypes
import Hummingbird
import Market
import PaperTrading
import Reader

/// Queue purchases: bought when an instrument comes to its limit-up price.
extension TradingRoutes {
  var purchases: [Route] {
    [
      reading(
        "/v1/queue-purchases",
        answer: .object([
          .init("queuePurchases", .array(of: .queuePurchase)), .init("page", .integer),
          .init("limit", .integer),
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
        "/v1/queue-purchases", method: .post, status: .created, answer: .queuePurchase,
        body: QueuePurchaseBody.schema, parameters: [Self.account],
        summary: "Arms a purchase: with any of its triggers it becomes a limit order at limit-up."
      ) { (routes, request) throws(Problem) in
        let body = try request.body(QueuePurchaseBody.self)
        let account = try await routes.service.account(request.account, of: request.identity)
        let series = try routes.service.series(
          body.stockSymbol, for: account, state: routes.service.memory.state)
        let purchase = PurchaseRequest(
          symbol: series.symbol, quantity: try body.quantity.decimal("quantity", .quantity),
          terms: try body.terms())
        return try await routes.answerPurchase(
          .arm(purchase), of: request, in: account.id, status: .created)
      },
      reading(
        "/v1/queue-purchases/{id}", answer: .queuePurchase,
        parameters: [Self.id(of: "queue purchase")], summary: "One queue purchase."
      ) { (routes, request) throws(Problem) in
        try await routes.answerPurchase(request.id, of: request)
      },
      command(
        "/v1/queue-purchases/{id}", method: .delete, answer: .queuePurchase,
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
    let state = service.memory.state
    return .own(status, location: location) { text in
      text.object { $0.write(purchase, order: orders[purchase.id], in: state) }
    }
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
    return .own { text in
      text.object { answer in
        answer.member("queuePurchases") { list in
          list.array { list in
            for purchase in purchases {
              list.object { $0.write(purchase, order: orders[purchase.id], in: state) }
            }
          }
        }
        answer.member("page") { $0.integer(page) }
        answer.member("limit") { $0.integer(limit) }
      }
    }
  }
}

extension JSONWriter {
  fileprivate mutating func write(
    _ purchase: QueuePurchaseRecord, order: OrderRecord?, in state: MarketState
  ) {
    let known = ListedStock(purchase.symbol, in: state)
    let stock = known.stock
    let place = order.map { QueuePlace($0, stock: stock) } ?? QueuePlace(joiningLimitUpOf: stock)
    member("id") { $0.string(String(purchase.id)) }
    member("account") { $0.string(String(purchase.accountID)) }
    member("stockSymbol") { $0.string(purchase.symbol.description) }
    member("name") { $0.optional(known.series?.name) { $0.string($1) } }
    member("quantity") { $0.decimal(purchase.quantity) }
    member("triggers") { list in
      list.array { list in
        for trigger in purchase.terms.triggers {
          list.object { QueueTrigger.write(trigger, to: &$0) }
        }
      }
    }
    member("window") { $0.optional(purchase.terms.window) { $0.write(window: $1) } }
    member("carriesOver") { $0.boolean(purchase.terms.carriesOver) }
    member("state") { $0.string(purchase.state) }
    member("reason") { $0.optional(purchase.reason) { $0.string($1) } }
    member("changedAt") { $0.moment(purchase.changedAt, in: known.zone) }
    member("currentPrice") { $0.optional(stock?.currentPrice?.value) { $0.decimal($1) } }
    member("limitUp") { $0.optional(stock?.limitUp?.value) { $0.decimal($1) } }
    member("aheadAtMost") { $0.optional(place.aheadMax) { $0.decimal($1) } }
    member("behindAtLeast") { $0.optional(place.behindMin) { $0.decimal($1) } }
    member("certain") { $0.decimal(order?.filled ?? .zero) }
    member("possible") { $0.optional(order?.possible) { $0.decimal($1) } }
    member("order") { text in
      text.optional(order) { text, order in text.object { $0.write(order, in: state) } }
    }
  }

  private mutating func write(window: Range<Int32>) {
    func clock(_ second: Int32) -> String {
      [second / 3_600, second / 60 % 60].map { $0 < 10 ? "0\($0)" : String($0) }
        .joined(separator: ":")
    }
    object { ends in
      ends.member("from") { $0.string(clock(window.lowerBound)) }
      ends.member("to") { $0.string(clock(window.upperBound)) }
    }
  }
}
