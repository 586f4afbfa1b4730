import AppStore
import Broker
import Market
import PaperTrading
import TestSupport
import TestTraits
import Testing

/// What users are told without asking: of orders and of queue purchases.
@Suite(.ownThread) struct BrokerNoticeTests {
  private typealias Row = PaperExchange.Row
  private static let morning = 34_500

  private func open() async throws -> PaperExchange {
    let exchange = try await PaperExchange()
    try await row(exchange, 0, 100)
    try exchange.deposit(100_000)
    return exchange
  }

  private func row(
    _ exchange: PaperExchange, _ second: Int, _ volume: Int64, offered: Int64 = 300,
    corrects: Bool = false
  ) async throws {
    try await exchange.row(
      Row(
        second: Self.morning + second, volume: volume, bids: [(999, 100)],
        asks: [(1001, offered)], corrects: corrects))
  }

  private func sealed(_ exchange: PaperExchange, _ second: Int, _ volume: Int64) async throws {
    try await exchange.row(
      Row(second: Self.morning + second, volume: volume, cents: 1100, bids: [(1100, 400)]))
  }

  /// The oldest first.
  private func notices(_ exchange: PaperExchange) throws -> [TradingNotice] {
    try NotificationTable(exchange.apps)
      .inbox(of: PaperExchange.user, before: nil, isUnread: true, limit: 100).reversed()
      .compactMap { item in
        if case .trading(let notice) = item.content { notice } else { nil }
      }
  }

  private func words(_ exchange: PaperExchange) throws -> [String] {
    try notices(exchange).map { notice in
      let filled = notice.filled.map { " \($0)" } ?? ""
      return "\(notice.kind.rawValue) \(notice.event.rawValue)\(filled)"
    }
  }

  @Test func `the end of an order is told, and neither its parts nor what is open`() async throws {
    let exchange = try await open()
    try exchange.order(.buy, 400, at: 1001)
    try await row(exchange, 3, 100)
    try await row(exchange, 6, 200)
    #expect(try exchange.states() == ["partially_filled"])
    #expect(try words(exchange) == [])
    try exchange.send(.cancel(order: 1))
    try exchange.order(.buy, 200, at: 1001)
    // The order that was cancelled may have had 400 of them.
    for step in 3...4 { try await row(exchange, step * 3, 200 + Int64(step), offered: 900) }
    try exchange.order(.buy, 100, at: 950)
    exchange.setClock(second: 54_400)
    try exchange.look()
    #expect(
      try words(exchange) == ["order cancelled 300", "order filled 200", "order expired 0"])
    let filled = try #require(try notices(exchange).dropFirst().first)
    #expect(filled.orderID == 2 && filled.side == .buy && filled.purchaseID == nil)
    #expect(filled.turnover == ExactDecimal(units: 200_200, scale: 2))
    #expect(filled.quantity == ExactDecimal(200) && filled.day == PaperExchange.day)
    #expect(try exchange.findings() == [])
  }

  @Test func `a fill that is taken back is told`() async throws {
    let exchange = try await open()
    try exchange.order(.buy, 300, at: 1001)
    try await row(exchange, 3, 9_000)
    try await row(exchange, 6, 9_100)
    try await row(exchange, 9, 200, corrects: true)
    #expect(try words(exchange) == ["order filled 300", "order reversed 0"])
  }

  @Test func `a queue purchase tells of its arming, its order and its end, and the empty queue`()
    async throws
  {
    let exchange = try await open()
    let symbol = try #require(Symbol("sz000001"))
    func arm() throws {
      let terms = PurchaseTerms(triggers: [.sealed(seconds: 0)])
      try exchange.send(
        .arm(PurchaseRequest(symbol: symbol, quantity: ExactDecimal(500), terms: terms)))
    }
    try arm()
    try arm()
    try exchange.send(.disarm(purchase: 2))
    for step in 1...6 { try await sealed(exchange, step * 3, Int64(step) * 1_000) }
    #expect(
      try words(exchange) == [
        "purchase armed", "purchase armed", "purchase cancelled", "purchase ordered 0",
        "purchase filled 500", "purchase queue_empty",
      ])
    let ordered = try notices(exchange)[3]
    #expect(ordered.orderID == 1 && ordered.purchaseID == 1 && ordered.symbol == symbol)
    #expect(try notices(exchange).last?.symbol == nil)
    #expect(try exchange.findings() == [])
  }

  @Test func `a purchase that is refused is told once, with the reason`() async throws {
    let exchange = try await open()
    try exchange.send(.withdraw(ExactDecimal(99_000), description: ""))
    let terms = PurchaseTerms(triggers: [.sealed(seconds: 0)])
    try exchange.send(
      .arm(
        PurchaseRequest(
          symbol: try #require(Symbol("sz000001")), quantity: ExactDecimal(500), terms: terms)))
    for step in 1...4 { try await sealed(exchange, step * 3, Int64(step) * 1_000) }
    #expect(
      try words(exchange) == ["purchase armed", "purchase rejected", "purchase queue_empty"])
    #expect(try notices(exchange)[1].reason?.hasPrefix("funds: ") == true)
  }
}
