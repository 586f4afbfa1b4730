import Foundation
import HTTPTypes
import Market
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// Closing what is held, and the names of orders that have ended.
@Suite(.ownThread) struct AlpacaClosingTests {
  /// Alice holds `sellable` shares of yesterday, and `today` that were bought today.
  private static func fixture(
    sellable: Int, today: Int, _ symbol: String = "sh600000"
  ) async throws -> TradingFixture {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    try await buy(sellable, symbol, on: fixture)
    try await fixture.broker.settle(1)
    try await buy(today, symbol, on: fixture)
    return fixture
  }

  private static func buy(
    _ quantity: Int, _ symbol: String, on fixture: TradingFixture
  ) async throws {
    if quantity == 0 { return }
    let id = try await fixture.buy(quantity, limit: "10.02", symbol)
    try await fixture.broker.fill(id, quantity: Int64(quantity), price: ExactDecimal(10))
  }

  @Test("a position is closed as far as it may be sold today, else the refusal has what there is")
  func sellable() async throws {
    let fixture = try await Self.fixture(sellable: 300, today: 200)
    let sold = try await fixture.ask(.delete, "/v2/positions/sh600000")
    #expect(sold.status == 200 && sold.text("qty") == "300", "\(sold)")
    let left = try await fixture.ask(.delete, "/v2/positions/sh600000")
    #expect(left.status == 403 && left.text("code") == "40310000", "\(left)")
  }

  @Test(
    "a percentage goes down to lots, and to no more than may be sold",
    arguments: [
      // Held yesterday, bought today, percentage, sold.
      (300, 0, "50", "100"), (300, 0, "99.999999", "200"), (300, 0, "100", "300"),
      (300, 200, "50", "200"), (300, 200, "80", "300"), (350, 0, "100", "350"),
      (350, 0, "90", "300"), (300, 0, "33.333334", "100"),
    ])
  func percentages(held: Int, today: Int, percentage: String, expected: String) async throws {
    let fixture = try await Self.fixture(sellable: held, today: today)
    let sold = try await fixture.ask(
      .delete, "/v2/positions/sh600000?percentage=\(percentage)")
    #expect(sold.status == 200 && sold.text("qty") == expected, "\(sold)")
  }

  @Test("a percentage below a lot, above all of it, or beside a quantity is refused by its name")
  func refusedPercentages() async throws {
    let fixture = try await Self.fixture(sellable: 300, today: 0)
    for query in ["percentage=33", "percentage=100.1", "percentage=50&qty=100"] {
      let reply = try await fixture.ask(.delete, "/v2/positions/sh600000?\(query)")
      #expect(reply.status == 422, "\(query) \(reply)")
      #expect(reply.text("message")?.contains("percentage") == true, "\(query) \(reply)")
    }
  }

  @Test("all positions are closed but the one that cannot be")
  func all() async throws {
    let fixture = try await Self.fixture(sellable: 0, today: 100)
    for symbol in ["sh600001", "sh600002"] { try await Self.buy(100, symbol, on: fixture) }
    try await fixture.broker.settle(1)
    try await Self.buy(300, "sh600000", on: fixture)
    _ = try await fixture.ask(.delete, "/v2/positions/sh600000")
    let closed = try await fixture.ask(.delete, "/v2/positions?cancel_orders=true")
    let rows = try JSONSerialization.jsonObject(with: Data(closed.body.utf8)) as? [[String: Any]]
    let pairs = rows?.map { ($0["symbol"] as? String ?? "", $0["status"] as? Int ?? 0) } ?? []
    #expect(closed.status == 207, "\(closed)")
    #expect(
      Dictionary(uniqueKeysWithValues: pairs)
        == ["sh600000": 403, "sh600001": 200, "sh600002": 200])
  }

  @Test("the name of an order that lives is that order again; of one that has ended it is refused")
  func names() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let body =
      #"{"symbol":"sh600000","side":"buy","type":"limit","time_in_force":"day","qty":100,"#
      + #""limit_price":9,"client_order_id":"a1"}"#
    let first = try await fixture.ask(.post, "/v2/orders", body)
    let again = try await fixture.ask(.post, "/v2/orders", body)
    #expect(again.status == 200 && again.text("id") == first.text("id"), "\(again)")
    let other = try await fixture.ask(
      .post, "/v2/orders", body.replacing(#""qty":100"#, with: #""qty":200"#))
    #expect(other.status == 422 && other.text("message")?.contains("must be unique") == true)
    let id = try #require(first.text("id"))
    #expect(try await fixture.ask(.delete, "/v2/orders/\(id)").status == 204)
    let ended = try await fixture.ask(.post, "/v2/orders", body)
    #expect(ended.status == 422 && ended.text("code") == "42210000", "\(ended)")
    #expect(ended.text("message")?.contains("client_order_id must be unique") == true)
    let next = try await fixture.ask(
      .post, "/v2/orders", body.replacing(#""a1""#, with: #""a2""#))
    let replaced = try await fixture.ask(
      .patch, "/v2/orders/\(next.text("id") ?? "")",
      #"{"limit_price":9.1,"client_order_id":"a1"}"#)
    #expect(replaced.status == 422, "\(replaced)")
  }

  @Test("the stamp of a day of the account's history is on that day in UTC")
  func stamps() async throws {
    let fixture = try await Self.fixture(sellable: 100, today: 0)
    let history = try await fixture.ask(.get, "/v2/account/portfolio/history?period=1W")
    let stamps = try #require(try history.json["timestamp"] as? [Int])
    let days = stamps.map { MarketZone.utc.day(at: Timestamp(seconds: Int64($0))) }
    #expect(days == [StoreSamples.day], "\(history)")
    let own = try await fixture.ask(.get, "/v1/portfolio/history")
    #expect(own.text("days.0.day") == "\(StoreSamples.day)")
  }
}
