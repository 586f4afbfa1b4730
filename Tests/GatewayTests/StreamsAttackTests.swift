import Foundation
import NIOConcurrencyHelpers
import Platform
import Testing

@testable import Gateway

/// What a review of the gateway did to its connections.
@Suite("attacks on connections", .serialized) struct StreamsAttackTests {
  private let events = "GET /v1/stream?symbols=s0 HTTP/1.1\r\nHost: test\r\n\r\n"

  @Test("three requests for a stream in one packet open one")
  func pipelined() async throws {
    let packet = Array(String(repeating: events, count: 3).utf8)
    try await StreamsServer.run(StreamsMarket(count: 1)) { port, hub in
      let client = try StreamsClient(port: port)
      client.write(packet)
      _ = try client.text(through: "snapshot")
      #expect(hub.services.connections.open == 1)
      StreamsServer.goAway(hub)
      let rest = try? client.text(through: "HTTP/1.1")
      #expect(rest == nil)
    }
  }

  @Test("a stream that is asked for behind a request opens once that is answered")
  func behindRequest() async throws {
    let packet = Array(("GET /plain HTTP/1.1\r\nHost: test\r\n\r\n" + events).utf8)
    try await StreamsServer.run(StreamsMarket(count: 1)) { port, hub in
      let client = try StreamsClient(port: port)
      client.write(packet)
      let text = try client.text(through: "snapshot")
      #expect(text.matches(of: #/HTTP/1[.]1 200/#).count == 2, "\(text)")
      #expect(text.contains("plainHTTP/1.1 200"), "\(text)")
      #expect(hub.services.connections.open == 1)
    }
  }

  @Test("an upgrade that nobody takes is answered, and its connection ends")
  func otherUpgrade() async throws {
    try await StreamsServer.run(StreamsMarket(count: 1)) { port, _ in
      let client = try StreamsClient(port: port)
      let head = try client.get(
        "/plain", headers: ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c"])
      #expect(head.hasPrefix("HTTP/1.1 200") && head.lowercased().contains("connection: close"))
      _ = try client.text(through: "plain")
      #expect(try client.frame() == .end)
    }
  }

  @Test("an interval that is named 12,000 times is one")
  func repeatedIntervals() throws {
    let intervals = [String](repeating: "1m", count: 12_000)
    let request = ChannelsRequest(
      channels: [ChannelRequest(name: "candles", symbols: ["s0"], intervals: intervals)])
    let wanted = Wanted(request) { _ in SeriesPlace(index: 0) }
    #expect(wanted.errors.isEmpty && wanted.logs.places.count == 1)
    #expect(wanted.channels.map(\.count) == [1])
  }

  @Test("a long id is not repeated, and of many errors one is answered")
  func longID() async throws {
    let id = String(repeating: "x", count: 65)
    #expect(
      ClientMessage(json: Array(#"{"action":"ping","id":"\#(id)"}"#.utf8)) == .ping(id: nil))
    try await StreamsServer.run(StreamsMarket(count: 1)) { port, _ in
      let client = try StreamsClient(port: port)
      try client.upgrade()
      let channels = [String](repeating: #"{"name":"nope"}"#, count: 9).joined(separator: ",")
      client.send(#"{"action":"subscribe","channels":[\#(channels)]}"#)
      client.send(#"{"action":"ping","id":1}"#)
      _ = try client.message("error")
      guard case .text(let next) = try client.frame() else { throw StreamsClient.Closed() }
      #expect(!next.contains("unknown_channel"))
    }
  }

  @Test("streams without a token are counted by address, and refused beyond its rate")
  func anonymous() async throws {
    let admitted = Locked(StreamLimits.connectionsOfAddressMax + 2)
    try await StreamsServer.run(
      StreamsMarket(count: 1),
      access: StreamsAccess(identity: {
        admitted.withLock { left in
          left -= 1
          return left < 0 ? .failure(.tooManyStreams) : .success("address")
        }
      }),
      body: { port, _ in
        var open: [StreamsClient] = []
        for _ in 0..<StreamLimits.connectionsOfAddressMax {
          let client = try StreamsClient(port: port)
          #expect(try client.get("/v1/stream?symbols=s0").contains(" 200 "))
          open.append(client)
        }
        // One beyond what may be open, and two beyond the rate.
        for _ in 0..<3 {
          let client = try StreamsClient(port: port)
          #expect(try client.get("/v1/stream?symbols=s0").contains(" 429 "))
        }
        #expect(open.count == StreamLimits.connectionsOfAddressMax)
      })
  }

  @Test("a token that is revoked loses its stream")
  func revoked() async throws {
    let isInForce = Locked(true)
    try await StreamsServer.run(
      StreamsMarket(count: 1), isAnonymousAllowed: false,
      access: StreamsAccess(holdsStill: { isInForce.withLock { $0 } }),
      body: { port, _ in
        let client = try StreamsClient(port: port)
        try client.upgrade(headers: ["Authorization: Bearer good"])
        _ = try client.message("authenticated")
        isInForce.withLock { $0 = false }
        #expect(try client.frame() == .close(code: 4403))
      })
    // Within a second, of which the directory of tokens takes a part.
    let ticks = Int64(StreamLimits.grantCheckTicks)
    #expect(ticks * StreamLimits.tickMilliseconds <= 500)
  }

  @Test("a token for its user's own things has their streams, and not the market's")
  func accountAlone() async throws {
    try await StreamsServer.run(
      StreamsMarket(count: 1, outbox: OutboxPage(items: [], last: 0)), isAnonymousAllowed: false,
      body: { port, _ in
        let own = ["Authorization: Bearer own"]
        let socket = try StreamsClient(port: port)
        try socket.upgrade(headers: own)
        _ = try socket.message("authenticated")
        socket.send(StreamsFollower.subscription(prices: [0]))
        let error = try socket.message("error")
        #expect(error["code"] as? String == "forbidden", "\(error)")
        #expect("\(error)".contains("scope market"), "\(error)")
        socket.send(#"{"action":"subscribe","channels":[{"name":"order-updates"}]}"#)
        _ = try socket.message("subscribed")
        let events = try StreamsClient(port: port)
        let head = try events.get("/v1/stream?channels=portfolio-updates", headers: own)
        #expect(head.contains(" 200 "), "\(head)")
        let prices = try StreamsClient(port: port)
        #expect(try prices.get("/v1/stream?symbols=s0", headers: own).contains(" 403 "))
      })
  }

  @Test("where reading is anonymous a placeholder of another API opens events, too")
  func placeholder() async throws {
    try await StreamsServer.run(StreamsMarket(count: 1)) { port, _ in
      for (secret, status) in [("any", " 200 "), ("cndl_wrong", " 401 ")] {
        let client = try StreamsClient(port: port)
        let head = try client.get(
          "/v1/stream?symbols=s0", headers: ["APCA-API-SECRET-KEY: \(secret)"])
        #expect(head.contains(status), "\(secret) \(head)")
      }
    }
  }

  @Test("a listed page may read why a stream was refused, and 426 names the protocol")
  func refusals() async throws {
    try await StreamsServer.run(StreamsMarket(count: 1), isAnonymousAllowed: false) { port, _ in
      let page = ["Origin: https://good.example"]
      let events = try StreamsClient(port: port)
      let refused = try events.get("/v1/stream?symbols=s0", headers: page)
      #expect(refused.contains(" 401 "))
      #expect(refused.contains("Access-Control-Allow-Origin: https://good.example"), "\(refused)")
      let socket = try StreamsClient(port: port)
      let old = try socket.get("/ws", headers: ["Upgrade: websocket", "Connection: Upgrade"])
        .lowercased()
      #expect(old.contains(" 426 ") && old.contains("upgrade: websocket"), "\(old)")
      let other = try StreamsClient(port: port)
      let foreign = try other.upgrade(headers: ["Origin: https://bad.example"])
      #expect(!foreign.contains("Access-Control-Allow-Origin"), "\(foreign)")
    }
  }

  @Test("quotes are marked stale in a snapshot while PostgreSQL cannot be reached")
  func stale() async throws {
    let source = StreamsMarket(count: 1)
    try await StreamsServer.run(source) { port, hub in
      let first = try StreamsClient(port: port)
      try first.get("/v1/stream?symbols=s0")
      _ = try first.text(through: "snapshot")
      source.state.withLockedValue { state in
        state.market.lostAt = .now
        state.market.stocks[0] = StreamsMarket.stock(
          0, seq: 1, json: #"{"symbol":"s0","stale":true}"#)
      }
      hub.receive(.connection(lostAt: .now))
      let second = try StreamsClient(port: port)
      try second.get("/v1/stream?symbols=s0")
      #expect(try second.text(through: "\"stale\":true").contains("snapshot"))
    }
  }

  @Test("a token in the address, or another kind of authorization, opens no stream")
  func credentials() async throws {
    try await StreamsServer.run(StreamsMarket(count: 1)) { port, _ in
      let one = try StreamsClient(port: port)
      #expect(try one.upgrade("/ws?token=cndl_abc").contains(" 400 "))
      let two = try StreamsClient(port: port)
      let basic = ["Authorization: Basic eDp5"]
      #expect(try two.get("/v1/stream?symbols=s0", headers: basic).contains(" 401 "))
    }
  }

  @Test("the answer to HEAD has no body, compressed or not")
  func head() async throws {
    let fixture = try await ServedFixture()
    try await fixture.listen { port in
      let uncompressed = try StreamsClient(port: port)
      let request = """
        HEAD /v1/stocks/sh600000/history?interval=1m HTTP/1.1\r
        Host: test\r
        Accept-Encoding: gzip\r
        \r

        """
      uncompressed.write(Array(request.utf8))
      uncompressed.write(Array("GET /livez HTTP/1.1\r\nHost: test\r\n\r\n".utf8))
      let both = try uncompressed.text(through: "alive")
      let parts = both.components(separatedBy: "\r\n\r\n")
      #expect(parts.count == 3 && parts[1].hasPrefix("HTTP/1.1 200"), "\(both)")
    }
  }
}
