import HTTPTypes
import Market
import Platform
import Postgres
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// What a request waits for does not grow with its rows: a statement of each would.
@Suite(.ownThread) struct RequestStatementTests {
  /// How many statements `body` sends over connections that are open.
  private static func count(_ body: () async throws -> Reply) async throws -> Int {
    _ = try await body()
    let count = Locked(0)
    let reply = try await StatementCount.$current.withValue(count) { try await body() }
    #expect(reply.status == 200, "\(reply)")
    return count.withLock { $0 }
  }

  private static let several = "sh600000,sh600001,sh600002,AAPL"

  @Test(
    "the newest of several instruments are one statement, of quotes none",
    arguments: [("snapshots", 1), ("bars/latest", 1), ("quotes/latest", 0)])
  func newest(path: String, statements: Int) async throws {
    let fixture = try await ServedFixture(fill: AlpacaSamples.fill)
    for symbols in ["sh600000", Self.several] {
      let sent = try await Self.count {
        try await fixture.get("/v2/stocks/\(path)?symbols=\(symbols)")
      }
      #expect(sent == statements, "\(symbols)")
    }
  }

  @Test(
    "a portfolio takes two statements, one of the account; its history and lists a few",
    arguments: [
      ("/v1/portfolio", 2), ("/v1/account", 2), ("/v2/account", 2), ("/v2/positions", 2),
      ("/v1/portfolio/history", 7), ("/v1/accounts", 1), ("/v1/watchlists", 1),
      ("/v2/watchlists", 2),
    ])
  func portfolio(path: String, statements: Int) async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    func count() async throws -> Int {
      try await Self.count { try await fixture.ask(.get, path) }
    }
    func hold(_ symbol: String) async throws {
      let id = try await fixture.buy(100, limit: "10.01", symbol)
      try await fixture.broker.fill(id, quantity: 100, price: ExactDecimal(units: 1_001, scale: 2))
    }
    func list(_ name: String) async throws {
      let body = #"{"name":"\#(name)","symbols":["sh600000","sh600001"]}"#
      let made = try await fixture.ask(.post, "/v2/watchlists", body)
      #expect(made.count("assets") == 2, "\(made)")
      _ = try await fixture.ask(.post, "/v1/accounts", #"{"name":"\#(name)","market":"A"}"#)
    }
    try await hold("sh600000")
    #expect(try await count() == statements)
    for symbol in ["sh600001", "sh600002"] { try await hold(symbol) }
    for name in ["a", "b"] { try await list(name) }
    #expect(try await count() == statements)
    #expect(try await fixture.ask(.get, "/v1/portfolio").count("stocks") == 3)
  }
}
