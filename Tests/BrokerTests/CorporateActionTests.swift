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
    isAnother: Bool = false, in exchange: PaperExchange
  ) throws {
    let terms = try #require(CorporateActionTerms(kind, perShare: ExactDecimal(perShare)))
    let symbol = try #require(Symbol("sz000001"))
    _ = try CorporateActionTable(exchange.apps).add(
      terms, of: symbol, exDay: day, isAnother: isAnother)
    try exchange.look()
  }

  private func withdraw(_ id: Int64, in exchange: PaperExchange) throws {
    try CorporateActionTable(exchange.apps).withdraw(id)
    try exchange.look()
  }

  /// The ledger holds, and follows from its commands, evidence and actions.
  private func expectSound(_ exchange: PaperExchange) throws {
    let (findings, differences) = (
      try exchange.findings(), try LedgerReplay(exchange.apps).differences()
    )
    #expect(findings == [])
    #expect(differences == [])
  }

  private func failed(in exchange: PaperExchange) throws -> [Set<Int64>] {
    try CorporateActionTable(exchange.apps).all().map(\.failed)
  }

  private func balance(
    _ unit: String, _ kind: String, in exchange: PaperExchange
  ) throws -> String? {
    try exchange.database.value(
      "select balance from candled_app.book where unit = '\(unit)' and kind = '\(kind)'")
  }

  private func booked(in exchange: PaperExchange) throws -> [Int?] {
    try CorporateActionTable(exchange.apps).all().map { $0.bookedOn == nil ? nil : $0.accounts }
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
    // The clock of a start is believed once it has run on for five minutes.
    #expect(try booked(in: exchange) == [nil, nil])
    exchange.setClock(day: next, second: 500)
    try exchange.look()
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

  @Test func `one that is withdrawn before its ex-day is never booked`() async throws {
    let exchange = try await holding()
    let next = try nextDay()
    try post(.dividend, "276.73", on: next, in: exchange)
    try withdraw(1, in: exchange)
    exchange.setClock(day: next, second: 100)
    try exchange.look()
    #expect(try booked(in: exchange) == [nil])
    #expect(throws: AppStoreError.self) { try withdraw(1, in: exchange) }
    #expect(throws: AppStoreError.self) { try withdraw(2, in: exchange) }
    try post(.dividend, "27.673", on: next, in: exchange)
    #expect(try booked(in: exchange) == [nil, 1])
    try expectSound(exchange)
  }

  @Test func `one that is withdrawn after it was booked is reversed, once`() async throws {
    let exchange = try await holding()
    let next = try nextDay()
    func held() throws -> [String?] {
      [
        try balance("cash", "available", in: exchange),
        try balance("sz000001", "sellable", in: exchange),
      ]
    }
    exchange.setClock(day: next, second: 100)
    try exchange.look()
    let before = try held()
    try post(.dividend, "276.73", on: next, in: exchange)
    try post(.bonus, "3", on: next, in: exchange)
    #expect(try held() != before && booked(in: exchange) == [1, 1])
    for id in [Int64(1), 2] { try withdraw(id, in: exchange) }
    exchange.kill()
    try exchange.look()
    #expect(try held() == before)
    let actions = try CorporateActionTable(exchange.apps).all()
    #expect(actions.map(\.accounts) == [0, 0] && actions.allSatisfy { $0.reversedOn == next })
    let log = try LedgerTable(exchange.apps).transactionLog(of: exchange.account, limit: 4)
    #expect(log.map(\.kind) == ["reversal", "reversal", "bonus", "dividend"])
    #expect(log.prefix(2).allSatisfy { $0.symbol == Symbol("sz000001") && $0.orderID == nil })
    #expect(log[1].amount == ExactDecimal(-276_730))
    try expectSound(exchange)
    try post(.dividend, "27.673", on: next, in: exchange)
    #expect(try booked(in: exchange) == [0, 0, 1])
    try expectSound(exchange)
  }

  @Test func `a reversal ends sales that hold the shares it takes`() async throws {
    let exchange = try await holding()
    let next = try nextDay()
    try await rows(exchange, on: next, from: 34_500, volume: 100)
    try post(.bonus, "1", on: next, in: exchange)
    try exchange.order(.sell, 1_900, at: 1050)
    try withdraw(1, in: exchange)
    #expect(try exchange.states() == ["filled", "cancelled"])
    #expect(try balance("sz000001", "sellable", in: exchange) == "1000")
    try expectSound(exchange)
  }

  @Test func `two dividends of one day are both booked`() async throws {
    let exchange = try await holding()
    let next = try nextDay()
    exchange.setClock(day: next, second: 100)
    try exchange.look()
    try post(.dividend, "1", on: next, in: exchange)
    try post(.dividend, "0.5", on: next, isAnother: true, in: exchange)
    #expect(try booked(in: exchange) == [1, 1])
    let cash = "select -sum(amount) from candled_app.entry where kind = 'income'"
    #expect(try exchange.database.value(cash) == "1500.00")
    try expectSound(exchange)
  }

  @Test func `a merger of shares that are sold stays open, and is booked once they are there`()
    async throws
  {
    let exchange = try await holding()
    let next = try nextDay()
    let third = try #require(TradingCalendar.shanghai.next(after: next))
    try await rows(exchange, on: next, from: 34_500, volume: 100)
    try exchange.order(.sell, 900, at: 1000)
    for (volume, second) in [(Int64(5_000), 34_510), (5_100, 34_513)] {
      try await exchange.row(
        Row(day: next, second: second, volume: volume, bids: [(1000, 5_000)], asks: Self.asks))
    }
    #expect(try exchange.states() == ["filled", "filled"])
    try post(.bonus, "-0.9", on: next, in: exchange)
    #expect(try booked(in: exchange) == [0] && failed(in: exchange) == [[exchange.account]])
    try expectSound(exchange)
    try exchange.order(.buy, 1_000, at: 1001)
    try await rows(exchange, on: next, from: 34_520, volume: 5_300)
    for _ in 0..<2 {
      exchange.setClock(day: third, second: 100)
      try exchange.look()
      exchange.kill()
    }
    #expect(try booked(in: exchange) == [1] && failed(in: exchange) == [[]])
    #expect(try balance("sz000001", "sellable", in: exchange) == "200")
    try expectSound(exchange)
  }

  @Test func `a dividend that is spent stays open where it is taken back`() async throws {
    let exchange = try await holding()
    let next = try nextDay()
    exchange.setClock(day: next, second: 100)
    try exchange.look()
    try post(.dividend, "1", on: next, in: exchange)
    let cash = try ExactDecimal(#require(try balance("cash", "available", in: exchange)))
    try exchange.send(.withdraw(cash, description: ""))
    try withdraw(1, in: exchange)
    #expect(try failed(in: exchange) == [[exchange.account]])
    try expectSound(exchange)
    try exchange.deposit(1_000)
    exchange.kill()
    try exchange.look()
    #expect(try failed(in: exchange) == [[]])
    #expect(try balance("cash", "available", in: exchange) == "0.00")
    try expectSound(exchange)
  }

  @Test(arguments: [
    "update candled_app.corporate_action set per_share = 2",
    "update candled_app.corporate_action set ex_day = ex_day - 30",
    """
    insert into candled_app.corporate_action (symbol, ex_day, kind, per_share, booked_on)
    select symbol, ex_day + 1, kind, 1, current_date from candled_app.corporate_action
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
