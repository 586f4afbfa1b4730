import Foundation
import HTTPTypes
import Market
import NIOCore
import PaperTrading
import TestSupport
import TestTraits
import Testing

@testable import AppStore
@testable import Gateway

/// Holdings, their value, and purchases at the limit-up price.
@Suite(.ownThread) struct TradingHoldingTests {
  private static let price = ExactDecimal(units: 1_001, scale: 2)

  @Test("a holding is valued at the price in memory, its profits are since bought and of the day")
  func portfolio() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    for price in ["10.01", "10.03"] {
      let id = try await fixture.buy(100, limit: price)
      try await fixture.broker.fill(id, quantity: 100, price: try ExactDecimal(price))
    }
    let stock = try await fixture.ask(.get, "/v1/stocks/sh600000")
    let last = try ExactDecimal(try #require(stock.text("currentPrice")))
    let value = try (last * ExactDecimal(200)).rescaled(places: 2)
    let portfolio = try await fixture.ask(.get, "/v1/portfolio")
    #expect(portfolio.text("stocks.0.averagePrice") == "10.02", "\(portfolio)")
    #expect(portfolio.text("stocks.0.cost") == "2004.00")
    #expect(portfolio.text("stocks.0.quantity") == "200")
    #expect(portfolio.text("stocks.0.boughtToday") == "200")
    #expect(portfolio.text("stocks.0.sellable") == "0")
    #expect(portfolio.text("stocks.0.marketValue") == value.description)
    let profit = try value - ExactDecimal(units: 200_400, scale: 2)
    #expect(portfolio.text("stocks.0.profit") == profit.description)
    // All of it was bought today: the profit of the day is that since bought.
    #expect(portfolio.text("stocks.0.profitToday") == profit.description)
    #expect(portfolio.text("stocks.0.exUnbooked") == "0")
    let cash = try ExactDecimal(try #require(portfolio.text("cash")))
    #expect(portfolio.text("value") == (try cash + value).description)
    let account = try await fixture.ask(.get, "/v1/account")
    #expect(account.text("equity") == portfolio.text("value"))
    // Today is not over, and has no close: it is worth what the portfolio is now.
    let history = try await fixture.ask(.get, "/v1/portfolio/history?period=1y")
    #expect(history.text("days.0.value") == portfolio.text("value"), "\(history)")
  }

  @Test("the day's profit has what was sold, and fees, and leaves out what was paid in")
  func profitOfTheDay() async throws {
    let yesterday = StoreSamples.day.advanced(by: -3)
    let fixture = try await TradingFixture(day: yesterday)
    try await fixture.fund()
    let bought = try await fixture.buy(1_000, limit: "10.01")
    try await fixture.broker.fill(bought, quantity: 1_000, price: Self.price)
    let stock = try await fixture.ask(.get, "/v1/stocks/sh600000")
    let close = try ExactDecimal(try #require(stock.text("previousClose")))
    let cash = try ExactDecimal(
      try #require(try await fixture.ask(.get, "/v1/account").text("account.balance")))
    let before = try (try cash + (try close * ExactDecimal(1_000))).rescaled(places: 2)
    try await fixture.broker.begin(StoreSamples.day, in: 1)
    // At 5 % above the close.
    let price = try (close * ExactDecimal(units: 105, scale: 2)).rounded(places: 2)
    let sale = try await fixture.ask(
      .post, "/v1/orders",
      """
      {"stockSymbol":"sh600000","side":"sell","type":"limit","quantity":"1000","limitPrice":"1"}
      """)
    let id = try #require(sale.text("id").flatMap { Int64($0) }, "\(sale)")
    try await fixture.broker.fill(id, quantity: 1_000, price: price)
    let order = try await fixture.ask(.get, "/v1/orders/\(id)")
    let fees = try ExactDecimal(try #require(order.text("order.fees")))
    let gain = try (try (try price - close) * ExactDecimal(1_000) - fees).rescaled(places: 2)
    #expect(gain.isPositive && fees.isPositive)
    func shown() async throws -> [String?] {
      let portfolio = try await fixture.ask(.get, "/v1/portfolio")
      #expect(portfolio.count("stocks") == 0, "\(portfolio)")
      let alpaca = try await fixture.ask(.get, "/v2/account")
      return [portfolio.text("profitToday"), alpaca.text("last_equity")]
    }
    #expect(try await shown() == [gain.description, before.description])
    _ = try await fixture.ask(
      .post, "/v1/account/deposits", #"{"amount":"500.00","type":"bank"}"#, key: "more-money")
    #expect(try await shown() == [gain.description, before.description])
  }

  @Test("a price is of its instrument's day, from the database where memory has none of that")
  func prices() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    for symbol in ["sh600000", "sh600001"] {
      let id = try await fixture.buy(100, limit: "10.01", symbol)
      try await fixture.broker.fill(id, quantity: 100, price: Self.price)
    }
    // A day has begun for the first; the second has minutes alone.
    let database = fixture.served.database
    let minute = try database.value(
      """
      set search_path = candled;
      insert into candle (
        opened_at, closed_at, known_from, instrument_id, trading_day, timeframe, flags, source,
        open, high, low, close, volume)
      select
        day + time '09:30', day + time '15:00', now(), id, day, 240, 0, 1, price, price, price,
        price, 100
      from instrument
      cross join (values (date '2026-07-03', 9.5), ('2026-07-06', 9.9)) d (day, price);
      update quote set trading_day = '2026-07-07', previous_close = 12.34
      where instrument_id = instrument_id('sh600000');
      delete from quote where instrument_id = instrument_id('sh600001');
      select close::text from candle
      where instrument_id = instrument_id('sh600001') and timeframe = 1
      order by opened_at desc limit 1
      """)
    let portfolio = try await fixture.ask(.get, "/v1/portfolio")
    #expect(portfolio.text("stocks.0.currentPrice") == "12.34", "\(portfolio)")
    #expect(portfolio.text("stocks.0.previousClose") == "12.34")
    #expect(portfolio.text("stocks.0.yesterdayClose") == "9.9")
    #expect(portfolio.text("stocks.0.exUnbooked") == "1")
    #expect(portfolio.text("stocks.1.yesterdayClose") == "9.5")
    let id = try #require(try await fixture.ask(.get, "/v1/account").text("account.id"))
    let connection = try AppConnection(url: database.url, application: "test")
    let held = try HoldingTable(connection).held(
      by: try #require(Int64(id)), on: StoreSamples.day, today: StoreSamples.day)
    let close = ExactDecimal(units: 95, scale: 1)
    #expect(
      held.prices[StoreSamples.symbol(1)]
        == StoredPrice(
          day: StoreSamples.day, last: try ExactDecimal(try #require(minute)),
          previousClose: close, yesterdayClose: close))
    #expect(held.holdings.map(\.gainedToday) == [.zero, ExactDecimal(100)])
  }

  @Test("what a day opened with that is over is not valued at the prices of the next")
  func newerPrices() throws {
    let (day, symbol) = (StoreSamples.day, StoreSamples.symbol(0))
    var quote = Quote(symbol: symbol, tradingDay: day, secondOfDay: 34_500)
    (quote.last, quote.high) = (Self.price, Self.price)
    var state = MarketState(epoch: 1, seq: 1, stocks: [EncodedStock(quote)])
    state.directory = InstrumentDirectory().updated(with: [
      try InstrumentDirectoryTests.record(1, "\(symbol)", name: nil)
    ])
    func revalued(openedOn opened: TradingDay) -> AccountHoldings? {
      let account = PaperAccount(
        id: 1, name: "a", market: .mainland, currency: "CNY", createdAt: StoreSamples.start,
        available: .zero, frozen: .zero)
      let price = StoredPrice(
        day: day, last: nil, previousClose: nil, yesterdayClose: nil, isStale: false)
      let opening = AccountOpening(day: opened, balances: [], booked: [])
      return AccountHoldings(
        account: account, held: HeldAccount(opening: opening, prices: [symbol: price])
      ).revalued(in: state)
    }
    #expect(revalued(openedOn: day)?.held.prices[symbol]?.last == Self.price)
    #expect(revalued(openedOn: day.advanced(by: -1)) == nil)
  }

  @Test("an account's cash, holdings and equity are of one moment")
  func oneMoment() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let service = try #require(fixture.parts.users).trading
    let identity = Principal.Identity(tokenID: 1, userID: 1, scopes: [.account])
    let account = try await service.account(nil, of: identity)
    let id = try await fixture.buy(100, limit: "10.01")
    try await fixture.broker.fill(id, quantity: 100, price: Self.price)
    let answer = try await TradingRoutes(service: service).valued(account)
    let json = try JSONSerialization.jsonObject(with: Data(answer.body.readableBytesView))
    let whole = try #require(json as? [String: Any])
    func decimal(_ text: Any?) throws -> ExactDecimal {
      try ExactDecimal(try #require(text as? String))
    }
    let balance = try decimal((whole["account"] as? [String: Any])?["balance"])
    #expect(balance != (try account.available + account.frozen))
    #expect(try balance + decimal(whole["marketValue"]) == decimal(whole["equity"]))
  }

  @Test("a bonus and a dividend that are booked change the day's profit by nothing")
  func exDayProfit() throws {
    let day = StoreSamples.day
    let symbol = StoreSamples.symbol(0)
    let price = StoredPrice(
      day: day, last: ExactDecimal(units: 760, scale: 2),
      previousClose: ExactDecimal(units: 760, scale: 2), yesterdayClose: ExactDecimal(10),
      isStale: false)
    // 3 per 10 and 0.12: 10.00 becomes 7.60.
    let record = HoldingRecord(
      symbol: symbol, quantity: ExactDecimal(1_300), bought: ExactDecimal(1_300),
      paid: ExactDecimal(9_000), gainedToday: ExactDecimal(300), spentToday: ExactDecimal(-120),
      isActionBooked: true)
    #expect(try ValuedHolding(record, books: [:], price: price).profitToday.description == "0.00")
    let opening = AccountOpening(
      day: day,
      balances: [
        DayBalance(
          day: day.advanced(by: -1), unit: .cash, balance: ExactDecimal(5),
          paidIn: ExactDecimal(4)),
        DayBalance(
          day: day.advanced(by: -1), unit: .shares(symbol), balance: ExactDecimal(1_000),
          paidIn: .zero),
      ], booked: [symbol])
    let before = try opening.value(at: [symbol: price])
    #expect(before.equity == ExactDecimal(10_005) && before.paidIn == ExactDecimal(4))
    var unbooked = opening
    unbooked.booked = []
    #expect(try unbooked.value(at: [symbol: price]).equity == ExactDecimal(7_605))
  }

  @Test("a holding has triggers of its own, in its account alone, and they stay when it is sold")
  func triggers() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let other = try await fixture.ask(.post, "/v1/accounts", #"{"name":"b","market":"A"}"#)
    let id = try await fixture.buy(100, limit: "10.01")
    try await fixture.broker.fill(id, quantity: 100, price: Self.price)
    let path = "/v1/portfolio/600000.SH/triggers"
    func shown() async throws -> [String?] {
      let portfolio = try await fixture.ask(.get, "/v1/portfolio")
      #expect(portfolio.count("stocks") == 1, "\(portfolio)")
      return [portfolio.text("stocks.0.low"), portfolio.text("stocks.0.high")]
    }
    #expect(try await shown() == [nil, nil])
    let set = try await fixture.ask(.put, path, #"{"low":"9.50","high":"10.500"}"#)
    #expect(set.status == 204 && set.body.isEmpty, "\(set)")
    #expect(try await shown() == ["9.50", "10.500"])
    let elsewhere = "\(path)?account=\(try #require(other.text("id")))"
    #expect(try await fixture.ask(.put, elsewhere, #"{"low":"1"}"#).status == 204)
    #expect(try await shown() == ["9.50", "10.500"])
    for (body, status, field) in [
      (#"{"low":"0"}"#, 422, "low"), (#"{"high":"-1"}"#, 422, "high"),
      (#"{"high":"much"}"#, 422, "high"), (#"{"low":1}"#, 400, "low"),
      (#"{"low":"2","high":"1"}"#, 422, nil),
    ] as [(String, Int, String?)] {
      let reply = try await fixture.ask(.put, path, body)
      #expect(reply.status == status && reply.text("errors.0.field") == field, "\(body) \(reply)")
    }
    #expect(try await shown() == ["9.50", "10.500"])
    #expect(try await fixture.ask(.put, path, #"{"high":"11"}"#).status == 204)
    #expect(try await shown() == [nil, "11"])
    #expect(try await fixture.ask(.put, path, "{}").status == 204)
    #expect(try await shown() == [nil, nil])
    let unknown = try await fixture.ask(.put, "/v1/portfolio/sh609999/triggers", "{}")
    #expect(unknown.status == 404 && unknown.text("code") == "unknown_symbol")
    let unheld = try await fixture.ask(.put, "/v1/portfolio/sh600001/triggers", #"{"low":"1"}"#)
    #expect(unheld.status == 204)
    #expect(try await shown() == [nil, nil])
  }

  @Test("a reference price that is not yesterday's close marks what was held before")
  func exDay() throws {
    let day = StoreSamples.day
    let symbol = StoreSamples.symbol(0)
    func holding(bought: Int64, close: Int64, isBooked: Bool = false) throws -> ValuedHolding {
      let record = HoldingRecord(
        symbol: symbol, quantity: ExactDecimal(200), bought: ExactDecimal(200),
        paid: ExactDecimal(2_000), gainedToday: ExactDecimal(bought), spentToday: .zero,
        isActionBooked: isBooked)
      let price = StoredPrice(
        day: day, last: Self.price, previousClose: ExactDecimal(10),
        yesterdayClose: ExactDecimal(close), isStale: false)
      return try ValuedHolding(record, books: [:], price: price)
    }
    #expect(try holding(bought: 0, close: 11).isActionMissing)
    #expect(try !holding(bought: 0, close: 10).isActionMissing)
    #expect(try !holding(bought: 200, close: 11).isActionMissing)
    #expect(try !holding(bought: 0, close: 11, isBooked: true).isActionMissing)
    #expect(try holding(bought: 0, close: 10).profitToday.description == "2.00")
  }

  @Test("the value of each day is cash and shares at its close, and profit leaves deposits out")
  func history() throws {
    let first = StoreSamples.day
    let symbol = StoreSamples.symbol(0)
    func balance(_ day: Int, _ unit: LedgerUnit, _ amount: Int64, paid: Int64 = 0) -> DayBalance {
      DayBalance(
        day: first.advanced(by: day), unit: unit, balance: ExactDecimal(amount),
        paidIn: ExactDecimal(paid))
    }
    let history = PortfolioHistory(
      [
        balance(0, .cash, 1_000, paid: 1_000), balance(1, .cash, 500, paid: 1_000),
        balance(1, .shares(symbol), 50), balance(3, .cash, 600, paid: 1_100),
      ],
      closes: [
        symbol: [
          first.advanced(by: 0): ExactDecimal(9), first.advanced(by: 1): ExactDecimal(11),
          first.advanced(by: 2): ExactDecimal(12),
        ]
      ])
    let last = first.advanced(by: 3)
    let days = try history.days(from: first, through: last)
    #expect(days.map(\.equity) == [1_000, 1_050, 1_100, 1_200].map { ExactDecimal($0) })
    #expect(days.map(\.profit) == [0, 50, 100, 100].map { ExactDecimal($0) })
    #expect(try history.days(from: first.advanced(by: 2), through: last).count == 2)
    let earlier = try history.days(from: first, through: first.advanced(by: 2))
    #expect(earlier == Array(days.prefix(3)))
    let unpriced = PortfolioHistory(
      [balance(0, .cash, 9, paid: 9), balance(1, .shares(symbol), 1)], closes: [:])
    #expect(try unpriced.days(from: first, through: last).map(\.day) == [first])
  }

  @Test("a purchase at limit-up is armed with its triggers, shown, and disarmed")
  func purchases() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let body = """
      {"stockSymbol":"600000.SH","quantity":"300","window":{"from":"09:30","to":"14:57"},
      "triggers":[{"kind":"atLimitUp"},{"kind":"withinPercentOfLimitUp","value":"0.5"},
      {"kind":"sealedForSeconds","value":"30"},{"kind":"queueAtMost","value":"1000"},
      {"kind":"queueWorthAtMost","value":"5000.50"},{"kind":"resealed"}],"carriesOver":true}
      """
    let made = try await fixture.ask(.post, "/v1/queue-purchases", body)
    #expect(made.status == 201 && made.text("state") == "armed", "\(made)")
    let kinds = (0..<6).map { made.text("triggers.\($0).kind") ?? "" }
    #expect(kinds == QueueTrigger.allCases.map(\.rawValue))
    #expect(made.text("triggers.1.value") == "0.5" && made.text("triggers.4.value") == "5000.5")
    #expect(made.text("window.to") == "14:57" && made.text("carriesOver") == "1")
    let id = try #require(made.text("id"))
    let open = try await fixture.ask(.get, "/v1/queue-purchases")
    #expect(open.count("queuePurchases") == 1 && open.text("queuePurchases.0.id") == id)
    let gone = try await fixture.ask(.delete, "/v1/queue-purchases/\(id)")
    #expect(gone.text("state") == "cancelled", "\(gone)")
    #expect(try await fixture.ask(.get, "/v1/queue-purchases").count("queuePurchases") == 0)
    let all = try await fixture.ask(.get, "/v1/queue-purchases?status=all")
    #expect(all.count("queuePurchases") == 1)
    for (trigger, status) in [
      (#"{"kind":"queueAtMost"}"#, 400), (#"{"kind":"sometimes"}"#, 400),
      (#"{"kind":"withinPercentOfLimitUp","value":"30"}"#, 400), ("", 400),
    ] {
      let wrong = #"{"stockSymbol":"sh600000","quantity":"100","triggers":[\#(trigger)]}"#
      #expect(try await fixture.ask(.post, "/v1/queue-purchases", wrong).status == status)
    }
  }

  @Test("what stands before an order is at most what its price shows, and nothing once it filled")
  func queuePlaces() throws {
    func place(
      _ limit: String, _ bids: [(String, Int64)], basis: String? = nil, second: Int32 = 1,
      ahead: Int64? = nil
    ) throws -> String? {
      let at = Timestamp(seconds: 1)
      // In Shanghai it is eight hours later.
      var quote = Quote(
        symbol: StoreSamples.symbol(0), tradingDay: TradingDay(daysSince1970: 0),
        secondOfDay: 8 * 3_600 + second)
      for (level, bid) in bids.enumerated() {
        quote.bids[level] = BookLevel(
          price: try ExactDecimal(bid.0), volume: ExactDecimal(bid.1))
      }
      let order = Order(
        id: 1, account: 1, symbol: StoreSamples.symbol(0), side: .buy, kind: .limit,
        quantity: ExactDecimal(100), limit: try ExactDecimal(limit))
      let execution = basis.map {
        OrderExecution(
          quantity: ExactDecimal(1), amount: ExactDecimal(1), turnover: ExactDecimal(1),
          fees: .zero, lastAt: at, possible: nil,
          evidence: "model=certain/1 basis=\($0) side=buy after=2026-07-06/34200/1")
      }
      var record = OrderRecord(
        order: order, state: .accepted, key: "k", queuePurchaseID: nil,
        tradingDay: StoreSamples.day, acceptedAt: at, updatedAt: at, filled: .zero,
        execution: execution)
      record.ahead = ahead
      let place = QueuePlace(record, stock: EncodedStock(quote))
      return place.aheadMax.map { "\($0)" + (place.behindMin.map { " \($0)" } ?? "") }
    }
    let book = [("10.05", 500), ("10.04", 400), ("10.03", 3), ("10.02", 2), ("10.00", 1)]
      .map { ($0.0, Int64($0.1)) }
    #expect(try place("10.04", book) == "400 0")
    #expect(try place("10.04", book, second: 0) == nil, "a book from before the order")
    #expect(try place("10.06", book) == "0 0")
    #expect(try place("10.01", book) == "0 0")
    #expect(try place("9.99", book) == nil)
    #expect(try place("9.99", Array(book.prefix(2))) == "0 0")
    #expect(try place("10.04", book, basis: "passive") == "0 400")
    #expect(try place("10.04", book, basis: "book") == "400 0")
    #expect(try place("10.05", book, ahead: 120) == "120 380", "the broker's bound is closer")
    #expect(try place("10.05", book, ahead: 900) == "500 0")
    #expect(try place("10.05", book, second: 0, ahead: 120) == "120")
  }
}
