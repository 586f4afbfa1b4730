import Foundation
import HTTPTypes
import Market
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// Alpaca's watchlists are the user's own, those of `/v1`.
@Suite(.ownThread) struct AlpacaWatchlistTests {
  private static let list = "/v2/watchlists/\(AlpacaID.watchlist.text(1))"

  private func symbols(_ reply: Reply) -> [String] {
    (0..<max(reply.count("assets"), 0)).compactMap { reply.text("assets.\($0).symbol") }
  }

  @Test("a list of one API is the same in the other, with its triggers")
  func shared() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    _ = try await fixture.ask(.post, "/v1/watchlists", #"{"name":"自选"}"#)
    _ = try await fixture.ask(.put, "/v1/watchlists/1/symbols/sh600001", #"{"low":"5.00"}"#)
    let found = try await fixture.ask(.get, Self.list, as: fixture.reader)
    #expect(found.text("id") == AlpacaID.watchlist.text(1) && symbols(found) == ["sh600001"])
    let account = try await fixture.ask(.get, "/v2/account").text("id")
    #expect(account != nil && found.text("account_id") == account)
    let asset = try await fixture.ask(.get, "/v2/assets/sh600001")
    #expect(found.body.contains(asset.body), "\(found)")

    // It keeps the user's order, and what is added again keeps its triggers.
    for symbol in ["sh600000", "600001.SH"] {
      let reply = try await fixture.ask(.post, Self.list, #"{"symbol":"\#(symbol)"}"#)
      #expect(symbols(reply) == ["sh600001", "sh600000"], "\(reply)")
    }
    let order = #"{"symbols":["sh600000","sh600002","sh600001"]}"#
    let ordered = try await fixture.ask(.put, Self.list, order, as: fixture.reader)
    #expect(symbols(ordered) == ["sh600000", "sh600002", "sh600001"])
    #expect(ordered.text("name") == "自选")
    let ours = try await fixture.ask(.get, "/v1/watchlists")
    #expect(ours.body.contains(#"{"symbol":"sh600001","low":"5.00"}"#), "\(ours)")
    let renamed = try await fixture.ask(.put, Self.list, #"{"name":"b"}"#)
    #expect(renamed.text("name") == "b" && symbols(renamed).count == 3)
    #expect(
      try #require(renamed.text("updated_at")) > (try #require(found.text("updated_at"))))
  }

  @Test("a symbol that is not listed any more stays in its list, as an inactive asset")
  func unlisted() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    _ = try await fixture.ask(.post, "/v2/watchlists", #"{"name":"a"}"#)
    try fixture.served.database.execute(
      "insert into candled_app.watchlist_item (watchlist_id, position, symbol) "
        + "values (1, 0, 'sh601999')")
    let found = try await fixture.ask(.get, Self.list)
    #expect(found.text("assets.0.symbol") == "sh601999", "\(found)")
    #expect(found.text("assets.0.status") == "inactive" && found.text("assets.0.tradable") == "0")
    #expect(UUID(uuidString: found.text("assets.0.id") ?? "") != nil)
    let removed = try await fixture.ask(.delete, Self.list + "/601999.SH")
    #expect(removed.status == 200 && symbols(removed).isEmpty, "\(removed)")
  }

  @Test("what cannot be done has Alpaca's codes, and another user's list is none")
  func refusals() async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    for name in ["a", "b"] {
      _ = try await fixture.ask(.post, "/v2/watchlists", #"{"name":"\#(name)"}"#)
    }
    _ = try await fixture.ask(
      .post, "/v1/accounts", #"{"name":"his","market":"A"}"#, as: fixture.bob)
    let other = "/v2/watchlists/\(AlpacaID.order.text(1))"
    let cases: [(HTTPRequest.Method, path: String, body: String?, code: Int)] = [
      (.post, "/v2/watchlists", #"{"name":"a"}"#, 40_910_000),
      (.post, "/v2/watchlists", #"{"symbols":[]}"#, 42_210_000),
      (.post, "/v2/watchlists", #"{"name":"c","symbols":["sh600009"]}"#, 40_410_000),
      (.post, "/v2/watchlists", #"{"name":"c","symbols":["sh600000","600000"]}"#, 42_210_000),
      (.post, "/v2/watchlists", "[]", 40_010_001), (.post, "/v2/watchlists", "{", 40_010_001),
      (.put, Self.list, #"{"name":"b"}"#, 40_910_000),
      (.put, Self.list, #"{"name":1}"#, 42_210_000),
      (.post, Self.list, #"{"symbol":"nothing"}"#, 40_410_000),
      (.delete, Self.list + "/nonsense!", nil, 40_410_000), (.get, other, nil, 40_410_000),
      (.put, other, #"{"name":"c"}"#, 40_410_000), (.delete, other, nil, 40_410_000),
      (.post, other, #"{"symbol":"sh600000"}"#, 40_410_000),
      (.delete, other + "/sh600000", nil, 40_410_000),
    ]
    for (method, path, body, code) in cases {
      let reply = try await fixture.ask(method, path, body)
      #expect(
        reply.text("code") == "\(code)" && reply.status == code / 100_000,
        "\(method) \(path) \(body ?? "") \(reply)")
    }
    for (method, body) in [
      (.get, nil), (.put, #"{"name":"c"}"#), (.post, #"{"symbol":"sh600000"}"#), (.delete, nil),
    ] as [(HTTPRequest.Method, String?)] {
      let reply = try await fixture.ask(method, Self.list, body, as: fixture.bob)
      #expect(reply.text("code") == "40410000", "\(method) \(reply)")
      let viewed = try await fixture.ask(method, Self.list, body, as: fixture.viewer)
      #expect(viewed.text("code") == "40310000", "\(method) \(viewed)")
    }
    let left = try await fixture.ask(.get, "/v1/watchlists")
    #expect(left.count("watchlists") == 2 && !left.body.contains("sh6"), "\(left)")
    #expect(try await fixture.ask(.delete, Self.list).status == 204)
    #expect(try await fixture.ask(.get, Self.list).status == 404)
  }
}
