import AppStore
import Broker
import Market
import PaperTrading
import TestSupport
import TestTraits
import Testing

/// Rules that need more than one order or one moment.
@Suite(.ownThread) struct BrokerRuleTests {
  private typealias Row = PaperExchange.Row

  private func start(_ name: String) async throws -> PaperExchange {
    let exchange = try await PaperExchange()
    try await exchange.row(
      Row(name: name, second: 34_500, volume: 100, bids: [(999, 500)], asks: [(1001, 500)]))
    try exchange.deposit(20_000_000)
    return exchange
  }

  @Test func `a person buys at most 500,000 of a share under special treatment a day`()
    async throws
  {
    let exchange = try await start("*ST平安")
    #expect(try exchange.order(.buy, 400_000, at: 990).isDone)
    let more = try exchange.order(.buy, 100_100, at: 990)
    #expect(!more.isDone && more.answer.hasPrefix("size: "), "\(more)")
    #expect(more.answer.contains("500100 would be bought"), "\(more)")
    #expect(try exchange.order(.buy, 100_000, at: 990).isDone)
    // In another account, too.
    let second = try LedgerTable(exchange.apps).create(
      userID: PaperExchange.user, name: "二", market: "cn", currency: "CNY")
    try exchange.deposit(1_000_000, account: second)
    let request = CommandRequest.order(
      OrderRequest(
        symbol: try #require(Symbol("sz000001")), side: .buy, kind: .limit,
        quantity: ExactDecimal(100), limit: PaperExchange.price(990)))
    #expect(try exchange.send(request, account: second).answer.hasPrefix("size: "))
    // What was cancelled unfilled is not bought, and a change of an order is one order.
    try exchange.send(.cancel(order: 2))
    #expect(try exchange.send(request, account: second).isDone)
    let change = OrderChange(quantity: ExactDecimal(450_000))
    #expect(try exchange.send(.replace(order: 1, change)).isDone)
  }

  @Test func `other shares have no such bound`() async throws {
    let exchange = try await start("平安银行")
    #expect(try exchange.order(.buy, 400_000, at: 990).isDone)
    #expect(try exchange.order(.buy, 400_000, at: 990).isDone)
  }

  @Test
  func `an order of 09:27 that the exchange would void is cancelled, and its user is told why`()
    async throws
  {
    let exchange = try await PaperExchange()
    try await exchange.row(
      Row(second: 33_903, volume: 100, bids: [(999, 500)], asks: [(1001, 500)]))
    try exchange.deposit(100_000)
    exchange.setClock(second: 9 * 3600 + 27 * 60)
    #expect(try exchange.order(.buy, 100, at: 1100).isDone)
    #expect(try exchange.order(.buy, 100, at: 1020).isDone)
    for (number, second) in [34_203, 34_206, 34_209].enumerated() {
      try await exchange.row(
        Row(
          second: second, volume: 200 + Int64(number) * 500, bids: [(999, 500)],
          asks: [(1001, 500)]))
    }
    #expect(try exchange.states() == ["cancelled", "filled"])
    #expect(try exchange.fills() == ["2/1 100@10.01"])
    let reasons = try exchange.database.execute(
      "select reason from candled_app.notification where event = 'cancelled'")
    #expect(
      reasons.map { $0[0] } == ["11 is above 10.21, the price cage of a buy order as it came"])
    #expect(try LedgerReplay(exchange.apps).differences() == [])
  }
}
