import AppStore
import Market
import PaperTrading
import TestSupport
import TestTraits
import Testing

@testable import Broker

/// What no user makes the broker carry for the others.
@Suite(.ownThread) struct BrokerBoundTests {
  private typealias Row = PaperExchange.Row

  /// Ended orders of a queue purchase, as a user's program may leave them behind within hours.
  private static func endedOrders(_ count: Int) -> String {
    """
    insert into candled_app.queue_purchase (
      id, account_id, command_id, symbol, quantity, trigger, state, changed_at)
    select
      1, account_id, command_id, symbol, quantity, '{}', 'cancelled', accepted_at
    from candled_app.paper_order where id = 1;
    insert into candled_app.paper_order (
      id, account_id, queue_purchase_id, symbol, side, kind, time_in_force, quantity, limit_price,
      worst_price, settles_same_day, trading_day, accepted_at, state)
    select
      n, account_id, 1, symbol, side, kind, time_in_force, quantity, limit_price, worst_price,
      settles_same_day, trading_day, accepted_at, state
    from candled_app.paper_order, generate_series(2, \(count)) n where id = 1
    """
  }

  @Test func `a user places a bounded number of orders a day`() async throws {
    let exchange = try await PaperExchange()
    try await exchange.row(Row(second: 34_500, volume: 100, cents: 1100, bids: [(1100, 100)]))
    try exchange.deposit(100_000)
    try exchange.order(.buy, 100, at: 1050)
    try exchange.send(.cancel(order: 1))
    exchange.kill()
    try exchange.database.execute(Self.endedOrders(BrokerState.placedOfUserMax - 1))
    let last = "order=\(BrokerState.placedOfUserMax)"
    #expect(try exchange.order(.buy, 100, at: 1050).answer == last)
    let refusal = "too_many: a user places at most 10000 orders a day"
    #expect(try exchange.order(.buy, 100, at: 1050).answer == refusal)
    let change = OrderChange(limit: PaperExchange.price(1051))
    let number = Int64(BrokerState.placedOfUserMax)
    #expect(try exchange.send(.replace(order: number, change)).answer == refusal)
    let next = try #require(TradingCalendar.shanghai.next(after: PaperExchange.day))
    exchange.setClock(day: next, second: 34_000)
    #expect(try exchange.order(.buy, 100, at: 1050).isDone)
  }

  @Test func `armed purchases are found by their instrument and counted by their account`() throws {
    let symbols = try ["sz000001", "sh600000"].map { try #require(Symbol($0)) }
    func row(_ id: Int64, _ state: PurchaseRow.State) -> PurchaseRow {
      PurchaseRow(
        purchase: QueuePurchase(
          id: id, account: id % 2, symbol: symbols[Int(id % 2)], quantity: ExactDecimal(100),
          terms: PurchaseTerms(triggers: [.resealed], carriesOver: id > 2)),
        commandID: id, state: state, changedAt: Timestamp(microseconds: 0))
    }
    var purchases = PurchaseSet()
    for id in Int64(1)...4 { purchases[id] = row(id, .armed) }
    #expect(purchases.armed(on: symbols[0]).map(\.purchase.id) == [2, 4])
    #expect(purchases.ending(on: symbols[0]) == [2] && purchases.armedCount(of: 1) == 2)
    purchases[2] = row(2, .ordered)
    purchases[4] = nil
    #expect(purchases.armed(on: symbols[0]).isEmpty)
    #expect(Array(purchases.armedSymbols) == [symbols[1]])
    #expect(purchases.armedCount(of: 0) == 0 && purchases.accounts.sorted() == [0, 1, 1])
    purchases[2] = nil
    for id in [Int64(1), 3] { purchases[id] = nil }
    #expect(purchases.isEmpty && Array(purchases.armedSymbols).isEmpty)
  }
}
