import AppStore
import Broker
import Market
import PaperTrading
import TestSupport
import TestTraits
import Testing

/// Codes that end: what accounts hold, order and wait for goes on under the new code, or becomes
/// shares of the successor, once.
@Suite(.ownThread) struct SuccessionTests {
  typealias Row = PaperExchange.Row

  static let next = TradingCalendar.shanghai.next(after: PaperExchange.day)
  static let third = next.flatMap { TradingCalendar.shanghai.next(after: $0) }

  func rows(
    _ exchange: PaperExchange, of symbol: String, on day: TradingDay = PaperExchange.day,
    from second: Int, volume: Int64, cents: Int64 = 1000, ask: Int64 = 1001
  ) async throws {
    for step in 0..<2 {
      try await exchange.row(
        Row(
          symbol: symbol, day: day, second: second + step * 3, volume: volume + Int64(step) * 100,
          cents: cents, bids: [(cents - 1, 100)], asks: [(ask, 5_000)]))
    }
  }

  /// An account with shares that were bought on the first day for 10.01 each.
  func holding(
    of symbols: [String] = ["sh600837"], shares: Int64 = 1_000
  ) async throws -> PaperExchange {
    let exchange = try await PaperExchange()
    for symbol in symbols { try await rows(exchange, of: symbol, from: 34_500, volume: 100) }
    try exchange.deposit(100_000)
    for symbol in symbols { try exchange.order(.buy, shares, at: 1001, symbol: symbol) }
    for symbol in symbols { try await rows(exchange, of: symbol, from: 34_510, volume: 300) }
    #expect(try Set(exchange.states()) == ["filled"])
    return exchange
  }

  func link(
    _ kind: String, _ symbol: String, to successor: String, _ ratio: String? = nil,
    cash: String? = nil, on day: TradingDay, verdict: String = "declared",
    in exchange: PaperExchange
  ) throws {
    try exchange.database.execute(
      """
      select candled.link_instruments(
        '\(symbol)', '\(successor)', '\(day)', '\(kind)', '\(verdict)', \(ratio ?? "null"),
        \(cash ?? "null"), 'test', now())
      """)
  }

  func begin(_ day: TradingDay, in exchange: PaperExchange) throws {
    exchange.setClock(day: day, second: 100)
    try exchange.look()
  }

  /// The books that are not empty, of shares.
  func shares(in exchange: PaperExchange) throws -> [String] {
    try exchange.database.execute(
      """
      select unit || ' ' || kind || ' ' || balance
      from candled_app.book
      where unit <> 'cash' and kind <> 'market' and balance <> 0
      order by unit, kind
      """
    ).map { $0[0] ?? "" }
  }

  func cost(of symbol: String, in exchange: PaperExchange) throws -> ExactDecimal? {
    let symbol = try #require(Symbol(symbol))
    return try BrokerTable(exchange.apps).costs(of: symbol)[exchange.account]?.cost
  }

  func expectSound(_ exchange: PaperExchange) throws {
    let (findings, differences) = (
      try exchange.findings(), try LedgerReplay(exchange.apps).differences()
    )
    #expect(findings == [])
    #expect(differences == [])
  }

  @Test(arguments: [
    ("sh600837", "sh601211", "0.62", Int64(1_000), "sh601211 sellable 620"),
    ("sh601989", "sh600150", "0.1339", 1_000, "sh600150 sellable 134"),
    ("sh601989", "sh600150", "0.1339", 1_100, "sh600150 sellable 147"),
  ])
  func `a merger gives whole shares of the successor once, and their cost moves`(
    _ old: String, _ new: String, _ ratio: String, _ quantity: Int64, _ expected: String
  ) async throws {
    let exchange = try await holding(of: [old], shares: quantity)
    let next = try #require(Self.next)
    let paid = try #require(try cost(of: old, in: exchange))
    try link("merger", old, to: new, ratio, on: next, in: exchange)
    try exchange.look()
    #expect(try shares(in: exchange) == ["\(old) today \(quantity)"], "not before its day")
    for _ in 0..<3 {
      try begin(next, in: exchange)
      exchange.kill()
    }
    #expect(try shares(in: exchange) == [expected])
    #expect(try cost(of: new, in: exchange) == paid)
    let log = try LedgerTable(exchange.apps).transactionLog(of: exchange.account, limit: 1)
    #expect(log.map(\.kind) == ["merger"])
    #expect(log.map(\.description) == ["\(old) became \(ratio) \(new)"])
    try expectSound(exchange)
  }

  @Test func `a code ends at midnight, and not when orders for its first day are taken`()
    async throws
  {
    let exchange = try await holding()
    let next = try #require(Self.next)
    try link("merger", "sh600837", to: "sh601211", "0.62", on: next, in: exchange)
    exchange.setClock(second: 17 * 3_600)
    try exchange.look()
    #expect(try shares(in: exchange) == ["sh600837 sellable 1000"])
    exchange.setClock(day: next, second: 1)
    try exchange.broker.tick()
    try exchange.look()
    #expect(try shares(in: exchange) == ["sh601211 sellable 620"])
    try expectSound(exchange)
  }

  @Test func `a step that fails in the middle of a merger converts nothing, and the next all`()
    async throws
  {
    let exchange = try await holding()
    let next = try #require(Self.next)
    try link("merger", "sh600837", to: "sh601211", "0.62", on: next, in: exchange)
    try exchange.database.execute(
      """
      create function candled_app.stop() returns trigger language plpgsql as
        'begin raise exception using errcode = ''admin_shutdown'', message = ''killed''; end';
      insert into candled_app.alert (
        user_id, symbol, source, condition, threshold, repeats, armed_at, armed_epoch, armed_seq)
      values (1, 'sh600837', 'sina', 'above', 11, 'once', now(), 0, 0);
      create trigger stop before insert on candled_app.notification
      for each row execute function candled_app.stop()
      """)
    exchange.setClock(day: next, second: 100)
    #expect(throws: (any Error).self) { try exchange.look() }
    #expect(try shares(in: exchange) == ["sh600837 sellable 1000"])
    try exchange.database.execute("drop trigger stop on candled_app.notification")
    exchange.kill()
    try begin(next, in: exchange)
    #expect(try shares(in: exchange) == ["sh601211 sellable 620"])
    try expectSound(exchange)
  }

  @Test func `a merger pays the cash beside the shares`() async throws {
    let exchange = try await holding()
    let next = try #require(Self.next)
    try link("merger", "sh600837", to: "sh601211", "0.5", cash: "1.234", on: next, in: exchange)
    try begin(next, in: exchange)
    #expect(try shares(in: exchange) == ["sh601211 sellable 500"])
    let income = "select balance from candled_app.book where kind = 'income'"
    #expect(try exchange.database.value(income) == "-1234.00")
    try expectSound(exchange)
  }

  @Test func `a merger ends orders, purchases and alerts, and says why`() async throws {
    let exchange = try await holding()
    let (next, third) = (try #require(Self.next), try #require(Self.third))
    try await rows(exchange, of: "sh600837", on: next, from: 34_500, volume: 100)
    try exchange.order(.sell, 900, at: 1050, force: .goodTillCancelled, symbol: "sh600837")
    try exchange.order(.buy, 100, at: 950, force: .goodTillCancelled, symbol: "sh600837")
    let symbol = try #require(Symbol("sh600837"))
    try exchange.send(
      .arm(
        PurchaseRequest(
          symbol: symbol, quantity: ExactDecimal(100),
          terms: PurchaseTerms(triggers: [.sealed(seconds: 30)], carriesOver: true))))
    try exchange.database.execute(
      """
      insert into candled_app.alert (
        user_id, symbol, source, condition, threshold, repeats, armed_at, armed_epoch, armed_seq)
      values
        (1, 'sh600837', 'sina', 'above', 11, 'once', now(), 0, 0),
        (1, 'sh600000', 'sina', 'above', 11, 'once', now(), 0, 0)
      """)
    try link("merger", "sh600837", to: "sh601211", "0.62", on: third, in: exchange)
    try begin(third, in: exchange)
    #expect(try exchange.states() == ["filled", "cancelled", "cancelled"])
    let reasons = try exchange.database.execute(
      "select event, reason from candled_app.notification where reason is not null order by event"
    ).map { $0.map { $0 ?? "" } }
    let reason = "sh600837 became 0.62 sh601211"
    #expect(reasons == Array(repeating: ["cancelled", reason], count: 3))
    let alerts = try exchange.database.execute(
      "select symbol, state from candled_app.alert order by id"
    ).map { $0.map { $0 ?? "" } }
    #expect(alerts == [["sh600837", "ended"], ["sh600000", "armed"]])
    let inbox = try NotificationTable(exchange.apps).inbox(
      of: PaperExchange.user, before: nil, isUnread: true, limit: 50)
    #expect(inbox.compactMap(\.alert).map(\.kind) == [.ended])
    #expect(try shares(in: exchange) == ["sh601211 sellable 620"])
    exchange.kill()
    let late = try exchange.order(.buy, 100, at: 1000, symbol: "sh600837")
    #expect(!late.isDone && late.answer == "halted: \(reason)")
    try expectSound(exchange)
  }

  @Test func `a rename takes along what is held and ordered, and orders fill under the new code`()
    async throws
  {
    let exchange = try await holding(of: ["sz000022"])
    let (next, third) = (try #require(Self.next), try #require(Self.third))
    let paid = try #require(try cost(of: "sz000022", in: exchange))
    try await rows(exchange, of: "sz001872", from: 34_520, volume: 100)
    try await rows(exchange, of: "sz000022", on: next, from: 34_500, volume: 100)
    try exchange.order(.sell, 900, at: 1050, force: .goodTillCancelled, symbol: "sz000022")
    try exchange.order(.buy, 500, at: 950, force: .goodTillCancelled, symbol: "sz000022")
    try link("rename", "sz000022", to: "sz001872", on: third, in: exchange)
    try begin(third, in: exchange)
    #expect(try shares(in: exchange) == ["sz001872 frozen 900", "sz001872 sellable 100"])
    #expect(try cost(of: "sz001872", in: exchange) == paid)
    let codes = "select string_agg(code, ',' order by id) from candled_app.paper_order"
    #expect(try exchange.database.value(codes) == "sz001872,sz001872")
    exchange.kill()
    try await rows(
      exchange, of: "sz001872", on: third, from: 34_500, volume: 100, cents: 950, ask: 950)
    #expect(try exchange.fills() == ["1/1 1000@10.01", "3/1 500@9.50"])
    let log = try LedgerTable(exchange.apps).transactionLog(of: exchange.account, limit: 2)
    #expect(log.map(\.kind) == ["Buy-Order", "Buy-Order"], "a rename is no transaction")
    #expect(log.map(\.symbol) == [Symbol("sz001872"), Symbol("sz000022")])
    var filter = OrderFilter()
    filter.symbols = [try #require(Symbol("sz001872"))]
    let orders = try OrderTable(exchange.apps, userID: PaperExchange.user).orders(
      of: exchange.account, filter: filter, limit: 10)
    #expect(orders.map(\.order.id) == [3, 2, 1], "those under the code of before, too")
    try expectSound(exchange)
  }

  @Test func `an order of the morning for the old code goes on, where a rename is known later`()
    async throws
  {
    let exchange = try await PaperExchange()
    let next = try #require(Self.next)
    try await rows(exchange, of: "sz000022", from: 34_500, volume: 100)
    try exchange.deposit(100_000)
    try begin(next, in: exchange)
    try exchange.order(.buy, 500, at: 950, symbol: "sz000022")
    try link("rename", "sz000022", to: "sz001872", on: next, verdict: "proven", in: exchange)
    exchange.kill()
    try begin(next, in: exchange)
    try await rows(
      exchange, of: "sz001872", on: next, from: 34_500, volume: 100, cents: 950, ask: 950)
    #expect(try exchange.fills() == ["1/1 500@9.50"])
    #expect(try shares(in: exchange) == ["sz001872 today 500"])
    try expectSound(exchange)
  }

  @Test func `242 renames in one night leave no reference behind`() async throws {
    let codes = (0..<242).map { (old: "bj833\(100 + $0)", new: "bj920\(100 + $0)") }
    let held = codes.prefix(3).map(\.old)
    let exchange = try await holding(of: held)
    let next = try #require(Self.next)
    let values = codes.map { "('\($0.old)', '\($0.new)')" }.joined(separator: ", ")
    try exchange.database.execute(
      """
      create temporary table code as select * from (values \(values)) as v (old, new);
      select candled.link_instruments(
        old, new, '\(next)', 'rename', 'proven', null, null, 'list', now())
      from code order by old;
      insert into candled_app.watchlist (user_id, position, name) values (1, 0, '北交所');
      insert into candled_app.watchlist_item (watchlist_id, position, symbol, low)
      select 1, row_number() over (order by old) - 1, old, 1 from code;
      insert into candled_app.holding_trigger (account_id, symbol, low)
      select \(exchange.account), old, 9 from code;
      insert into candled_app.alert (
        user_id, symbol, source, condition, threshold, repeats, armed_at, armed_epoch, armed_seq)
      select 1, old, 'sina', 'above', 11, 'once', now(), 0, 0 from code
      """)
    try begin(next, in: exchange)
    #expect(try shares(in: exchange) == codes.prefix(3).map { "\($0.new) sellable 1000" })
    let account = try HoldingTable(exchange.apps).held(
      by: exchange.account, on: next, today: next)
    #expect(account.holdings.map(\.hasNoMarket) == [false, false, false])
    let prices = account.holdings.map { account.prices[$0.symbol]?.last }
    #expect(prices == Array(repeating: PaperExchange.price(1_000), count: 3), "of the old code")
    let list = try WatchlistTable(exchange.apps, userID: PaperExchange.user).all()[0]
    #expect(list.items.map(\.symbol.description) == codes.map(\.new))
    for table in ["alert where state = 'armed'", "holding_trigger where true"] {
      let rows = try exchange.database.execute(
        "select symbol from candled_app.\(table) order by symbol")
      #expect(rows.compactMap { $0[0] } == codes.map(\.new))
    }
    let notices = "select count(*) from candled_app.notification where event <> 'filled'"
    #expect(try exchange.database.value(notices) == "0")
    try expectSound(exchange)
  }

  @Test func `where a list has both codes of a rename, it has one behind it, without a hole`()
    async throws
  {
    let exchange = try await PaperExchange()
    try await exchange.commit(Row(symbol: "sh600000", second: 34_500, volume: 100))
    try exchange.database.execute(
      """
      insert into candled_app.watchlist (user_id, position, name) values (1, 0, 'w');
      insert into candled_app.watchlist_item (watchlist_id, position, symbol)
      values (1, 0, 'bj833819'), (1, 1, 'sh600000'), (1, 2, 'bj920819'), (1, 3, 'sh600001')
      """)
    try link("rename", "bj833819", to: "bj920819", on: PaperExchange.day, in: exchange)
    try exchange.look()
    let items = try exchange.database.execute(
      "select position, symbol from candled_app.watchlist_item order by position"
    ).map { $0.map { $0 ?? "" } }
    #expect(items == [["0", "sh600000"], ["1", "bj920819"], ["2", "sh600001"]])
  }
}
