import AppStore
import Broker
import Market
import PaperTrading
import TestSupport
import TestTraits
import Testing

/// Accounts that are closed, and settings that change under orders.
@Suite(.ownThread) struct AccountClosingTests {
  private typealias Row = PaperExchange.Row

  private func open() async throws -> PaperExchange {
    let exchange = try await PaperExchange()
    try await exchange.row(
      Row(second: 34_500, volume: 100, bids: [(1000, 5_000)], asks: [(1001, 5_000)]))
    try exchange.deposit(100_000)
    return exchange
  }

  private func rows(_ exchange: PaperExchange, from second: Int, volume: Int64) async throws {
    for step in 0..<2 {
      try await exchange.row(
        Row(
          second: second + step * 3, volume: volume + Int64(step) * 100, bids: [(1000, 5_000)],
          asks: [(1001, 5_000)]))
    }
  }

  @Test func `closing an account ends its orders and purchases, also when none can be cancelled`()
    async throws
  {
    let exchange = try await open()
    let symbol = try #require(Symbol("sz000001"))
    try exchange.order(.buy, 300, at: 1001)
    try await rows(exchange, from: 34_510, volume: 300)
    try exchange.order(.buy, 100, at: 990)
    let terms = PurchaseTerms(triggers: [.near(permille: 0)])
    try exchange.send(
      .arm(PurchaseRequest(symbol: symbol, quantity: ExactDecimal(100), terms: terms)))
    // No cancellation is taken then.
    exchange.setClock(second: 14 * 3600 + 58 * 60)
    let closed = try exchange.send(.close)
    #expect(closed.isDone && closed.answer == "account=\(exchange.account)")
    #expect(try exchange.states() == ["filled", "cancelled"])
    let states = "select string_agg(state, ' ') from candled_app.queue_purchase"
    #expect(try exchange.database.value(states) == "cancelled")
    let frozen = "select balance from candled_app.book where unit = 'cash' and kind = 'frozen'"
    #expect(try exchange.database.value(frozen) == "0.00")
    for request in [CommandRequest.close, .withdraw(ExactDecimal(1), description: "")] {
      #expect(try exchange.send(request).answer == "closed: the account is closed")
    }
    exchange.kill()
    #expect(try !exchange.send(.close).isDone)
    #expect(try exchange.findings() == [])
    #expect(try LedgerReplay(exchange.apps).differences() == [])
  }

  @Test func `a closed account is in no list, and another one may have its name`() async throws {
    let exchange = try await open()
    let accounts = AccountTable(exchange.apps, userID: PaperExchange.user)
    for _ in 0..<3 {
      let name = try #require(try accounts.all().first).name
      let id = try accounts.account(nil).id
      try exchange.send(.close, account: id)
      #expect(try accounts.all() == [])
      #expect(throws: AppStoreError.unknownAccount) { try accounts.account(id) }
      #expect(throws: AppStoreError.unknownAccount) { try accounts.main() }
      #expect(try accounts.closed(id)?.name == name)
      #expect(try accounts.create(named: name, market: .mainland).name == name)
    }
    for number in 1..<AccountTable.accountsMax {
      _ = try accounts.create(named: "\(number)", market: .mainland)
    }
    #expect(throws: AppStoreError.limitReached("more than 20 accounts: close some")) {
      try accounts.create(named: "one more", market: .mainland)
    }
    #expect(throws: (any Error).self) {
      try exchange.database.execute("update candled_app.account set closed_at = null")
    }
  }

  @Test func `an order keeps the commission of its acceptance, and verify goes by it`()
    async throws
  {
    let exchange = try await open()
    try exchange.order(.buy, 300, at: 1001)
    exchange.kill(
      schedule: FeeSchedule(
        commissionRate: ExactDecimal(units: 3, scale: 3), commissionMin: ExactDecimal(1)))
    try exchange.order(.buy, 400, at: 1001)
    try await rows(exchange, from: 34_510, volume: 300)
    #expect(try exchange.fills() == ["1/1 300@10.01", "2/1 400@10.01"])
    let paid = "select string_agg(commission::text, ' ' order by id) from candled_app.paper_order"
    #expect(try exchange.database.value(paid) == "5.00 12.01")
    let free = FeeSchedule(commissionRate: .zero, commissionMin: .zero)
    for schedule in [FeeSchedule.standard, free] {
      exchange.kill(schedule: schedule)
      try exchange.look()
      #expect(try LedgerReplay(exchange.apps).differences() == [])
    }
    let changed = "update candled_app.paper_order set commission_rate = 0.001 where id = 1"
    #expect(throws: (any Error).self) { try exchange.database.execute(changed) }
  }
}
