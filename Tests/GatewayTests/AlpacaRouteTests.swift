import Foundation
import HTTPTypes
import Market
import NIOCore
import TestSupport
import TestTraits
import Testing

@testable import Gateway

@Suite(.ownThread) struct AlpacaRouteTests {
  private static let range = "start=2026-07-06&end=2026-07-07"

  @Test("each route of the door answers as on record")
  func golden() async throws {
    let fixture = try await ServedFixture(fill: AlpacaSamples.fill)
    let several = "symbols=sh600000,600001.SH,AAPL,nothing"
    let paths = [
      "alpaca-bars": "bars?\(several)&timeframe=15Min&\(Self.range)",
      "alpaca-one-bars": "AAPL/bars?timeframe=5Min&limit=3&\(Self.range)",
      "alpaca-days": "bars?\(several)&timeframe=1Day&start=2026-07-01&sort=desc",
      "alpaca-latest-bars": "bars/latest?\(several)&feed=iex",
      "alpaca-latest-quotes": "quotes/latest?\(several)&feed=sip",
      "alpaca-snapshots": "snapshots?\(several)",
    ]
    for (name, path) in paths {
      let reply = try await fixture.get("/v2/stocks/\(path)")
      #expect(reply.status == 200, "\(path) \(reply.body.prefix(200))")
      try GoldenAnswer.expect(reply.body, equals: name)
    }
    for (name, path) in [
      "alpaca-assets": "assets?status=active&asset_class=us_equity", "alpaca-asset": "assets/aapl",
      "alpaca-calendar": "calendar?start=2026-09-28&end=2026-10-12",
    ] {
      let reply = try await fixture.get("/v2/\(path)")
      #expect(reply.status == 200, "\(path) \(reply.body.prefix(200))")
      try GoldenAnswer.expect(reply.body, equals: name)
    }
  }

  @Test("what is wrong is said in Alpaca's format, and no trade or quote is made up")
  func errors() async throws {
    let fixture = try await ServedFixture(fill: AlpacaSamples.fill)
    let cases: [(path: String, code: Int, text: String)] = [
      ("stocks/bars?symbols=AAPL", 40_010_001, "timeframe: expected a value"),
      ("stocks/AAPL/bars?timeframe=60Min", 40_010_001, "found 60Min"),
      ("stocks/AAPL/bars?timeframe=1Min&page_token=MTI", 40_010_001, "page_token"),
      ("stocks/AAPL/bars?timeframe=1Min&page_token=MTIz", 40_410_000, "page"),
      ("stocks/AAPL/bars?timeframe=1Min&limit=10001", 40_010_001, "limit"),
      ("stocks/AAPK/bars?timeframe=1Min", 40_410_000, "nearest: AAPL"),
      ("stocks/trades/latest?symbols=AAPL", 40_410_000, "trades are not recorded"),
      ("assets/nothing", 40_410_000, "No instrument"), ("orders", 40_410_000, "nothing at"),
    ]
    for (path, code, text) in cases {
      let reply = try await fixture.get("/v2/\(path)")
      let error = try reply.json
      #expect(reply.status == code / 100_000, "\(path) \(reply.body)")
      #expect(error["code"] as? Int == code, "\(path) \(reply.body)")
      #expect((error["message"] as? String)?.contains(text) == true, "\(path) \(reply.body)")
      #expect(error.count == 2)
    }
    let factors = try await fixture.get(
      "/v2/stocks/sh600000/bars?timeframe=1Day&start=2026-07-01&adjustment=all")
    #expect(try factors.status >= 400 && factors.json["message"] is String)
    let posted = try await fixture.get("/v2/assets", method: .post)
    #expect(try posted.status == 405 && posted.json["code"] as? Int == 40_510_000)
  }

  @Test("numbers are the database's own text, digit by digit", arguments: ["sh600001", "AAPL"])
  func decimals(symbol: String) async throws {
    let fixture = try await AlpacaFixture()
    let path = "/v2/stocks/\(symbol)/bars?timeframe=1Min&\(Self.range)"
    let asked = AskedRequest(
      path: path, headers: [.authorization: "Bearer \(fixture.secret)"])
    let body = try await fixture.listen { port in try asked.answer(fromPort: port).body }
    let number = "([0-9.]+|null)"
    let pattern = try Regex(
      #"\{"t":"([^"]*)","o":\#(number),"h":\#(number),"l":\#(number),"c":\#(number),"#
        + #""v":\#(number),"n":\#(number),"vw":\#(number)\}"#)
    let served = body.matches(of: pattern).map { match in
      [1, 2, 3, 4, 5, 6, 8].map { match.output[$0].substring.map(String.init) }
    }
    let stored = try fixture.minutes(of: symbol).map { row in row.map { $0 ?? "null" } }
    #expect(served.map { $0.map { $0 ?? "" } } == stored && stored.count == 30)
  }

  @Test("pages hold every bar once, in order", arguments: ["asc", "desc"], [1, 7, 30, 61])
  func pages(order: String, limit: Int) async throws {
    let fixture = try await ServedFixture(fill: AlpacaSamples.fill)
    for timeframe in ["1Min", "5Min"] {
      let path =
        "/v2/stocks/bars?symbols=sh600002,AAPL,sh600000&timeframe=\(timeframe)&\(Self.range)"
        + "&sort=\(order)"
      var found: [String: [String]] = [:]
      var token: String?
      repeat {
        let next = token.map { "&page_token=\($0)" } ?? ""
        let page = try await fixture.get("\(path)&limit=\(limit)\(next)").json
        let bars = try #require(page["bars"] as? [String: [[String: Any]]])
        #expect(bars.values.reduce(0) { $0 + $1.count } <= limit)
        for (symbol, bars) in bars {
          found[symbol, default: []] += bars.compactMap { $0["t"] as? String }
        }
        token = page["next_page_token"] as? String
      } while token != nil
      let count = timeframe == "1Min" ? 30 : 6
      #expect(found.keys.sorted() == ["AAPL", "sh600000", "sh600002"])
      for times in found.values {
        #expect(times.count == count && Set(times).count == count)
        #expect(times == times.sorted(by: order == "asc" ? (<) : (>)))
      }
    }
  }

  @Test("the clock knows the lunch break, the night and the holidays")
  func clock() throws {
    let cases = [
      ("2026-07-06T09:29:59", false, "2026-07-06T09:30", "2026-07-06T11:30"),
      ("2026-07-06T09:30:00", true, "2026-07-06T13:00", "2026-07-06T11:30"),
      ("2026-07-06T11:30:00", false, "2026-07-06T13:00", "2026-07-06T15:00"),
      ("2026-07-06T14:59:59", true, "2026-07-07T09:30", "2026-07-06T15:00"),
      ("2026-07-10T15:00:00", false, "2026-07-13T09:30", "2026-07-13T11:30"),
      ("2026-10-01T10:00:00", false, "2026-10-08T09:30", "2026-10-08T11:30"),
    ]
    for (now, isOpen, opens, closes) in cases {
      let moment = try #require(Timestamp(rfc3339: now + "+08:00", zone: .shanghai))
      #expect(
        String(buffer: AlpacaRoutes.answer(clock: moment, by: .shanghai).body)
          == #"{"timestamp":"\#(now)+08:00","is_open":\#(isOpen),"#
          + #""next_open":"\#(opens):00+08:00","next_close":"\#(closes):00+08:00"}"#)
    }
  }

  @Test("an asset's id is a UUID, its own, and finds it again")
  func assets() async throws {
    let fixture = try await ServedFixture(fill: AlpacaSamples.fill)
    let list = try await fixture.get("/v2/assets").body
    let assets =
      try JSONSerialization.jsonObject(with: Data(list.utf8)) as? [[String: Any]] ?? []
    let ids = assets.compactMap { ($0["id"] as? String).flatMap { UUID(uuidString: $0) } }
    #expect(Set(ids).count == 4 && assets.count == 4)
    for asset in assets {
      let found = try await fixture.get("/v2/assets/\(asset["id"] ?? "")").json
      #expect(found["symbol"] as? String == asset["symbol"] as? String)
    }
    #expect(try await fixture.get("/v2/assets?status=inactive").body == "[]")
    #expect(try await fixture.get("/v2/assets?exchange=NYSE").body == "[]")
  }

  @Test("where reading is anonymous a placeholder is no wrong token; a token still is judged")
  func anonymous() async throws {
    let fixture = try await AlpacaFixture(isAnonymous: true)
    let name = try #require(HTTPField.Name("APCA-API-SECRET-KEY"))
    try await fixture.listen { port in
      for (secret, status) in [("any", 200), (fixture.secret, 200), ("cndl_nothing", 401)] {
        let asked = AskedRequest(path: "/v2/clock", headers: [name: secret])
        let reply = try asked.answer(fromPort: port)
        #expect(reply.status == status)
      }
    }
    let closed = try await AlpacaFixture()
    try await closed.listen { port in
      for (secret, status) in [("any", 401), (closed.secret, 200)] {
        let asked = AskedRequest(path: "/v2/clock", headers: [name: secret])
        let reply = try asked.answer(fromPort: port)
        #expect(reply.status == status)
      }
    }
  }
}
