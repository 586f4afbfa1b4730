import AppStore
import HTTPTypes
import Market
import Testing

@testable import Gateway

@Suite("what requests cost") struct CostTests {
  private static let symbols = (0..<500).map { "sh\(600_000 + $0)" }.joined(separator: ",")

  @Test(
    "a request costs by its route, its symbols and its rows",
    arguments: [
      ("/v1/market", [:], 1), ("/v1/stocks", [:], 1), ("/v1/stocks", ["symbols": symbols], 11),
      ("/v1/stocks/{symbol}/history", ["symbol": "sh600000"], 2),
      ("/v1/stocks/{symbol}/history", ["symbol": "sh600000", "limit": "10000"], 6),
      ("/v1/coverage", [:], 10), ("/v1/coverage", ["limit": "5000"], 12),
      ("/v2/stocks/snapshots", ["symbols": symbols], 12),
      ("/v2/stocks/bars", ["symbols": symbols, "limit": "10000"], 16), ("/v2/assets", [:], 10),
    ] as [(String, [String: String], Int)])
  func cost(path: String, values: [String: String], expected: Int) throws {
    let memory = MarketMemory()
    let pool = QueryPool(url: "", log: quietLog)
    let routes =
      MarketRoutes(memory: memory, pool: pool).all + DoorRegistry.routes(memory: memory, pool: pool)
    let route = try #require(routes.first { $0.path == path })
    #expect(route.cost(of: values) == expected)
  }

  @Test("the headers of an answer show what it cost, and what is not left is not given")
  func headers() async throws {
    let control = AccessControl(
      .init(anonymous: true, addressRequests: 10), directory: TokenDirectory(), now: { 0 })
    var parts = Gateway.Parts()
    parts.access = AccessMiddleware(control)
    let fixture = try await ServedFixture(parts: parts)
    let rate = try #require(HTTPField.Name("RateLimit"))
    func ask(_ path: String) async throws -> (status: Int, left: String) {
      let reply = try await fixture.get(path)
      return (reply.status, reply.headers[rate] ?? "")
    }
    // Forty at once.
    #expect(try await ask("/v1/market") == (200, "\"requests\";r=39;t=1"))
    #expect(
      try await ask("/v1/stocks/sh600000/history?interval=1m") == (200, "\"requests\";r=37;t=1"))
    for left in [27, 17, 7] {
      #expect(try await ask("/v1/coverage").left.contains("r=\(left);"))
    }
    #expect(try await ask("/v1/coverage").status == 429)
    #expect(try await ask("/v1/stocks/sh600000?limit=x").status == 400)
    #expect(try await ask("/v1/market") == (200, "\"requests\";r=5;t=4"))
  }

  @Test("what is dearer than a full bucket takes all of it, and waits for that")
  func dearest() {
    var limiter = RateLimiter<Int>(ratePerSecond: 1)
    #expect(limiter.request(from: 1, cost: 100, at: 0).isAdmitted)
    let verdict = limiter.request(from: 1, cost: 100, at: 1_000_000)
    #expect(!verdict.isAdmitted && verdict.waitMicroseconds == 3_000_000)
    #expect(limiter.request(from: 1, cost: 100, at: 4_000_000).isAdmitted)
  }
}
