import AppStore
import Broker
import Market
import PaperTrading
import TestSupport
import TestTraits
import Testing

/// What is booked in another order than it happened, or taken back.
extension SuccessionTests {
  @Test func `a rename to a code that no rule has changes nothing before there is one`()
    async throws
  {
    let exchange = try await holding(of: ["sz000022"])
    let next = try #require(Self.next)
    try exchange.order(.buy, 100, at: 950, force: .goodTillCancelled, symbol: "sz000022")
    try link("rename", "sz000022", to: "sz777777", on: next, in: exchange)
    for _ in 0..<2 {
      try begin(next, in: exchange)
      exchange.kill()
    }
    #expect(try shares(in: exchange) == ["sz000022 sellable 1000"])
    #expect(try exchange.states() == ["filled", "accepted"])
    try expectSound(exchange)
  }

  @Test func `links that follow each other on one day are booked in their order`() async throws {
    let exchange = try await holding(of: ["sz000022"])
    let next = try #require(Self.next)
    try link("merger", "sz001872", to: "sh601211", "0.5", on: next, in: exchange)
    try link("rename", "sz000022", to: "sz001872", on: PaperExchange.day, in: exchange)
    try begin(next, in: exchange)
    #expect(try shares(in: exchange) == ["sh601211 sellable 500"])
    #expect(try cost(of: "sh601211", in: exchange) == PaperExchange.price(1_001_000))
    try expectSound(exchange)
  }

  @Test func `a bonus of the day before is for the old code, where both are booked late`()
    async throws
  {
    let exchange = try await holding(of: ["sz000022"])
    let (next, third) = (try #require(Self.next), try #require(Self.third))
    try link("rename", "sz000022", to: "sz001872", on: third, in: exchange)
    let terms = try #require(CorporateActionTerms(.bonus, perShare: ExactDecimal("0.3")))
    _ = try CorporateActionTable(exchange.apps).add(
      terms, of: try #require(Symbol("sz000022")), exDay: next)
    try begin(third, in: exchange)
    #expect(try shares(in: exchange) == ["sz001872 sellable 1300"])
    try expectSound(exchange)
  }

  @Test func `a merger whose day is corrected to an earlier one is booked once it is taken back`()
    async throws
  {
    let exchange = try await holding()
    let (next, third) = (try #require(Self.next), try #require(Self.third))
    try link("merger", "sh600837", to: "sh601211", "0.62", on: third, in: exchange)
    try begin(third, in: exchange)
    #expect(try shares(in: exchange) == ["sh601211 sellable 620"])
    try link("merger", "sh600837", to: "sh601211", "0.62", on: next, in: exchange)
    exchange.kill()
    try begin(third, in: exchange)
    #expect(try shares(in: exchange) == ["sh601211 sellable 620"])
    let booked = try CorporateActionTable(exchange.apps).all().map(\.accounts)
    #expect(booked == [0, 1])
    try expectSound(exchange)
  }

  @Test func `what was no merger is taken back, and the shares with it`() async throws {
    let exchange = try await holding()
    let (next, third) = (try #require(Self.next), try #require(Self.third))
    let paid = try #require(try cost(of: "sh600837", in: exchange))
    try link("merger", "sh600837", to: "sh601211", "0.62", on: next, in: exchange)
    try begin(next, in: exchange)
    #expect(throws: AppStoreError.self) {
      try CorporateActionTable(exchange.apps).withdraw(1)
    }
    try exchange.database.execute(
      "select candled.unlink_instruments('sh600837', 'sh601211', now())")
    for _ in 0..<2 {
      try begin(third, in: exchange)
      exchange.kill()
    }
    #expect(try shares(in: exchange) == ["sh600837 sellable 1000"])
    #expect(try cost(of: "sh600837", in: exchange) == paid)
    try expectSound(exchange)
  }

  @Test(arguments: [
    ("80", "80", "-3010", "0"), ("40", "80", "-3010", "0"), ("40", "80", "9", "4.5"),
  ])
  func `no cost is negative, for the database would refuse each step that moves it`(
    _ held: String, _ bought: String, _ paid: String, _ cost: String
  ) throws {
    let found = try HoldingRecord.cost(
      of: ExactDecimal(held), bought: ExactDecimal(bought), paid: ExactDecimal(paid))
    #expect(try found == ExactDecimal(cost))
  }

  @Test func `a reversal that is tried again opens no code that another link has ended`()
    async throws
  {
    let exchange = try await holding(shares: 100)
    let (next, third) = (try #require(Self.next), try #require(Self.third))
    func rows(from second: Int, volume: Int64) async throws {
      for step in 0..<2 {
        try await exchange.row(
          Row(
            symbol: "sh601211", day: next, second: second + step * 3,
            volume: volume + Int64(step) * 100, bids: [(999, 5_000)], asks: [(1001, 100)]))
      }
    }
    try link("merger", "sh600837", to: "sh601211", "0.62", on: next, in: exchange)
    try begin(next, in: exchange)
    try await rows(from: 34_500, volume: 100)
    try exchange.order(.sell, 62, at: 999, symbol: "sh601211")
    try await rows(from: 34_510, volume: 300)
    #expect(try shares(in: exchange) == [])
    try link("merger", "sh600837", to: "sh601211", "0.63", on: next, in: exchange)
    exchange.kill()
    try exchange.look()
    let open = try CorporateActionTable(exchange.apps).all().map(\.failed.count)
    #expect(open == [1, 0], "the shares that the first one gave are sold")
    try begin(third, in: exchange)
    let late = try exchange.order(.buy, 100, at: 1000, symbol: "sh600837")
    #expect(!late.isDone && late.answer == "halted: sh600837 became 0.63 sh601211")
    try expectSound(exchange)
  }

  @Test func `a queue purchase that a wrong rename took along ends, after a restart, too`()
    async throws
  {
    let exchange = try await holding(of: ["sz000022"])
    let next = try #require(Self.next)
    try exchange.send(
      .arm(
        PurchaseRequest(
          symbol: try #require(Symbol("sz000022")), quantity: ExactDecimal(100),
          terms: PurchaseTerms(triggers: [.sealed(seconds: 30)], carriesOver: true))))
    try link("rename", "sz000022", to: "sz001872", on: next, in: exchange)
    try begin(next, in: exchange)
    let purchase = "select concat_ws(' ', symbol, state, reason) from candled_app.queue_purchase"
    #expect(try exchange.database.value(purchase) == "sz001872 armed")
    try exchange.database.execute(
      "select candled.unlink_instruments('sz000022', 'sz001872', now())")
    exchange.kill()
    try begin(next, in: exchange)
    #expect(
      try exchange.database.value(purchase) == "sz001872 cancelled sz000022 was not renamed")
    #expect(try shares(in: exchange) == ["sz000022 sellable 1000"])
    try expectSound(exchange)
  }

  @Test func `a link that is not sure, or of an unknown ratio, changes nothing`() async throws {
    let exchange = try await holding()
    let next = try #require(Self.next)
    try link(
      "rename", "sh600837", to: "sh601211", on: next, verdict: "suspected", in: exchange)
    try link("conversion", "sh600837", to: "sh600150", on: next, in: exchange)
    try begin(next, in: exchange)
    #expect(try shares(in: exchange) == ["sh600837 sellable 1000"])
    #expect(try CorporateActionTable(exchange.apps).all() == [])
    let account = try HoldingTable(exchange.apps).held(
      by: exchange.account, on: next, today: next)
    #expect(account.holdings.map(\.hasNoMarket) == [true])
  }

  @Test func `a holding that is delisted without a successor keeps its price, without a market`()
    async throws
  {
    let exchange = try await holding()
    let next = try #require(Self.next)
    try exchange.database.execute(
      "update candled.instrument set delisted_at = '\(next)' where symbol = 'sh600837'")
    try begin(next, in: exchange)
    let account = try HoldingTable(exchange.apps).held(
      by: exchange.account, on: next, today: next)
    let holding = try #require(account.holdings.first)
    #expect(holding.hasNoMarket && holding.quantity == ExactDecimal(1_000))
    #expect(account.prices[holding.symbol]?.last == PaperExchange.price(1_000))
    try expectSound(exchange)
  }

  @Test func `shares of what is not traded on paper are not given`() async throws {
    let exchange = try await holding()
    let next = try #require(Self.next)
    try link("conversion", "sh600837", to: "AAPL", "0.1", on: next, in: exchange)
    try begin(next, in: exchange)
    #expect(try shares(in: exchange) == ["sh600837 sellable 1000"])
    try expectSound(exchange)
  }

  @Test(arguments: [
    "update candled_app.posting set cost = cost + 1 where kind = 'merger'",
    "update candled_app.corporate_action set per_share = 0.63",
    "update candled_app.corporate_action set successor = 'sh601212'",
  ])
  func `a merger that was changed by hand is found`(_ change: String) async throws {
    let exchange = try await holding()
    let next = try #require(Self.next)
    try link("merger", "sh600837", to: "sh601211", "0.62", on: next, in: exchange)
    try begin(next, in: exchange)
    try exchange.database.execute(
      """
      alter table candled_app.corporate_action disable trigger user;
      alter table candled_app.posting disable trigger user;
      \(change)
      """)
    #expect(try LedgerReplay(exchange.apps).differences() != [])
  }
}
