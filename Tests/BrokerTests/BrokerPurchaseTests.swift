import AppStore
import Broker
import Market
import PaperTrading
import TestSupport
import TestTraits
import Testing

/// Queue purchases with a database and a daemon's rows: armed, ordered, refused, ended.
@Suite(.ownThread) struct BrokerPurchaseTests {
  private typealias Row = PaperExchange.Row
  private static let morning = 34_500
  /// Of 10.00 before.
  private static let limitUp: Int64 = 1100

  // MARK: Rows and requests

  /// With a first row below limit-up, and money.
  private func open(yuan: Int64 = 100_000) async throws -> PaperExchange {
    let exchange = try await PaperExchange()
    try await row(exchange, 0, cents: 1000)
    try exchange.deposit(yuan)
    return exchange
  }

  /// The row of a number, one every three seconds, with 1,000 shares more than the one before.
  /// - Parameter cents: nil: sealed at limit-up.
  private func row(
    _ exchange: PaperExchange, _ number: Int, cents: Int64? = nil,
    day: TradingDay = PaperExchange.day
  ) async throws {
    var row = Row(
      day: day, second: Self.morning + number * 3, volume: 1_000 * Int64(number + 1),
      cents: Self.limitUp, low: 1000, bids: [(Self.limitUp, 400)])
    if let cents {
      (row.cents, row.bids, row.asks) = (cents, [(cents - 1, 400)], [(cents + 1, 900)])
    }
    try await exchange.row(row)
  }

  private func seal(
    _ exchange: PaperExchange, _ numbers: ClosedRange<Int>, day: TradingDay = PaperExchange.day
  ) async throws {
    for number in numbers { try await row(exchange, number, day: day) }
  }

  private func nextDay() throws -> TradingDay {
    try #require(TradingCalendar.shanghai.next(after: PaperExchange.day))
  }

  @discardableResult
  private func arm(
    _ exchange: PaperExchange, _ quantity: Int64 = 500,
    when trigger: QueuePurchase.Trigger = .near(permille: 0), carriesOver: Bool = false
  ) throws -> CommandOutcome {
    try exchange.send(
      .arm(
        PurchaseRequest(
          symbol: try #require(Symbol("sz000001")), quantity: ExactDecimal(quantity),
          terms: PurchaseTerms(triggers: [trigger], carriesOver: carriesOver))))
  }

  // MARK: What the database has

  private func lines(_ exchange: PaperExchange, _ query: String) throws -> [String] {
    try exchange.database.execute(query).map { $0[0] ?? "" }
  }

  private func purchases(_ exchange: PaperExchange) throws -> [String] {
    try lines(
      exchange,
      "select concat_ws(' ', id, state, reason) from candled_app.queue_purchase order by id")
  }

  /// Each order with the purchase that it was.
  private func orders(_ exchange: PaperExchange) throws -> [String] {
    try lines(
      exchange,
      """
      select concat_ws(' ', id, 'of', queue_purchase_id, state)
      from candled_app.paper_order
      order by id
      """)
  }

  private func frozen(_ exchange: PaperExchange) throws -> [String] {
    try lines(
      exchange,
      "select balance from candled_app.book where kind = 'frozen' and balance <> 0")
  }

  private func expectSound(_ exchange: PaperExchange) throws {
    #expect(try exchange.findings() == [])
    #expect(try LedgerReplay(exchange.apps).differences() == [])
  }

  // MARK: Tests

  @Test func `a purchase that the account cannot pay when it is due is rejected, once`()
    async throws
  {
    let exchange = try await open(yuan: 1_000)
    try arm(exchange)
    try await seal(exchange, 1...2)
    let rejected = try purchases(exchange)
    #expect(rejected.count == 1 && rejected[0].hasPrefix("1 rejected funds: "), "\(rejected)")
    let moment = "select changed_at::text from candled_app.queue_purchase"
    let changed = try lines(exchange, moment)
    // Not even when the money has come, nor by a broker that knows nothing but the database.
    try exchange.deposit(100_000)
    try await seal(exchange, 3...4)
    exchange.kill()
    try await seal(exchange, 5...6)
    #expect(try purchases(exchange) == rejected && lines(exchange, moment) == changed)
    #expect(try orders(exchange) == [] && frozen(exchange) == [])
    try expectSound(exchange)
  }

  @Test(arguments: [false, true])
  func `a disarmed purchase orders nothing`(isCandidate: Bool) async throws {
    let exchange = try await open()
    #expect(try arm(exchange).answer == "purchase=1")
    #expect(try frozen(exchange) == [], "it freezes nothing")
    if isCandidate { try await row(exchange, 1) }
    let other = try LedgerTable(exchange.apps).create(
      userID: PaperExchange.user, name: "另一个", market: "cn", currency: "CNY")
    let refused = try exchange.send(.disarm(purchase: 1), account: other)
    #expect(!refused.isDone && refused.answer.hasPrefix("unknown_purchase: "))
    #expect(try purchases(exchange) == ["1 armed"])
    let done = try exchange.send(.disarm(purchase: 1))
    #expect(done.isDone && done.answer == "purchase=1")
    try await seal(exchange, 2...4)
    exchange.kill()
    try await seal(exchange, 5...6)
    #expect(try purchases(exchange) == ["1 cancelled"])
    #expect(try orders(exchange) == [] && frozen(exchange) == [])
    #expect(try !exchange.send(.disarm(purchase: 1)).isDone)
    try expectSound(exchange)
  }

  @Test func `an armed purchase that carries over is ordered on the next day`() async throws {
    let exchange = try await open()
    let next = try nextDay()
    try arm(exchange, carriesOver: true)
    exchange.setClock(second: 15 * 3600 + 600)
    try exchange.look()
    exchange.kill()
    exchange.setClock(second: 16 * 3600)
    try exchange.look()
    #expect(try purchases(exchange) == ["1 armed"])
    exchange.kill()
    try await row(exchange, 0, cents: 1000, day: next)
    try await row(exchange, 1, day: next)
    #expect(try orders(exchange) == [], "a candidate")
    try await row(exchange, 2, day: next)
    #expect(try purchases(exchange) == ["1 ordered"])
    #expect(try orders(exchange) == ["1 of 1 accepted"])
    try await seal(exchange, 3...6, day: next)
    #expect(try exchange.fills() == ["1/1 500@11.00"])
    #expect(try purchases(exchange) == ["1 filled"])
    let days = "select trading_day::text from candled_app.paper_order"
    #expect(try lines(exchange, days) == ["\(next)"])
    try expectSound(exchange)
  }

  @Test(arguments: [true, false])
  func `an armed purchase that does not carry over expires with its day`(
    looksAtTheClose: Bool
  ) async throws {
    let exchange = try await open()
    let next = try nextDay()
    try arm(exchange)
    exchange.setClock(second: 15 * 3600 + 299)
    try exchange.look()
    #expect(try purchases(exchange) == ["1 armed"], "the price of the close is not published")
    if looksAtTheClose {
      exchange.setClock(second: 15 * 3600 + 300)
      try exchange.look()
      #expect(try purchases(exchange) == ["1 expired"])
    }
    exchange.kill()
    try await row(exchange, 0, cents: 1000, day: next)
    #expect(try purchases(exchange) == ["1 expired"])
    try await seal(exchange, 1...4, day: next)
    #expect(try orders(exchange) == [] && purchases(exchange) == ["1 expired"])
    try expectSound(exchange)
  }

  /// The money is enough for the first and the third of them.
  @Test func `purchases of one instrument are ordered as they were armed`() async throws {
    let exchange = try await open(yuan: 6_000)
    for quantity in [300, 300, 200] { try arm(exchange, Int64(quantity)) }
    try await row(exchange, 1)
    exchange.kill()
    // What one row alone has shown is not known any more.
    try await row(exchange, 2)
    #expect(try orders(exchange) == [])
    try await row(exchange, 3)
    let found = try purchases(exchange)
    #expect(found[0] == "1 ordered" && found[2] == "3 ordered", "\(found)")
    #expect(found[1].hasPrefix("2 rejected funds: "), "\(found)")
    #expect(try orders(exchange) == ["1 of 1 accepted", "2 of 3 accepted"])
    try expectSound(exchange)
  }

  /// An offer at 10.61 takes purchases up to 10.82, one at 10.86 up to 11.07.
  @Test func `the price cage holds a purchase back until a row is near enough`() async throws {
    let exchange = try await open()
    try arm(exchange, 100, when: .near(permille: 50))
    for number in 1...3 { try await row(exchange, number, cents: 1060) }
    exchange.kill()
    try await row(exchange, 4, cents: 1060)
    #expect(try purchases(exchange) == ["1 armed"])
    #expect(try orders(exchange) == [] && frozen(exchange) == [])
    try await row(exchange, 5, cents: 1085)
    #expect(try purchases(exchange) == ["1 ordered"])
    for number in 6...7 { try await row(exchange, number, cents: 1085) }
    #expect(try exchange.fills() == ["1/1 100@10.86"])
    #expect(try purchases(exchange) == ["1 filled"])
    try expectSound(exchange)
  }

  @Test func `a purchase in the queue is cancelled as an order`() async throws {
    let exchange = try await open()
    try arm(exchange)
    try await seal(exchange, 1...2)
    #expect(try frozen(exchange).count == 1)
    #expect(try exchange.send(.disarm(purchase: 1)).answer.hasPrefix("unknown_purchase: "))
    #expect(try purchases(exchange) == ["1 ordered"])
    #expect(try exchange.send(.cancel(order: 1)).isDone)
    #expect(try purchases(exchange) == ["1 cancelled"])
    #expect(try orders(exchange) == ["1 of 1 cancelled"] && frozen(exchange) == [])
    try await seal(exchange, 3...6)
    #expect(try exchange.fills() == [] && orders(exchange).count == 1)
    try expectSound(exchange)
  }

  /// A day of random rows about limit-up, and of purchases that are armed and disarmed; the same
  /// for a seed.
  private func trade(_ exchange: PaperExchange, seed: UInt64, killing: Bool) async throws {
    var (random, deaths) = (SplitMix(seed: seed), SplitMix(seed: seed &+ 1))
    let triggers: [QueuePurchase.Trigger] = [
      .near(permille: 0), .near(permille: 10), .sealed(seconds: 0), .sealed(seconds: 9),
      .queueAtMost(ExactDecimal(400)), .queueWorthAtMost(ExactDecimal(100)), .resealed,
    ]
    func mayDie() {
      if killing, Int.random(in: 0..<3, using: &deaths) == 0 { exchange.kill() }
    }
    var isSealed = false
    for number in 1...80 {
      mayDie()
      if Int.random(in: 0..<6, using: &random) == 0 { isSealed.toggle() }
      try await row(exchange, number, cents: isSealed ? nil : 1090)
      mayDie()
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        try arm(
          exchange, 100 * .random(in: 1...9, using: &random),
          when: triggers[.random(in: 0..<triggers.count, using: &random)],
          carriesOver: .random(using: &random))
      case 1: try exchange.send(.disarm(purchase: .random(in: 1...20, using: &random)))
      default: break
      }
    }
    exchange.setClock(second: 57_000)
    try exchange.look()
  }

  @Test func `a broker that is killed at random orders each purchase once at most`() async throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    for killing in [false, true] {
      let exchange = try await open(yuan: 30_000)
      try await trade(exchange, seed: seed, killing: killing)
      let twice = """
        select queue_purchase_id::text
        from candled_app.paper_order
        group by queue_purchase_id
        having count(*) > 1
        """
      #expect(try lines(exchange, twice) == [], "seed \(seed)")
      #expect(try !orders(exchange).isEmpty, "seed \(seed)")
      try expectSound(exchange)
    }
  }

  /// The purchase would be ordered at the second row of a seal that is three seconds old.
  @Test func `a seal is as old as the rows of it that were watched`() async throws {
    let exchange = try await open()
    try exchange.order(.buy, 100, at: 900)
    try await seal(exchange, 1...3)
    try exchange.send(.cancel(order: 1))
    // Nothing is open now: of these rows none is looked at.
    for number in 4...40 { try await row(exchange, number, cents: 1050) }
    try arm(exchange, when: .sealed(seconds: 60))
    try await seal(exchange, 41...44)
    #expect(try purchases(exchange) == ["1 armed"])
  }

  /// An order of the day is refused then; a purchase that carries over waits for the next.
  @Test func `a purchase of the day cannot be armed when its last session has ended`()
    async throws
  {
    let exchange = try await open()
    exchange.setClock(second: 15 * 3600 + 600)
    #expect(try exchange.order(.buy, 100, at: 1000).answer.hasPrefix("session: "))
    #expect(try arm(exchange, carriesOver: true).isDone)
    #expect(try arm(exchange).answer.hasPrefix("session: "))
  }
}
