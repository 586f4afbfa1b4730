import AppStore
import Foundation
import HTTPTypes
import Market
import PaperTrading
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// Which account Alpaca's API is for, what happened to it, and what it was worth.
@Suite(.ownThread) struct AlpacaAccountTests {
  @Test("the API and its stream are for the first account of the mainland, else for the first")
  func mainAccount() async throws {
    let fixture = try await TradingFixture()
    func make(_ name: String, market: String) async throws {
      let body = #"{"name":"\#(name)","market":"\#(market)"}"#
      #expect(try await fixture.ask(.post, "/v1/accounts", body).status == 201)
    }
    try await make("dollars", market: "US")
    let only = try await fixture.ask(.get, "/v2/account")
    #expect(only.text("id") == AlpacaID.account.text(1) && only.text("currency") == "USD")
    try await make("yuan", market: "A")
    try await make("more", market: "A")
    let main = try await fixture.ask(.get, "/v2/account")
    #expect(main.text("id") == AlpacaID.account.text(2) && main.text("currency") == "CNY")
    for account in [2, 3] {
      _ = try await fixture.ask(
        .post, "/v1/account/deposits?account=\(account)", #"{"amount":"5000","type":"bank"}"#)
      for (quantity, status) in [(100, 201), (900_000, 403)] {
        let order = """
          {"stockSymbol":"sh600000","side":"buy","type":"limit","quantity":"\(quantity)",
          "limitPrice":"10.00"}
          """
        let sent = try await fixture.ask(.post, "/v1/orders?account=\(account)", order)
        #expect(sent.status == status, "\(sent)")
      }
    }
    let table = OutboxTable(
      try AppConnection(url: fixture.served.gateway.options.databaseURL, application: "test"))
    let rows = try table.rows(after: 0, limit: 50)
    let (updates, refusals) = (try table.updates(rows).values, try table.refusals(rows).values)
    #expect(Set(updates.map(\.order.order.account)) == [2, 3] && refusals.count == 2)
    #expect(updates.allSatisfy { $0.isOfMainAccount == ($0.order.order.account == 2) })
    #expect(refusals.allSatisfy { $0.isOfMainAccount == ($0.record.order.account == 2) })
    let orders = try await fixture.ask(.get, "/v2/orders?status=all")
    #expect(orders.body.split(separator: "client_order_id").count == 2, "\(orders)")
  }

  @Test("an order waits for its session as accepted, and then is new")
  func waiting() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let id = try await fixture.buy(100, limit: "9.00")
    let path = "/v2/orders/\(AlpacaID.order.text(id))"
    #expect(try await fixture.ask(.get, path).text("status") == "new")
    // The broker took it at 10:00, when the market was open.
    let memory = fixture.served.gateway.memory
    var state = memory.state
    state.knownAt = Timestamp(day: StoreSamples.day, secondOfDay: 35_000)
    memory.publish(state)
    #expect(try await fixture.ask(.get, path).text("status") == "accepted")
    #expect(try await fixture.ask(.get, "/v2/orders").body.contains(#""status":"accepted""#))
  }

  @Test("an order that was replaced and the one in its place name each other")
  func replaced() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let first = AlpacaID.order.text(try await fixture.buy(100, limit: "9.00"))
    let second = try await fixture.ask(.patch, "/v2/orders/\(first)", #"{"limit_price":9.10}"#)
    let next = try #require(second.text("id"))
    #expect(second.text("replaces") == first && second.text("replaced_by") == nil)
    let third = try await fixture.ask(.patch, "/v2/orders/\(next)", #"{"limit_price":9.20}"#)
    #expect(third.text("replaces") == next)
    let middle = try await fixture.ask(.get, "/v2/orders/\(next)")
    #expect(middle.text("replaces") == first && middle.text("replaced_by") == third.text("id"))
    // One that is refused takes no order's place.
    let refused = try await fixture.ask(
      .patch, "/v2/orders/\(third.text("id") ?? "")", #"{"qty":900000}"#)
    #expect(refused.status == 403, "\(refused)")
    let list = try await fixture.ask(.get, "/v2/orders?status=all&direction=asc")
    let orders = try JSONSerialization.jsonObject(with: Data(list.body.utf8)) as? [[String: Any]]
    #expect(orders?.map { $0["replaced_by"] as? String } == [next, third.text("id"), nil])
  }

  // MARK: Activities

  private func types(_ fixture: TradingFixture, _ query: String) async throws -> [String] {
    let reply = try await fixture.ask(.get, "/v2/account/activities\(query)")
    #expect(reply.status == 200, "\(query) \(reply)")
    let rows = try JSONSerialization.jsonObject(with: Data(reply.body.utf8)) as? [[String: Any]]
    return rows?.compactMap { $0["activity_type"] as? String } ?? []
  }

  @Test("activities are chosen by type and time, in both directions, page by page")
  func activities() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let id = try await fixture.buy(100, limit: "10.00")
    try await fixture.broker.fill(id, quantity: 100, price: ExactDecimal(10))
    _ = try await fixture.ask(.post, "/v1/account/withdrawals", #"{"amount":"1.00"}"#)
    let all = ["CSW", "FILL", "CSD"]
    // Everything is of 10:00 of that day.
    let cases: KeyValuePairs = [
      "": all, "?direction=asc": all.reversed(), "?activity_types=CSD,FILL": ["FILL", "CSD"],
      "?activity_types=FEE": [], "?activity_types=FEE,CSD": ["CSD"], "/FEE": [], "/CSW": ["CSW"],
      "?date=2026-07-06": all, "?date=2026-07-06T23:00:00%2B08:00": all, "?date=2026-07-05": [],
      "?date=2026-07-07": [], "?after=2026-07-06": all, "?until=2026-07-06": [],
      "?after=2026-07-06T10:00:00%2B08:00": [], "?until=2026-07-06T10:00:00%2B08:00": [],
      "?after=2026-07-06T01:59:59Z&until=2026-07-06T02:00:01Z": all,
      "?date=2026-07-06&after=2026-07-01&until=2026-07-09": all,
      "?date=2026-07-06&after=2026-07-06T10:00:00%2B08:00": [],
    ]
    for (query, expected) in cases {
      #expect(try await types(fixture, query) == expected, "\(query)")
    }
    for direction in ["asc", "desc"] {
      var (found, token) = ([String](), "")
      for _ in 0..<4 {
        let page = try await fixture.ask(
          .get, "/v2/account/activities?page_size=1&direction=\(direction)\(token)")
        let rows = try JSONSerialization.jsonObject(with: Data(page.body.utf8)) as? [[String: Any]]
        guard let row = rows?.first, let id = row["id"] as? String else { break }
        found.append(row["activity_type"] as? String ?? "")
        token = "&page_token=\(id)"
      }
      #expect(found == (direction == "asc" ? all.reversed() : all), "\(direction)")
    }
    for query in ["FILL,INT", "fill", "FILL,"] {
      let reply = try await fixture.ask(.get, "/v2/account/activities?activity_types=\(query)")
      #expect(reply.status == 400 && reply.text("code") == "40010001", "\(query) \(reply)")
      let expected = "activity_types: expected some of FILL, CSD, CSW"
      #expect(reply.text("message")?.contains(expected) == true, "\(reply)")
    }
  }

  // MARK: History

  private static let today = StoreSamples.day

  private static func range(_ values: [String: String]) -> [String] {
    let range = AlpacaHistoryRange(
      Arguments(values, body: []), today: today, zone: .shanghai)
    return [range.first, range.last].map(\.description)
  }

  @Test("a history is of a period, or from a start, or until an end")
  func ranges() {
    let cases: [([String: String], [String])] = [
      ([:], ["2026-06-05", "2026-07-06"]), (["period": "1W"], ["2026-06-29", "2026-07-06"]),
      (["start": "2026-03-02"], ["2026-03-02", "2026-07-06"]),
      (["start": "2026-03-01T18:00:00Z"], ["2026-03-02", "2026-07-06"]),
      (["start": "2026-03-02", "period": "2D"], ["2026-03-02", "2026-03-04"]),
      (["start": "2026-07-01", "period": "1A"], ["2026-07-01", "2026-07-06"]),
      (["end": "2026-05-29"], ["2026-04-28", "2026-05-29"]),
      (["end": "2027-01-01", "period": "1D"], ["2026-07-05", "2026-07-06"]),
      (["date_end": "2026-05-29", "period": "1W"], ["2026-05-22", "2026-05-29"]),
      (["start": "2026-03-02", "end": "2026-03-06"], ["2026-03-02", "2026-03-06"]),
      (["end": "2026-05-29", "date_end": "2026-06-29"], ["2026-04-28", "2026-05-29"]),
      (
        ["start": "2026-03-02", "end": "2026-05-29", "period": "1D"], ["2026-03-02", "2026-05-29"]
      ), (["start": "2026-06-02", "date_end": "2026-05-29"], ["2026-06-02", "2026-05-29"]),
    ]
    for (values, expected) in cases { #expect(Self.range(values) == expected, "\(values)") }
  }

  @Test("a history begins with the account, ends where it is wanted, and is not cut")
  func history() async throws {
    let fixture = try await TradingFixture(hasBroker: false, commandMilliseconds: 10)
    // The account is older than what one answer holds.
    let old = try StandInBroker(
      fixture.served.database, day: StoreSamples.day.advanced(by: -800))
    try await fixture.fund()
    try await old.execute()
    func ask(_ query: String) async throws -> Reply {
      try await fixture.ask(.get, "/v2/account/portfolio/history?\(query)")
    }
    let whole = try await ask("period=5A")
    #expect(whole.status == 422 && whole.text("message")?.contains("750 days") == true, "\(whole)")
    let years = try await ask("period=2A")
    #expect(years.status == 200 && years.text("timeframe") == "1D", "\(years)")
    let first = try await ask("start=2024-01-01&end=2024-06-01")
    #expect(first.body.contains(#""equity":[1000000.00]"#), "\(first)")
    #expect(try await ask("end=2024-01-01").count("equity") == 0)
    #expect(try await ask("start=2026-06-02&end=2026-05-29").count("equity") == 0)
    let whatever = "extended_hours=True&pnl_reset=no_reset&intraday_reporting=continuous"
    #expect(try await ask("\(whatever)&cashflow_types=NONE").status == 200)
    for (name, served) in [("timeframe", "1D"), ("cashflow_types", "NONE")] {
      let reply = try await ask("\(name)=1H")
      #expect(reply.status == 400 && reply.text("code") == "40010001", "\(reply)")
      let expected = "\(name): expected one of \(served), found 1H"
      #expect(reply.text("message")?.contains(expected) == true, "\(reply)")
    }
  }
}
