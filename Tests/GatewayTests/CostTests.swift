import AppStore
import HTTPTypes
import Market
import Platform
import Testing

@testable import Gateway

@Suite("what requests cost") struct CostTests {
  private static let symbols = (0..<500).map { "sh\(600_000 + $0)" }.joined(separator: ",")

  @Test(
    "a request costs by its route, its symbols and its rows",
    arguments: [
      ("/v1/market", [:], 1), ("/v1/stocks", [:], 1), ("/v1/stocks", ["symbols": symbols], 11),
      ("/v1/stocks/{symbol}/history", ["symbol": "sh600000"], 4),
      ("/v1/stocks/{symbol}/history", ["symbol": "sh600000", "limit": "100"], 2),
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

  @Test("a page opens, however little is left")
  func page() {
    #expect(PageRoutes.all.map { $0.cost(of: [:]) } == [0, 0])
    let control = AccessControl(
      .init(anonymous: true, addressRequests: 1), directory: TokenDirectory(), now: { 0 })
    let client = AccessKey.address([192, 0, 2, 1])
    #expect(control.take(4, from: client).problem == nil)
    #expect(control.take(1, from: client).problem != nil)
    #expect(control.take(0, from: client).problem == nil)
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
      try await ask("/v1/stocks/sh600000/history?limit=100") == (200, "\"requests\";r=37;t=1"))
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

  @Test("a subscription of any size is paid with what a stream leaves, as half of a full bucket")
  func subscription() {
    let control = AccessControl(
      .init(anonymous: true, userRequests: 5, addressRequests: 5), directory: TokenDirectory(),
      now: { 0 })
    for client in [AccessKey.user(1), .address([192, 0, 2, 1])] {
      #expect(control.take(1, from: client).problem == nil)
      #expect(control.pay(1_000, by: client) && control.pay(9, by: client))
      #expect(!control.pay(1_000, by: client) && control.pay(0, by: client))
    }
  }

  @Test(
    "a picture of many minutes costs by what is read for it",
    arguments: [
      (["interval": "1m", "period": "max"], 10), (["interval": "60m", "period": "1y"], 10),
      (["interval": "5m", "from": "2020-01-01"], 10), (["interval": "1m", "to": "2026-07-06"], 10),
      (["interval": "1m", "from": "2026-07-01", "to": "2026-07-06"], 2), (["interval": "1m"], 2),
      (["interval": "1m", "period": "1mo"], 2), (["interval": "1d", "period": "max"], 2),
      (["interval": "1m", "period": "max", "limit": "2500"], 3), (["period": "max"], 2),
    ] as [([String: String], Int)])
  func picture(values: [String: String], expected: Int) throws {
    let routes = MarketRoutes(memory: MarketMemory(), pool: QueryPool(url: "", log: quietLog)).all
    let route = try #require(routes.first { $0.path == "/v1/stocks/{symbol}/history" })
    let all = values.merging(["symbol": "sh600000", "points": "4"]) { value, _ in value }
    #expect(route.cost(of: all) == expected)
  }

  @Test(
    "bars of a chart cost by the stored candles that are read for them",
    arguments: [
      ("history", ["resolution": "1", "countback": "300"], 2),
      ("history", ["resolution": "1", "countback": "20000"], 10),
      ("history", ["resolution": "60", "countback": "1000"], 26),
      ("history", ["resolution": "1D", "countback": "2499"], 2),
      ("history", ["resolution": "1W", "countback": "2000"], 6),
      ("history", ["resolution": "1M", "countback": "1000"], 14),
      ("history", ["resolution": "1"], 10), ("history", ["resolution": "5"], 42),
      ("history", ["resolution": "1", "from": "1799900000"], 2), ("marks", ["resolution": "1"], 10),
      ("marks", ["resolution": "D"], 3),
    ] as [(String, [String: String], Int)])
  func chart(name: String, values: [String: String], expected: Int) throws {
    let routes = DoorRegistry.routes(
      memory: MarketMemory(), pool: QueryPool(url: "", log: quietLog))
    let route = try #require(routes.first { $0.path == "/udf/\(name)" })
    let all = ["symbol": "sh600000", "from": "1500000000", "to": "1800000000"]
      .merging(values) { _, value in value }
    #expect(route.cost(of: all) == expected)
  }

  @Test("an address is sent no more than its rate of bytes, and a user has none")
  func bytes() {
    let clock = Locked(Int64(0))
    let control = AccessControl(
      .init(anonymous: true, addressBytes: 1 << 20), directory: TokenDirectory(),
      now: { clock.withLock { $0 } })
    let request = AccessRequest(target: "/v1/market", peer: "192.0.2.1")
    func status() -> Int {
      guard case .refused(let problem) = control.admit(request).outcome else { return 200 }
      return problem.status.code
    }
    // Four seconds' worth at once; what is beyond is waited for.
    let verdict = control.admit(request)
    control.finished(verdict, status: 200, bytes: 4 << 20)
    #expect(status() == 200)
    #expect((995...1_001).contains(control.draw(1 << 20, by: verdict.key)))
    #expect(status() == 429)
    clock.withLock { $0 = 1_000_000 }
    #expect(status() == 200)
    #expect(control.draw(1 << 30, by: .user(1)) == 0)
  }
}

@Suite("what subscriptions cost", .serialized) struct StreamCostTests {
  @Test("a subscription pays for its symbols, and what is not paid for is sent away with 1013")
  func symbols() async throws {
    let paid = Locked<[Int]>([])
    var access = StreamsAccess()
    access.isPaid = { cost, client in
      paid.withLock { $0.append(cost) }
      return client == .user(1) && cost <= 3
    }
    try await StreamsServer.run(
      StreamsMarket(count: 200), isAnonymousAllowed: false, access: access,
      body: { port, _ in
        let client = try StreamsClient(port: port)
        try client.upgrade(headers: ["Authorization: Bearer good"])
        _ = try client.message("authenticated")
        // Of the same snapshot the second costs as much as the first.
        for count in [1, 1, 100] {
          client.send(StreamsFollower.subscription(prices: Array(0..<count)))
          _ = try client.message("subscribed")
          _ = try client.message("snapshot")
        }
        client.send(StreamsFollower.subscription(prices: Array(0..<150)))
        #expect(try client.frame() == .close(code: 1013))
      })
    #expect(paid.withLock { $0 } == [1, 1, 3, 4])
  }

  @Test("without a token nothing is sent while the address has had its bytes")
  func bytes() async throws {
    let mayDraw = Locked(true)
    var access = StreamsAccess()
    access.waitMilliseconds = { _ in mayDraw.withLock { $0 } ? 0 : 300 }
    let source = StreamsMarket(count: 1)
    try await StreamsServer.run(
      source, access: access,
      body: { port, hub in
        let client = try StreamsClient(port: port)
        try client.upgrade()
        client.send(StreamsFollower.subscription(prices: [0]))
        _ = try client.message("snapshot")
        mayDraw.withLock { $0 = false }
        hub.receive(.update(source.commit(stocks: [0])))
        _ = try client.message("stock-prices")
        let start = MonotonicClock.milliseconds()
        hub.receive(.update(source.commit(stocks: [0])))
        hub.receive(.update(source.commit(stocks: [0])))
        // The newest alone.
        let message = try client.message("stock-prices")
        #expect(MonotonicClock.milliseconds() - start >= 200)
        #expect("\(message)".contains("4"), "\(message)")
      })
  }

  @Test("a second resumption waits until all that the first missed is sent")
  func resumptions() {
    let source = StreamsMarket(count: 2)
    for number in 1...3 {
      _ = source.commit(messages: [StreamsMarket.candle(number % 2, number: number)])
    }
    var one = StreamsFollower(source)
    one.send(StreamsFollower.subscription(candles: [0], after: (7, 1)))
    one.send(StreamsFollower.subscription(candles: [1], after: (7, 1)))
    one.send(#"{"action":"ping","id":1}"#)
    let kinds = one.pull().map { output in
      switch output {
      case .subscribed: "subscribed"
      case .log: "log"
      case .pong: "pong"
      default: "other"
      }
    }
    #expect(kinds == ["other", "subscribed", "log", "subscribed", "pong", "log"])
  }

  @Test("a commit's messages are found alike, be they few or many", arguments: [5, 100])
  func page(count: Int) {
    let messages = (0..<count).map { StreamsMarket.candle($0 % 7, number: $0) }
    var interests = LogInterests()
    interests.add(
      .named(PlaceSet([1, 3].map(SeriesPlace.init(index:)))), to: .candles(.minute1))
    let found = LogPage(seq: 1, messages: messages).indices(for: interests)
    #expect(found == (0..<count).filter { [1, 3].contains($0 % 7) })
  }
}
