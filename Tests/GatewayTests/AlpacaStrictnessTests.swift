import Foundation
import HTTPTypes
import Market
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// Nothing that a client sends is dropped without a word, at any door.
@Suite(.ownThread) struct AlpacaStrictnessTests {
  private static let market =
    #"{"symbol":"sh600000","side":"buy","type":"market","time_in_force":"day","qty":100"#
  private static let limit =
    #"{"symbol":"sh600000","side":"buy","type":"limit","time_in_force":"day","qty":100,"#
    + #""limit_price":9"#

  @Test(
    "a member of an order that is not carried out is refused by its name",
    arguments: [
      (market, "take_profit", #"{"limit_price":12}"#),
      (market, "stop_loss", #"{"stop_price":9}"#),
      (market, "legs", #"[{"symbol":"sh600000","ratio_qty":1}]"#),
      (market, "position_intent", #""sell_to_open""#),
      (market, "position_intent", #""sell_to_close""#),
      (market, "order_class", #""bracket""#), (market, "extended_hours", "true"),
      (market, "notional", "100"), (market, "trail_percent", "1"), (market, "limit_price", "9"),
      (limit, "stop_price", "9"), (limit, "trail_price", "0.1"), (limit, "limit_prise", "9"),
    ])
  func refused(order: String, member: String, value: String) async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let reply = try await fixture.ask(.post, "/v2/orders", "\(order),\"\(member)\":\(value)}")
    #expect(reply.status == 422 && reply.text("code") == "42210000", "\(reply)")
    #expect(reply.text("message")?.contains(member) == true, "\(reply)")
    #expect(try await fixture.ask(.get, "/v2/orders?status=all").body == "[]")
  }

  @Test("members without effect are taken with the values that mean so")
  func neutral() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    let neutral = [
      "", #","order_class":"simple","extended_hours":false"#,
      #","order_class":"","position_intent":"buy_to_open","client_order_id":null"#,
      #","take_profit":null,"stop_loss":null,"legs":null,"notional":null,"stop_price":null"#,
    ]
    for members in neutral {
      let reply = try await fixture.ask(.post, "/v2/orders", "\(Self.limit)\(members)}")
      #expect(reply.status == 200 && reply.text("limit_price")?.first == "9", "\(members) \(reply)")
    }
    let immediate = Self.market.replacing(#""day""#, with: #""ioc""#)
    let filled = try await fixture.ask(.post, "/v2/orders", immediate + "}")
    #expect(filled.status == 200 && filled.text("time_in_force") == "day", "\(filled)")
    let settings = try await fixture.ask(.get, "/v2/account/configurations").body
    for (body, status) in [
      ("", 200), ("{}", 200), (settings, 200), (#"{"dtbp_check":null}"#, 200),
      (#"{"no_shorting":false}"#, 422), (#"{"pdt_check":"both"}"#, 422),
    ] {
      let reply = try await fixture.ask(.patch, "/v2/account/configurations", body)
      #expect(reply.status == status, "\(body) \(reply)")
    }
  }

  @Test("our own order has the prices of its kind, and no other")
  func ownPrices() async throws {
    let fixture = try await TradingFixture(hasBroker: false, commandMilliseconds: 10)
    _ = try await fixture.ask(.post, "/v1/accounts", #"{"name":"a","market":"A"}"#)
    let cases = [
      ("limit", #""limitPrice":"9","stopPrice":"8""#, "stopPrice"),
      ("market", #""stopPrice":"8""#, "stopPrice"),
      ("stop", #""limitPrice":"9","stopPrice":"8""#, "limitPrice"),
    ]
    for (type, prices, field) in cases {
      let reply = try await fixture.ask(
        .post, "/v1/orders",
        #"{"stockSymbol":"sh600000","side":"buy","type":"\#(type)","quantity":"100",\#(prices)}"#)
      #expect(reply.status == 400 && reply.text("errors.0.field") == field, "\(type) \(reply)")
    }
    for (type, prices) in [
      ("limit", #""limitPrice":"9","stopPrice":null"#), ("market", #""limitPrice":"9""#),
    ] {
      let reply = try await fixture.ask(
        .post, "/v1/orders",
        #"{"stockSymbol":"sh600000","side":"buy","type":"\#(type)","quantity":"100",\#(prices)}"#)
      #expect(reply.status == 202, "\(type) \(reply)")
    }
  }

  @Test("a member, an argument or a body that a route does not know is refused by each route")
  func everyRoute() async throws {
    let fixture = try await TradingFixture(hasBroker: false, commandMilliseconds: 10)
    try await fixture.fund()
    for route in fixture.table.routes where route.isAPI && !route.isStream {
      let required = route.parameters.filter { $0.place == .query && $0.isRequired }
        .map { "\($0.name)=\($0.example)" }
      let path = route.path.replacing(#/\{\w+\}/#, with: "1")
      let name = "\(route.method) \(route.path)"
      let asked = try await fixture.ask(
        route.method, "\(path)?\((required + ["strange=1"]).joined(separator: "&"))")
      #expect(asked.status == 400 && asked.body.contains("strange"), "\(name) \(asked)")
      guard route.method != .get else { continue }
      let query = required.isEmpty ? "" : "?\(required.joined(separator: "&"))"
      let sent = try await fixture.ask(route.method, path + query, #"{"strange":1}"#)
      // What a user's own preferences hold is the user's.
      if route.path == "/v1/preferences" { continue }
      let expected = route.door?.refusal.code ?? 400
      #expect(
        [expected, 400].contains(sent.status)
          && (sent.body.contains("strange") || sent.body.contains("body")), "\(name) \(sent)")
    }
  }

  @Test("prices in another currency than the instrument's are refused, and its own is taken")
  func currency() async throws {
    let fixture = try await ServedFixture(fill: AlpacaSamples.fill)
    let bars = "/v2/stocks/bars/latest?symbols="
    for (query, status) in [
      ("AAPL&currency=USD", 200), ("sh600000&currency=cny", 200), ("AAPL,sh600000", 200),
      ("AAPL,sh600000&currency=USD", 422), ("sh600000&currency=EUR", 422),
    ] {
      let reply = try await fixture.get(bars + query)
      #expect(reply.status == status, "\(query) \(reply)")
    }
  }

  // MARK: Lists

  @Test("blanks around the items of a list are no part of them, and no item is left out")
  func lists() async throws {
    let fixture = try await WholeGateway()
    let stocks = try await fixture.ask("/v1/stocks?symbols=sh600000,%20sh600001%20,+no").json
    #expect((stocks["stocks"] as? [Any])?.count == 2 && stocks["unknown"] as? [String] == ["no"])
    let quotes = try await fixture.ask("/udf/quotes?symbols=sh600000,%20600001.SH,%20no").json
    let rows = quotes["d"] as? [[String: Any]] ?? []
    #expect(rows.map { $0["n"] as? String } == ["sh600000", "600001.SH", "no"])
    #expect(rows.map { $0["s"] as? String } == ["ok", "ok", "error"])
    let bars = try await fixture.ask(
      "/v2/stocks/bars?symbols=sh600000,%20sh600001&timeframe=1Min&start=2026-07-06"
    ).json
    #expect((bars["bars"] as? [String: Any])?.keys.sorted() == ["sh600000", "sh600001"])
    for wrong in ["a,,b", "a,%20,b", "a,", "%20"] {
      #expect(try await fixture.ask("/v1/stocks?symbols=\(wrong)").status == 400, "\(wrong)")
    }
    let trading = try await TradingFixture()
    try await trading.fund()
    let path = "/v2/account/activities?activity_types="
    #expect(try await trading.ask(.get, path + "FEE,%20CSD").body.contains("CSD"))
    #expect(try await trading.ask(.get, path + "FEE,%20CSX").status == 400)
    _ = try await trading.buy(100, limit: "9.00")
    let orders = try await trading.ask(.get, "/v2/orders?symbols=no,%20600000.SH")
    #expect(orders.body.contains(#""symbol":"sh600000""#), "\(orders)")
  }

  @Test("channels and symbols of an event stream are read like every list")
  func streamLists() {
    let arguments = Arguments(
      ["channels": "stock-prices, candles", "symbols": " sh600000 , AAPL"], body: [])
    #expect(arguments.list("channels") == ["stock-prices", "candles"])
    #expect(arguments.list("symbols") == ["sh600000", "AAPL"])
    for kind in [Parameter.Kind.list(countMax: 3), .choices(["a", "b", "c"])] {
      let parameter = Parameter("x", kind, summary: "")
      for text in ["a", "a,b", " a , b,c "] { #expect(parameter.fault(of: text) == nil, "\(text)") }
      for text in ["", " ", "a,", ",a", "a, ,b", "a,b,c,a"] {
        #expect(parameter.fault(of: text) != nil, "\(text)")
      }
    }
    #expect(Parameter("x", .choices(["a"]), summary: "").fault(of: "d") != nil)
  }
}
