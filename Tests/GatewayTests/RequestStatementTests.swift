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
    "a portfolio of several holdings takes as many statements as one of a single holding",
    arguments: ["/v1/portfolio", "/v1/account", "/v1/portfolio/history", "/v2/positions"])
  func portfolio(path: String) async throws {
    let fixture = try await TradingFixture()
    try await fixture.fund()
    func count() async throws -> Int {
      try await Self.count { try await fixture.ask(.get, path) }
    }
    func hold(_ symbol: String) async throws {
      let id = try await fixture.buy(100, limit: "10.01", symbol)
      try await fixture.broker.fill(id, quantity: 100, price: ExactDecimal(units: 1_001, scale: 2))
    }
    try await hold("sh600000")
    let single = try await count()
    for symbol in ["sh600001", "sh600002"] { try await hold(symbol) }
    #expect(try await count() == single)
    #expect(try await fixture.ask(.get, "/v1/portfolio").count("stocks") == 3)
  }
}
