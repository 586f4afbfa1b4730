import EmbeddedPostgres
import Foundation
import HTTPTypes
import Market
import Store
import TestSupport
import TestTraits
import Testing

@testable import Gateway

@Suite(.ownThread) struct RouteAnswerTests {
  @Test("where a candle comes from, and the market at a glance")
  func changing() async throws {
    let fixture = try await ServedFixture()
    let why = try await fixture.get(
      "/v1/stocks/sh600000/why?at=2026-07-06T10:00:30%2B08:00&interval=1m")
    let facts = try why.json["facts"] as? [[String: Any]] ?? []
    #expect(facts.contains { $0["what"] as? String == "revision" }, "\(why.body)")
    let market = try await fixture.get("/v1/market")
    #expect(try market.json["seq"] as? Int == 120)
    #expect(try market.json["session"] is [String: Any])
    let metrics = try await fixture.get("/metrics").body
    #expect(metrics.contains("candled_gateway_feed_seq 120\n"))
    #expect(metrics.contains("requests_total{path=\"/v1/market\",status=\"200\"} 1\n"))
  }

  @Test("decimals are the database's own text, digit by digit")
  func decimals() async throws {
    let fixture = try await ServedFixture()
    let reply = try await fixture.get("/v1/stocks/sh600001/history?interval=1m&limit=200")
    let rows = try reply.json["rows"] as? [[String: Any]] ?? []
    let stored = try fixture.database.execute(
      """
      select open, high, low, close, volume, turnover, vwap
      from candled.candles('sh600001', '1m')
      """)
    let served = rows.map { row in
      ["open", "high", "low", "close", "volume", "turnover", "vwap"].map { row[$0] as? String }
    }
    #expect(served == stored && stored.count == 120)
  }

  @Test("pages of history hold every candle once", arguments: [10, 17, 119, 120])
  func pages(limit: Int) async throws {
    let fixture = try await ServedFixture()
    let path = "/v1/stocks/sh600000/history?interval=1m&limit=\(limit)"
    var found: [String] = []
    var cursor: String?
    repeat {
      let reply = try await fixture.get(path + (cursor.map { "&cursor=\($0)" } ?? ""))
      let rows = try reply.json["rows"] as? [[String: Any]] ?? []
      #expect(!rows.isEmpty && rows.count <= limit)
      found = rows.compactMap { $0["openedAt"] as? String } + found
      cursor = try reply.json["nextCursor"] as? String
    } while cursor != nil
    #expect(found.count == 120 && found == found.sorted() && Set(found).count == 120)
  }

  @Test("pages of a sorted list hold every stock once")
  func listPages() async throws {
    let fixture = try await ServedFixture { writer in
      var samples = StoreSamples(seed: 9)
      _ = try await writer.commit(samples.sweep(position: 1, instruments: 47))
      return 1
    }
    for sort in StockOrder.allCases {
      var found: [[String: Any]] = []
      var cursor: String?
      repeat {
        let reply = try await fixture.get(
          "/v1/stocks?sort=\(sort.rawValue)&limit=10" + (cursor.map { "&cursor=\($0)" } ?? ""))
        found += try reply.json["stocks"] as? [[String: Any]] ?? []
        cursor = try reply.json["nextCursor"] as? String
      } while cursor != nil
      #expect(Set(found.compactMap { $0["symbol"] as? String }).count == 47, "\(sort)")
      #expect(found.count == 47, "\(sort)")
      if sort == .turnover {
        let values = try found.map { try ExactDecimal(try #require($0["turnover"] as? String)) }
        #expect(values == values.sorted(by: >))
      }
    }
  }

  @Test("without PostgreSQL quotes go on, stale, and history asks to come back later")
  func away() async throws {
    let fixture = try await ServedFixture(try .alone())
    try fixture.database.server.stopImmediately()
    try await fixture.wait { $0.lostAt != nil }
    let stock = try await fixture.get("/v1/stocks/sh600000")
    #expect(try stock.status == 200 && stock.json["stale"] as? Bool == true)
    #expect(stock.headers[.eTag]?.contains("stale") == true)
    let history = try await fixture.get("/v1/stocks/sh600000/history")
    #expect(history.status == 503 && history.headers[.retryAfter] != nil)
    #expect(try history.json["code"] as? String == "store_away")
    #expect(try await fixture.get("/readyz").body == #"{"status":"stale"}"#)
    try fixture.database.server.start()
    try await fixture.wait { $0.lostAt == nil }
    var status = 0
    for _ in 0..<200 where status != 200 {
      status = try await fixture.get("/v1/stocks/sh600000/history").status
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(status == 200)
  }
}
