import AppStore
import Broker
import Market
import PaperTrading
import TestSupport
import TestTraits
import Testing

/// What is posted by hand: booked once, for what was held when the ex-day began.
@Suite(.ownThread) struct CorporateActionTests {
  private typealias Row = PaperExchange.Row
  private static let asks: [(Int64, Int64)] = [(1001, 5_000)]

  private func nextDay() throws -> TradingDay {
    try #require(TradingCalendar.shanghai.next(after: PaperExchange.day))
  }

  private func rows(
    _ exchange: PaperExchange, on day: TradingDay, from second: Int, volume: Int64
  ) async throws {
    for step in 0..<2 {
      try await exchange.row(
        Row(
          day: day, second: second + step * 3, volume: volume + Int64(step) * 100,
          bids: [(1000, 100)], asks: Self.asks))
    }
  }

  /// An account with 1,000 shares, bought on the first day.
  private func holding() async throws -> PaperExchange {
    let exchange = try await PaperExchange()
    try await rows(exchange, on: PaperExchange.day, from: 34_500, volume: 100)
    try exchange.deposit(100_000)
    try exchange.order(.buy, 1_000, at: 1001)
    try await rows(exchange, on: PaperExchange.day, from: 34_510, volume: 300)
    #expect(try exchange.fills() == ["1/1 1000@10.01"])
    return exchange
  }

  private func post(
    _ kind: CorporateActionTerms.Kind, _ perShare: String, on day: TradingDay,
    in exchange: PaperExchange
  ) throws {
    let terms = try #require(CorporateActionTerms(kind, perShare: ExactDecimal(perShare)))
    let symbol = try #require(Symbol("sz000001"))
    _ = try CorporateActionTable(exchange.apps).add(terms, of: symbol, exDay: day)
    try exchange.look()
  }

  private func balance(
    _ unit: String, _ kind: String, in exchange: PaperExchange
  ) throws -> String? {
    try exchange.database.value(
      "select balance from candled_app.book where unit = '\(unit)' and kind = '\(kind)'")
  }

  private func booked(in exchange: PaperExchange) throws -> [Int?] {
    try CorporateActionTable(exchange.apps).all().map { $0.booking?.accounts }
  }

  @Test func `a dividend and a bonus wait for their ex-day, and are booked once`() async throws {
    let exchange = try await holding()
    let next = try nextDay()
    let before = try ExactDecimal(#require(try balance("cash", "available", in: exchange)))
    try post(.dividend, "0.1234", on: next, in: exchange)
    try post(.bonus, "0.3005", on: next, in: exchange)
    #expect(try booked(in: exchange) == [nil, nil])
    exchange.setClock(day: next, second: 100)
    for _ in 0..<2 {
      exchange.kill()
      try exchange.look()
    }
    #expect(try booked(in: exchange) == [1, 1])
    // 1,000 shares: 123.40, and 300.5, of which the half is lost.
    #expect(try balance("sz000001", "sellable", in: exchange) == "1300")
    let paid = try ExactDecimal(#require(try balance("cash", "available", in: exchange))) - before
    #expect(paid == (try ExactDecimal("123.40")))
    let log = try LedgerTable(exchange.apps).transactionLog(of: exchange.account, limit: 2)
    #expect(Set(log.map(\.kind)) == ["dividend", "bonus"])
    #expect(try exchange.findings() == [])
    #expect(try LedgerReplay(exchange.apps).differences() == [])
  }

  @Test func `one that is posted late is for what was held then`() async throws {
    let exchange = try await holding()
    let next = try nextDay()
    try await rows(exchange, on: next, from: 34_500, volume: 100)
    try exchange.order(.buy, 500, at: 1001)
    try await rows(exchange, on: next, from: 34_510, volume: 300)
    try post(.dividend, "1", on: next, in: exchange)
    #expect(try booked(in: exchange) == [1])
    let cash = "select amount from candled_app.entry where kind = 'income'"
    #expect(try exchange.database.value(cash) == "-1000.00")
    #expect(throws: AppStoreError.self) { try post(.dividend, "2", on: next, in: exchange) }
    try post(.dividend, "1", on: PaperExchange.day, in: exchange)
    #expect(try booked(in: exchange) == [1, 0], "nothing was held before")
    #expect(try LedgerReplay(exchange.apps).differences() == [])
  }

  @Test func `a merger of shares ends sales, and leaves whole shares`() async throws {
    let exchange = try await holding()
    let next = try nextDay()
    try await rows(exchange, on: next, from: 34_500, volume: 100)
    try exchange.order(.sell, 900, at: 1050, force: .goodTillCancelled)
    try post(.bonus, "-0.9", on: next, in: exchange)
    #expect(try exchange.states() == ["filled", "cancelled"])
    #expect(try balance("sz000001", "sellable", in: exchange) == "100")
    #expect(try balance("sz000001", "frozen", in: exchange) == "0")
    #expect(try exchange.findings() == [])
    #expect(try LedgerReplay(exchange.apps).differences() == [])
  }

  @Test(arguments: [
    "update candled_app.corporate_action set cash_per_share = 2",
    "update candled_app.corporate_action set ex_day = ex_day - 30",
    """
    insert into candled_app.corporate_action (symbol, ex_day, kind, cash_per_share)
    select symbol, ex_day + 1, kind, 1 from candled_app.corporate_action;
    insert into candled_app.corporate_action_booking values (2, current_date, 0, now())
    """,
  ])
  func `what was changed by hand is found`(_ change: String) async throws {
    let exchange = try await holding()
    let next = try nextDay()
    exchange.setClock(day: next, second: 100)
    try exchange.look()
    try post(.dividend, "1", on: next, in: exchange)
    #expect(try LedgerReplay(exchange.apps).differences() == [])
    try exchange.database.execute(
      "alter table candled_app.corporate_action disable trigger user; \(change)")
    #expect(try LedgerReplay(exchange.apps).differences() != [])
  }

  @Test(arguments: [
    (CorporateActionTerms.Kind.dividend, "0"), (.dividend, "-1"), (.dividend, "10001"),
    (.bonus, "0"), (.bonus, "-1"), (.dividend, "0.0000000001"),
  ])
  func `terms that no announcement has are none`(
    _ kind: CorporateActionTerms.Kind, _ perShare: String
  ) throws {
    #expect(try CorporateActionTerms(kind, perShare: ExactDecimal(perShare)) == nil)
  }
}
