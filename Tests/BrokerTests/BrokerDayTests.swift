import AppStore
import Broker
import Logging
import Market
import PaperTrading
import Postgres
import TestSupport
import TestTraits
import Testing

/// Queues, days and restarts: what must outlive a process.
@Suite(.ownThread) struct BrokerDayTests {
  private typealias Row = PaperExchange.Row
  private static let morning = 34_500

  private func sealed(
    _ exchange: PaperExchange, _ second: Int, _ volume: Int64, queue: Int64,
    day: TradingDay = PaperExchange.day
  ) async throws {
    try await exchange.row(
      Row(day: day, second: second, volume: volume, cents: 1100, bids: [(1100, queue)]))
  }

  private func nextDay() throws -> TradingDay {
    try #require(TradingCalendar.shanghai.next(after: PaperExchange.day))
  }

  /// A queue at limit-up, from the entry to the last share.
  private func queue(killing: Bool) async throws -> [String] {
    let exchange = try await PaperExchange()
    try await sealed(exchange, Self.morning, 1_000, queue: 5_000)
    try exchange.deposit(100_000)
    try exchange.order(.buy, 1_000, at: 1100)
    for step in 1...10 {
      if killing { exchange.kill() }
      try await sealed(
        exchange, Self.morning + step * 3, 1_000 + Int64(step) * 900, queue: 5_000)
      if killing {
        exchange.kill()
        try exchange.look()
      }
    }
    #expect(try exchange.findings() == [])
    return try exchange.fills() + exchange.states()
  }

  @Test func `a broker that is killed goes on with the places in the queue`() async throws {
    let straight = try await queue(killing: false)
    #expect(straight == ["1/1 400@11", "1/2 600@11", "filled"])
    #expect(try await queue(killing: true) == straight)
  }

  private func order(_ id: Int64, in exchange: PaperExchange) throws -> OrderRecord {
    try #require(try OrderTable(exchange.apps, userID: PaperExchange.user).order(id))
  }

  @Test func `what an order may have got is shown beside what it certainly has`() async throws {
    let exchange = try await PaperExchange()
    try await sealed(exchange, Self.morning, 1_000, queue: 5_000)
    try exchange.deposit(100_000)
    try exchange.order(.buy, 1_000, at: 1100)
    #expect(try order(1, in: exchange).possible == nil)
    try await sealed(exchange, Self.morning + 3, 1_000, queue: 5_000)
    #expect(try order(1, in: exchange).possible == .zero)
    // 300 of 5,000 before it: none is certain, and all may be its own.
    try await sealed(exchange, Self.morning + 6, 1_300, queue: 5_000)
    var shown = try order(1, in: exchange)
    #expect(shown.filled == .zero && shown.possible == ExactDecimal(300))
    let progress = "select body from candled_app.order_progress"
    #expect(try exchange.database.value(progress) == "possible=300 ahead=4700")
    #expect(shown.ahead == 4_700)
    exchange.kill()
    try await sealed(exchange, Self.morning + 9, 6_400, queue: 5_000)
    try await sealed(exchange, Self.morning + 12, 6_400, queue: 5_001)
    shown = try order(1, in: exchange)
    #expect(shown.filled == ExactDecimal(400) && shown.possible == ExactDecimal(1_000))
    let stored = "select filled_so_far || ' of ' || possible_so_far from candled_app.fill"
    #expect(try exchange.database.value(stored) == "400 of 1000")
    exchange.setClock(second: 54_400)
    try exchange.look()
    shown = try order(1, in: exchange)
    #expect(shown.state == .expired && shown.possible == ExactDecimal(1_000))
    #expect(try exchange.findings() == [])
  }

  /// Else what has left since then, too little to be stored, were left out for good.
  @Test func `a broker that takes over stores what stands before an order with its next row`()
    async throws
  {
    let exchange = try await PaperExchange()
    try await sealed(exchange, Self.morning, 1_000, queue: 5_000)
    try exchange.deposit(100_000)
    try exchange.order(.buy, 1_000, at: 1100)
    let progress = "select body from candled_app.order_progress"
    for (step, stored) in [(1_000, 5_000), (2_000, 4_000), (2_100, 4_000)].enumerated() {
      try await sealed(exchange, Self.morning + step * 3 + 3, Int64(stored.0), queue: 5_000)
      let shown = try exchange.database.value(progress)
      #expect(shown?.hasSuffix(" ahead=\(stored.1)") == true, "\(shown ?? "")")
    }
    exchange.kill()
    try await sealed(exchange, Self.morning + 12, 2_200, queue: 5_000)
    #expect(try exchange.database.value(progress) == "possible=1000 ahead=3800")
  }

  @Test func `a queue purchase is ordered at limit-up, waits in the queue and is filled`()
    async throws
  {
    let exchange = try await PaperExchange()
    try await exchange.row(
      Row(second: Self.morning, volume: 100, bids: [(999, 100)], asks: [(1001, 100)]))
    try exchange.deposit(100_000)
    let request = PurchaseRequest(
      symbol: try #require(Symbol("sz000001")), quantity: ExactDecimal(500),
      terms: PurchaseTerms(triggers: [.sealed(seconds: 3)]))
    #expect(try exchange.send(.arm(request)).answer == "purchase=1")
    try await sealed(exchange, Self.morning + 3, 1_000, queue: 400)
    exchange.kill()
    #expect(try exchange.states() == [])
    try await sealed(exchange, Self.morning + 6, 1_100, queue: 400)
    #expect(try exchange.states() == [], "a candidate")
    try await sealed(exchange, Self.morning + 9, 1_200, queue: 400)
    #expect(try exchange.states() == ["accepted"])
    for step in 4...6 {
      try await sealed(
        exchange, Self.morning + step * 3, Int64(step) * 1_000, queue: 400)
    }
    let purchase = "select state from candled_app.queue_purchase"
    #expect(try exchange.fills() == ["1/1 500@11.00"])
    #expect(try exchange.database.value(purchase) == "filled")
    let log = try LedgerTable(exchange.apps).transactionLog(of: exchange.account, limit: 9)
    #expect(log.first?.kind == "Auto-Buy")
    #expect(try exchange.findings() == [])
  }

  @Test(arguments: [Int64(1_100), 90_000])
  func `a false row at limit-up orders nothing`(volume: Int64) async throws {
    let exchange = try await PaperExchange()
    let book = (bids: [(Int64(999), Int64(100))], asks: [(Int64(1001), Int64(100))])
    func row(_ second: Int, _ volume: Int64, corrects: Bool = false) async throws {
      try await exchange.row(
        Row(
          second: Self.morning + second, volume: volume, bids: book.bids, asks: book.asks,
          corrects: corrects))
    }
    try await row(0, 1_000)
    try exchange.deposit(100_000)
    let symbol = try #require(Symbol("sz000001"))
    let triggers: [QueuePurchase.Trigger] = [
      .near(permille: 0), .sealed(seconds: 0), .queueAtMost(ExactDecimal(1_000)), .resealed,
    ]
    for trigger in triggers {
      let terms = PurchaseTerms(triggers: [trigger])
      let request = PurchaseRequest(symbol: symbol, quantity: ExactDecimal(100), terms: terms)
      #expect(try exchange.send(.arm(request)).isDone)
    }
    try await row(3, 1_050)
    try await sealed(exchange, Self.morning + 6, volume, queue: 400)
    try await row(9, 1_200)
    try await row(12, 1_300, corrects: true)
    try await row(15, 1_400)
    #expect(try exchange.states() == [])
    let armed = "select count(*) from candled_app.queue_purchase where state = 'armed'"
    #expect(try exchange.database.value(armed) == "4")
    #expect(try exchange.findings() == [])
  }

  @Test func `a simulated market's day is the daemon's, from the first on`() async throws {
    let exchange = try await PaperExchange()
    var options = BrokerOptions(
      url: exchange.database.url(role: "candled_app"), holder: "simulated")
    options.followsDaemonClock = true
    let broker = Broker(options, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try PaperExchange.awaitLead(of: broker)
    let day = "select trading_day from candled_app.broker_cursor"
    #expect(try !broker.look())
    #expect(try exchange.database.value(day) == nil, "no daemon has told its clock")
    try await exchange.commit(PaperExchange.Row(second: 34_500, volume: 100))
    try broker.tick()
    #expect(try exchange.database.value(day) == "\(PaperExchange.day)")
  }

  @Test func `days behind the table are those that the daemon has learnt`() async throws {
    let exchange = try await PaperExchange()
    let day = "select trading_day from candled_app.broker_cursor"
    let eve = TradingCalendar.shanghai.lastDay
    exchange.setClock(day: eve, second: 34_000)
    try exchange.look()
    #expect(try exchange.database.value(day) == "\(eve)")
    let next = eve.advanced(by: 5)
    let holidays = (eve.advanced(by: 1)..<next).filter { !$0.isWeekend }
    let learnt = RecentSessions.invented(through: next).filter { $0 >= next }
    #expect(!holidays.isEmpty && !next.isWeekend)
    try exchange.database.execute(RecentSessions.insertion(of: learnt + [next]))
    exchange.setClock(day: eve, second: 60_000)
    try exchange.look()
    #expect(try exchange.database.value(day) == "\(next)")
  }

  /// The command's time is the server's, whose clock this machine's may differ from.
  @Test func `without another clock it goes by the server's`() async throws {
    let exchange = try await PaperExchange()
    let options = BrokerOptions(
      url: exchange.database.url(role: "candled_app"), holder: "server's clock")
    let broker = Broker(options, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    _ = try CommandTable(exchange.apps).send([
      KeyedRequest(
        accountID: exchange.account, key: "money",
        request: .deposit(ExactDecimal(100), type: .bank, description: ""))
    ])
    try PaperExchange.awaitLead(of: broker)
    while try broker.look() {}
    let inside = try exchange.database.value(
      """
      select p.at between c.sent_at - interval '10 ms' and c.answered_at + interval '10 ms'
      from candled_app.posting p
      join candled_app.command c on c.id = p.command_id
      """)
    #expect(inside == "t")
  }

  @Test func `a cancellation waits for the minutes that allow one`() async throws {
    let exchange = try await PaperExchange()
    let next = try nextDay()
    try await sealed(exchange, 53_000, 1_000, queue: 5_000)
    try exchange.deposit(100_000)
    try exchange.order(.buy, 100, at: 1100)
    try exchange.order(.buy, 200, at: 1100)
    #expect(try exchange.send(.cancel(order: 1)).isDone)
    #expect(try exchange.states() == ["cancelled", "accepted"])
    exchange.setClock(second: 53_900)
    #expect(try exchange.send(.cancel(order: 2)).isDone)
    #expect(try exchange.states() == ["cancelled", "pending_cancel"])
    exchange.setClock(second: 54_400)
    exchange.kill()
    try exchange.look()
    // The clock of a start is believed once it has run on for five minutes.
    exchange.setClock(second: 54_800)
    try exchange.look()
    #expect(try exchange.states() == ["cancelled", "cancelled"])
    exchange.setClock(day: next, second: 100)
    try exchange.look()
    #expect(try exchange.findings() == [])
  }

  @Test func `what takes an order's place is one order, or none`() async throws {
    let exchange = try await PaperExchange()
    try await sealed(exchange, 34_500, 1_000, queue: 5_000)
    try exchange.deposit(3_000)
    try exchange.order(.buy, 100, at: 1100)
    let dear = try exchange.send(.replace(order: 1, OrderChange(quantity: ExactDecimal(900))))
    #expect(!dear.isDone && dear.answer.hasPrefix("funds"))
    #expect(try exchange.states() == ["accepted"])
    let change = OrderChange(quantity: ExactDecimal(200), limit: PaperExchange.price(1050))
    #expect(try exchange.send(.replace(order: 1, change)).answer == "order=2")
    #expect(try exchange.states() == ["replaced", "accepted"])
    #expect(try exchange.findings() == [])
  }

  @Test func `an order that lives for days numbers its fills through, and settles once a day`()
    async throws
  {
    let exchange = try await PaperExchange()
    let next = try nextDay()
    try await sealed(exchange, Self.morning, 1_000, queue: 100)
    try exchange.deposit(100_000)
    try exchange.order(.buy, 1_000, at: 1100, force: .goodTillCancelled)
    for step in 1...3 {
      try await sealed(exchange, Self.morning + step * 3, 1_000 + Int64(step) * 200, queue: 100)
    }
    let first = try exchange.fills().count
    #expect(first > 0)
    exchange.setClock(second: 60_000)
    try exchange.look()
    exchange.kill()
    try exchange.look()
    for step in 0...4 {
      try await exchange.row(
        Row(
          day: next, second: Self.morning + step * 3, volume: Int64(step) * 900, cents: 1080,
          previous: 1080, bids: [(1080, 100)], asks: [(1081, 2_000)]))
    }
    let fills = try exchange.fills()
    #expect(fills.count > first)
    #expect(fills.map { $0.prefix(3) } == (1...fills.count).map { "1/\($0)".prefix(3) })
    #expect(try exchange.states() == ["filled"])
    let settled = try exchange.database.value(
      "select count(*) from candled_app.posting where kind = 'settlement'")
    #expect(settled == "1")
    #expect(try exchange.findings() == [])
  }

  @Test func `the close confirms nothing while rows stall, and unfilled orders expire`()
    async throws
  {
    let exchange = try await PaperExchange()
    try await sealed(exchange, 53_000, 1_000, queue: 100)
    try exchange.deposit(100_000)
    try exchange.order(.buy, 100, at: 1100)
    try exchange.order(.buy, 100, at: 1050)
    try await sealed(exchange, 53_003, 1_000, queue: 100)
    try await sealed(exchange, 53_006, 9_000, queue: 100)
    exchange.setClock(second: 54_400)
    try exchange.look()
    #expect(try exchange.states() == ["accepted", "expired"])
    exchange.setClock(second: 17 * 3600 - 1)
    try exchange.look()
    #expect(try exchange.states() == ["accepted", "expired"])
    // It keeps nobody's orders from the next day any longer.
    exchange.setClock(second: 17 * 3600)
    try exchange.look()
    #expect(try exchange.fills() == [] && exchange.states() == ["expired", "expired"])
    let day = "select trading_day from candled_app.broker_cursor"
    #expect(try exchange.database.value(day) == "\(try nextDay())")
    #expect(try exchange.findings() == [])
  }

  @Test(arguments: [Int64(9_000), 8_000], [false, true])
  func `a day's certificate confirms its last row, if it contains it`(
    _ volume: Int64, killing: Bool
  ) async throws {
    let exchange = try await PaperExchange()
    try await sealed(exchange, 53_000, 1_000, queue: 100)
    try exchange.deposit(100_000)
    try exchange.order(.buy, 100, at: 1100)
    try await sealed(exchange, 53_003, 1_000, queue: 100)
    try await sealed(exchange, 53_006, 9_000, queue: 100)
    if killing { exchange.kill() }
    try await exchange.certify(volume: volume, second: 55_800)
    #expect(try exchange.fills() == (volume < 9_000 ? [] : ["1/1 100@11"]))
    #expect(try exchange.findings() == [])
  }

  @Test func `an account has a bounded number of open orders`() async throws {
    let exchange = try await PaperExchange()
    try await sealed(exchange, Self.morning, 1_000, queue: 100)
    try exchange.deposit(10_000_000)
    let symbol = try #require(Symbol("sz000001"))
    let requests = (1...501).map { number in
      KeyedRequest(
        accountID: exchange.account, key: "many \(number)",
        request: .order(
          OrderRequest(
            symbol: symbol, side: .buy, kind: .limit, quantity: ExactDecimal(100),
            limit: PaperExchange.price(1100))))
    }
    _ = try CommandTable(exchange.apps).send(requests)
    try exchange.look()
    let refused = try exchange.database.value(
      "select answer from candled_app.command where outcome = 'refused'")
    #expect(refused == "too_many: an account has at most 500 open orders")
    #expect(try exchange.states().count == 500)
  }

  @Test func `one broker leads, and the next one when its session ends`() async throws {
    let exchange = try await PaperExchange()
    try exchange.look()
    let other = PaperExchange.broker(exchange.database, exchange.clock)
    #expect(try !other.lead())
    exchange.kill()
    try PaperExchange.awaitLead(of: other)
    #expect(other.figures.term == 2)
    let holder = try exchange.database.value(
      "select term from candled_app.gateway_lease where role = 'broker'")
    #expect(holder == "2")
  }

  @Test func `a sweep without open orders costs the database nothing`() async throws {
    let exchange = try await PaperExchange()
    try await sealed(exchange, Self.morning, 1_000, queue: 100)
    try exchange.deposit(1_000)
    let asked = """
      select query_start
      from pg_stat_activity
      where datname = current_database() and application_name = 'candled gateway broker'
      """
    // Of the command, which is done.
    while try exchange.broker.wait(milliseconds: 0, interrupt: -1) == .notification {}
    let before = try exchange.database.value(asked)
    try await exchange.commit(Row(second: Self.morning + 3, volume: 2_000))
    #expect(try exchange.broker.wait(milliseconds: 100, interrupt: -1) == .timeout)
    for _ in 0..<20 { try exchange.broker.tick() }
    #expect(try exchange.database.value(asked) == before && before != nil)
  }
}
