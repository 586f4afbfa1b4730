import AppStore
import Market
import PaperTrading
import Platform
import TestSupport
import TestTraits
import Testing

@testable import Broker

/// The server's clock is set, for a second or for good: what is irrevocable needs a second witness.
@Suite(.ownThread) struct BrokerClockTests {
  private typealias Row = PaperExchange.Row

  private func row(
    _ exchange: PaperExchange, _ second: Int, _ volume: Int64, day: TradingDay = PaperExchange.day
  ) async throws {
    try await exchange.row(
      Row(
        day: day, second: second, volume: volume, bids: [(999, 100)], asks: [(1001, 5_000)]))
  }

  /// Shares of today, an order of the day, one that lives for days, and a purchase.
  private func open() async throws -> PaperExchange {
    let exchange = try await PaperExchange()
    try await row(exchange, 34_500, 100)
    try exchange.deposit(100_000)
    try exchange.order(.buy, 300, at: 1001)
    try await row(exchange, 34_503, 200)
    try await row(exchange, 34_506, 300)
    try exchange.order(.buy, 100, at: 950)
    try exchange.order(.buy, 100, at: 940, force: .goodTillCancelled)
    try exchange.send(
      .arm(
        PurchaseRequest(
          symbol: try #require(Symbol("sz000001")), quantity: ExactDecimal(100),
          terms: PurchaseTerms(triggers: [.near(permille: 0)]))))
    #expect(try exchange.states() == ["filled", "accepted", "accepted"])
    exchange.advanceCounter(seconds: 0)
    return exchange
  }

  private func state(_ exchange: PaperExchange) throws -> [[String?]] {
    try exchange.database.execute(
      """
      select
        (select string_agg(state, ' ' order by id) from candled_app.paper_order),
        (select string_agg(state, ' ' order by id) from candled_app.queue_purchase),
        (select sum(balance) from candled_app.book where kind = 'today'),
        (select count(*) from candled_app.posting where kind in ('settlement', 'end')),
        (select trading_day from candled_app.broker_cursor)
      """)
  }

  @Test(arguments: [6 * 3600, 86_400, -86_400, 40 * 86_400])
  func `a clock that is wrong for a second ends no order and frees no share`(
    _ seconds: Int64
  ) async throws {
    let exchange = try await open()
    let before = try state(exchange)
    let right = exchange.clock.withLock { $0 }
    exchange.clock.withLock { $0 = right.adding(seconds: seconds) }
    exchange.advanceCounter(seconds: 1)
    try exchange.look()
    try exchange.deposit(1)
    try exchange.broker.tick()
    #expect(try state(exchange) == before)
    exchange.clock.withLock { $0 = right.adding(seconds: 2) }
    exchange.advanceCounter(seconds: 1)
    try exchange.look()
    #expect(try state(exchange) == before)
    // Rows of the day count as before.
    #expect(try exchange.order(.buy, 100, at: 1001).isDone)
    try await row(exchange, 34_512, 400)
    try await row(exchange, 34_515, 500)
    #expect(try exchange.fills().count == 2)
    #expect(try exchange.findings() == [])
  }

  @Test func `a clock that stays set is believed after five minutes`() async throws {
    let exchange = try await open()
    let before = try state(exchange)
    exchange.setClock(second: 60_000)
    try exchange.look()
    for seconds in [100, 100, 99] {
      exchange.advanceCounter(seconds: seconds)
      exchange.clock.withLock { $0 = $0.adding(seconds: Int64(seconds)) }
      try exchange.look()
    }
    #expect(try state(exchange) == before)
    exchange.advanceCounter(seconds: 1)
    exchange.clock.withLock { $0 = $0.adding(seconds: 1) }
    try exchange.look()
    #expect(try exchange.states() == ["filled", "expired", "accepted"])
  }

  @Test func `a clock that a row of the exchange bears out is believed at once`() async throws {
    let exchange = try await open()
    // This machine stood still.
    try await row(exchange, 38_000, 400)
    try exchange.order(.buy, 100, at: 930)
    let at = try exchange.database.value(
      "select extract(epoch from max(accepted_at))::bigint from candled_app.paper_order")
    let noted = Timestamp(day: PaperExchange.day, secondOfDay: 38_000).microseconds / 1_000_000
    #expect(at == "\(noted)")
  }

  @Test func `a broker that begins under a wrong clock begins no day, and refuses orders`()
    async throws
  {
    let exchange = try await open()
    let before = try state(exchange)
    exchange.kill()
    let right = exchange.clock.withLock { $0 }
    exchange.clock.withLock { $0 = right.adding(seconds: 86_400) }
    try exchange.look()
    let refused = try exchange.order(.buy, 100, at: 930)
    #expect(!refused.isDone && refused.answer.hasPrefix("clock: "), "\(refused)")
    #expect(try exchange.send(.cancel(order: 9)).answer.hasPrefix("unknown_order"))
    #expect(try state(exchange) == before)
    exchange.clock.withLock { $0 = right }
    try exchange.look()
    #expect(try exchange.order(.buy, 100, at: 930).isDone)
  }

  @Test func `a day that a wrong clock began is taken back, and its rows count`() async throws {
    let exchange = try await open()
    let next = try #require(TradingCalendar.shanghai.next(after: PaperExchange.day))
    // The counter goes with the clock: nothing shows that it is wrong.
    exchange.counter.withLock { $0 = nil }
    exchange.setClock(day: next, second: 34_600)
    try exchange.look()
    #expect(try exchange.states() == ["filled", "expired", "accepted"])
    #expect(try exchange.order(.buy, 100, at: 1001).isDone)
    exchange.setClock(second: 34_700)
    try exchange.look()
    for (place, second) in [34_703, 34_706, 34_709].enumerated() {
      try await row(exchange, second, 400 + Int64(place) * 100)
    }
    #expect(try exchange.states() == ["filled", "expired", "accepted", "filled"])
    let today = try exchange.database.value(
      "select balance from candled_app.book where kind = 'today' and balance > 0")
    #expect(today == "100")
    exchange.setClock(second: 60_000)
    try exchange.look()
    let left = try exchange.database.value(
      "select count(*) from candled_app.book where kind = 'today' and balance > 0")
    #expect(left == "0")
    #expect(try exchange.findings() == [])
    #expect(try LedgerReplay(exchange.apps).differences() == [])
  }

  @Test func `what waited for a minute is refused, unless the broker saw no command wait`()
    async throws
  {
    let exchange = try await open()
    let body = CommandRequest.order(
      OrderRequest(
        symbol: try #require(Symbol("sz000001")), side: .buy, kind: .limit,
        quantity: ExactDecimal(100), limit: PaperExchange.price(930))
    ).text
    func send(_ key: String, _ kind: String, _ body: String) throws -> String? {
      try exchange.database.execute(
        """
        insert into candled_app.command (
          account_id, idempotency_key, fingerprint, kind, body, sent_at)
        values (
          \(exchange.account), '\(key)', sha256('\(key)'), '\(kind)', '\(body)',
          clock_timestamp() - interval '61 s')
        """)
      try exchange.look()
      return try exchange.database.value(
        "select answer from candled_app.command where idempotency_key = '\(key)'")
    }
    // The server's clock was set: by the counter nothing can have waited so long.
    #expect(try send("clock", "order", body)?.hasPrefix("order=") == true)
    exchange.kill()
    let answer = try send("late", "order", body)
    #expect(answer?.hasPrefix("late: it waited 61 s") == true, "\(answer ?? "")")
    exchange.kill()
    let deposit = CommandRequest.deposit(ExactDecimal(1), type: .bank, description: "").text
    #expect(try send("money", "deposit", deposit)?.hasPrefix("posting=") == true)
    exchange.kill()
    let cancel = CommandRequest.cancel(order: 2).text
    #expect(try send("cancel", "cancel", cancel) == "order=2")
  }
}
