import AppStore
import Broker
import Market
import PaperTrading
import Postgres
import TestSupport
import TestTraits
import Testing

/// The broker with a database and a daemon's rows: commands, fills, corrections.
@Suite(.ownThread) struct BrokerTests {
  private typealias Row = PaperExchange.Row
  private static let bids: [(Int64, Int64)] = [(999, 100)]
  private static let asks: [(Int64, Int64)] = [(1001, 500)]

  /// With a first row, and money.
  private func open(yuan: Int64 = 100_000) async throws -> PaperExchange {
    let exchange = try await PaperExchange()
    try await exchange.row(Row(second: 34_500, volume: 100, bids: Self.bids, asks: Self.asks))
    try exchange.deposit(yuan)
    return exchange
  }

  private func row(_ exchange: PaperExchange, _ second: Int, _ volume: Int64) async throws {
    try await exchange.row(Row(second: second, volume: volume, bids: Self.bids, asks: Self.asks))
  }

  @Test func `an order is filled from the book once the next row confirms it`() async throws {
    let exchange = try await open()
    #expect(try exchange.order(.buy, 300, at: 1001).answer == "order=1")
    try await row(exchange, 34_503, 200)
    #expect(try exchange.fills() == [])
    try await row(exchange, 34_506, 300)
    #expect(try exchange.fills() == ["1/1 300@10.01"])
    #expect(try exchange.states() == ["filled"])
    #expect(try exchange.findings() == [])
  }

  @Test func `what cannot be executed is refused with a code, and holds up nothing`() async throws {
    let exchange = try await open(yuan: 5_000)
    let refusals = try [
      exchange.order(.buy, 150, at: 1001), exchange.order(.buy, 100, at: 1200),
      exchange.order(.buy, 600, at: 1001), exchange.order(.sell, 100, at: 999),
      exchange.order(.buy, 100, at: 1001, symbol: "AAPL"),
      exchange.order(.buy, 100, at: 1001, symbol: "sz000002"), exchange.send(.cancel(order: 7)),
      exchange.send(.disarm(purchase: 7)),
      exchange.send(.withdraw(ExactDecimal(6_000), description: "")),
    ]
    let codes = refusals.map { $0.answer.prefix { $0 != ":" } }
    #expect(refusals.allSatisfy { !$0.isDone })
    #expect(
      codes == [
        "lot", "band", "funds", "sellable", "instrument", "halted", "unknown_order",
        "unknown_purchase", "funds",
      ])
    try exchange.database.execute(
      """
      insert into candled_app.command (account_id, idempotency_key, fingerprint, kind, body)
      values (\(exchange.account), 'odd', sha256('sing'), 'order', 'sing')
      """)
    #expect(try exchange.order(.buy, 100, at: 1001).isDone)
    let odd = try exchange.database.value(
      "select outcome from candled_app.command where idempotency_key = 'odd'")
    #expect(odd == "refused")
    #expect(try exchange.findings().filter { !$0.hasPrefix("I10") } == [])
  }

  @Test func `a command that the database does not take is refused, and the others go on`()
    async throws
  {
    let exchange = try await open()
    try exchange.database.execute(
      "alter table candled_app.paper_order add constraint odd check (quantity <> 200)")
    let symbol = try #require(Symbol("sz000001"))
    let requests = [100, 200, 300].map { quantity in
      KeyedRequest(
        accountID: exchange.account, key: "\(quantity)",
        request: .order(
          OrderRequest(
            symbol: symbol, side: .buy, kind: .limit, quantity: ExactDecimal(quantity),
            limit: PaperExchange.price(1001))))
    }
    _ = try CommandTable(exchange.apps).send(requests)
    try exchange.look()
    let outcomes = try exchange.database.execute(
      "select outcome from candled_app.command where kind = 'order' order by id")
    #expect(outcomes == [["done"], ["refused"], ["done"]])
  }

  @Test func `a failed step leaves nothing behind, and is done once the database takes it`()
    async throws
  {
    let exchange = try await open()
    try exchange.order(.buy, 300, at: 1001)
    try await row(exchange, 34_503, 200)
    try exchange.database.execute(
      "alter table candled_app.fill add constraint odd check (quantity <> 300)")
    try await row(exchange, 34_506, 300)
    #expect(try exchange.fills() == [] && exchange.states() == ["accepted"])
    try exchange.database.execute("alter table candled_app.fill drop constraint odd")
    try await row(exchange, 34_509, 400)
    #expect(try exchange.fills() == ["1/1 300@10.01"])
    #expect(try exchange.findings() == [])
  }

  @Test func `what the database does not take of a row is left out, and the rest is done`()
    async throws
  {
    let exchange = try await open()
    let symbols = ["sz000001", "sz000002"]
    func rows(_ second: Int, _ volume: Int64) async throws {
      for symbol in symbols {
        try await exchange.commit(
          Row(
            symbol: symbol, second: second, volume: volume, bids: Self.bids, asks: Self.asks))
      }
      exchange.setClock(second: second)
      try exchange.look()
    }
    try await rows(34_503, 200)
    try exchange.order(.buy, 300, at: 1001)
    try exchange.order(.buy, 200, at: 1001, symbol: "sz000002")
    try await rows(34_506, 300)
    try exchange.database.execute(
      "alter table candled_app.fill add constraint odd check (quantity <> 300)")
    try await exchange.certify(symbols, volume: 900, second: 55_800)
    #expect(try exchange.fills() == ["2/1 200@10.01"])
    // The same of a row that comes alone: it is read no more.
    try await exchange.commit(
      Row(second: 34_509, volume: 400, bids: Self.bids, asks: Self.asks))
    for _ in 0..<2 { try exchange.look() }
    let newest = try exchange.database.value("select last_seq from candled.feed_position()")
    #expect(exchange.broker.figures.quoteSequence.map { "\($0)" } == newest)
    try exchange.deposit(1)
    #expect(try exchange.findings() == [])
  }

  @Test func `a row that the daemon takes out reverses its fills`() async throws {
    let exchange = try await open()
    try exchange.order(.buy, 500, at: 1000)
    try await exchange.row(Row(second: 34_503, volume: 100, bids: [(1000, 100)]))
    for (second, volume) in [(34_506, Int64(5_000)), (34_509, 5_100)] {
      try await exchange.row(
        Row(
          second: second, volume: volume, cents: 999, bids: [(998, 100)], asks: [(999, 600)]))
    }
    #expect(try exchange.states() == ["filled"])
    try await exchange.row(
      Row(second: 34_512, volume: 200, bids: [(1000, 100)], corrects: true))
    let kinds = try exchange.database.execute(
      "select kind from candled_app.order_event order by sequence")
    #expect(kinds.map { $0[0] } == ["accepted", "fill", "reversed"])
    let held = try exchange.database.value(
      "select balance from candled_app.book where unit = 'sz000001' and kind = 'today'")
    #expect(held == "0")
    let findings = try exchange.findings()
    #expect(findings == [])
  }

  @Test(arguments: [false, true])
  func `a false row that was taken out while nobody asked stops no later order`(
    killing: Bool
  ) async throws {
    let exchange = try await open()
    try exchange.order(.buy, 100, at: 998)
    try await row(exchange, 34_503, 90_000)
    try exchange.send(.cancel(order: 1))
    try await exchange.commit(
      Row(second: 34_506, volume: 200, bids: Self.bids, asks: Self.asks, corrects: true))
    try exchange.order(.buy, 300, at: 1001)
    if killing { exchange.kill() }
    for step in 1...3 { try await row(exchange, 34_506 + step * 3, 200 + Int64(step) * 100) }
    #expect(try exchange.fills() == ["2/1 300@10.01"])
    #expect(try exchange.findings() == [])
    #expect(try LedgerReplay(exchange.apps).differences() == [])
  }

  @Test func `what verify reads of an account is of one moment`() async throws {
    let exchange = try await open()
    let holder = try PostgresConnection(url: exchange.database.url, application: "holder")
    try holder.execute(
      "begin; lock table candled_app.entry in access exclusive mode", context: "test")
    let (url, account) = (exchange.database.url(role: "candled_app"), exchange.account)
    async let history = onOwnThread {
      try LedgerHistory(AppConnection(url: url, application: "verify")).history(
        of: account)
    }
    let blocked = """
      select count(*)
      from pg_stat_activity
      where application_name = 'verify'
        and wait_event_type = 'Lock'
      """
    while try exchange.database.value(blocked) == "0" {
      try await Task.sleep(for: .milliseconds(5))
    }
    // Its orders are read, its entries are not.
    try holder.execute(
      """
      alter table candled_app.entry disable trigger user;
      delete from candled_app.entry;
      commit
      """, context: "test")
    let postings = try await history.postings
    #expect(!postings.isEmpty && postings.allSatisfy { !$0.entries.isEmpty })
  }

  @Test func `a holding has its cost again once the sale of all of it is taken back`()
    async throws
  {
    let exchange = try await open()
    let next = try #require(TradingCalendar.shanghai.next(after: PaperExchange.day))
    func row(_ second: Int, _ volume: Int64, corrects: Bool = false) async throws {
      try await exchange.row(
        Row(
          day: next, second: second, volume: volume, bids: [(1000, 900)], asks: Self.asks,
          corrects: corrects))
    }
    try exchange.order(.buy, 500, at: 1001)
    try await self.row(exchange, 34_503, 200)
    try await self.row(exchange, 34_506, 300)
    try await row(34_500, 100)
    try exchange.order(.sell, 500, at: 1000)
    try await row(34_503, 5_000)
    try await row(34_506, 5_100)
    #expect(try exchange.states() == ["filled", "filled"])
    try await row(34_509, 100, corrects: true)
    let held = try HoldingTable(exchange.apps)
      .held(by: exchange.account, on: next, today: next).holdings
    #expect(held.map(\.quantity) == [ExactDecimal(500)])
    #expect(held.first?.averagePrice == PaperExchange.price(1001))
  }

  @Test func `a fill whose money is spent stands when its row is taken out, with a notice`()
    async throws
  {
    let exchange = try await open(yuan: 10_100)
    let next = try #require(TradingCalendar.shanghai.next(after: PaperExchange.day))
    try exchange.order(.buy, 1_000, at: 1001)
    try await row(exchange, 34_503, 200)
    try await row(exchange, 34_506, 300)
    try await exchange.row(
      Row(day: next, second: 34_500, volume: 100, bids: [(1000, 200)], asks: Self.asks))
    try exchange.order(.sell, 500, at: 1000)
    try await exchange.row(
      Row(day: next, second: 34_503, volume: 200, bids: [(1000, 900)], asks: Self.asks))
    try await exchange.row(
      Row(day: next, second: 34_506, volume: 300, bids: [(1000, 900)], asks: Self.asks))
    let before = try exchange.fills()
    #expect(before.contains("2/1 500@10.00"), "\(before)")
    let cash = try #require(
      try exchange.database.value(
        "select balance from candled_app.book where unit = 'cash' and kind = 'available'"))
    try exchange.send(.withdraw(try ExactDecimal(cash), description: ""))
    // What is not taken back is not believed either: the row before it was contradicted, too.
    try await exchange.row(
      Row(
        day: next, second: 34_509, volume: 100, cents: 1000, bids: [(1000, 200)],
        corrects: true))
    let kinds = try exchange.database.execute(
      "select kind from candled_app.order_event where order_id = 2 order by sequence")
    #expect(kinds.map { $0[0] } == ["accepted", "fill", "kept"])
    #expect(try exchange.fills() == before && exchange.findings() == [])
    exchange.kill()
    try exchange.look()
    #expect(try exchange.findings() == [])
  }
}
