import Market
import TestExchange
import TestSupport
import Testing

@testable import ExchangeSimulator
@testable import Ledgers
@testable import TestExchange

/// The server over a raw socket.
@Suite struct ServerTests {
  private func server(_ faults: [Fault] = []) throws -> (ExchangeServer, SimulatedMarket) {
    let market = try Fixture.market()
    let server = try ExchangeServer(market: market, faults: FaultPlan(seed: 5, faults))
    return (server, market)
  }

  @Test func `quotes come as the market shows them`() throws {
    var (server, market) = try server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    let moment = try Fixture.moment(10, 0, 1)
    let response = client.get(Fixture.path(market.symbols, at: moment))
    market.advance(to: moment)
    #expect(response.status == 200)
    #expect(response.body == market.bodyOfAll())
  }

  @Test(arguments: [
    "/list=", "/?list=", "/rn=1783389600000&list=", "/etag.php?_=1783389600000&list=",
  ])
  func `every known form of the path is served`(_ prefix: String) throws {
    let (server, _) = try server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    let response = client.get(prefix + "sh000001,sz000001,sh999999,")
    #expect(response.lines.count == 3)
    #expect(response.lines.last == "var hq_str_sh999999=\"\";")
  }

  @Test func `a connection is kept for the next request`() throws {
    let (server, _) = try server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    for _ in 0..<3 { #expect(client.get("/list=sh000001").lines.count == 1) }
    #expect(server.requestsAnswered == 3)
  }

  @Test func `without a Referer nobody is served`() throws {
    let (server, _) = try server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    let response = client.get("/list=sh000001", referer: nil)
    #expect(response.status == 403 && response.text == "Kinsoku jikou desu!")
  }

  @Test(arguments: ["61666", "600519sh", "sh60051", "SH600519", "sh600519%2Csz000001"])
  func `one malformed token voids the batch`(_ token: String) throws {
    let (server, _) = try server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    let response = client.get("/list=sh000001,\(token),sz000001")
    #expect(response.status == 200)
    #expect(response.text == "var hq_str_sys_auth=\"FAILED\";\n")
  }

  @Test func `an earlier moment is answered as it was then`() throws {
    let (server, market) = try server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    let moments = [
      try Fixture.moment(9, 20), try Fixture.moment(9, 50), try Fixture.moment(9, 50, 3),
      try Fixture.moment(10, 20),
    ]
    let first = moments.map { client.get(Fixture.path(market.symbols, at: $0)).body }
    #expect(Set(first.map(\.count)).count > 1)
    for place in [2, 0, 1, 3, 0] {
      #expect(client.get(Fixture.path(market.symbols, at: moments[place])).body == first[place])
    }
  }

  @Test func `a clock of its own needs no time in the path`() throws {
    var market = try Fixture.market()
    let moment = try Fixture.moment(11, 0)
    let server = try ExchangeServer(market: market, clock: .function({ moment }))
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    market.advance(to: moment)
    #expect(client.get("/list=sh600000").body == market.body(for: [try Fixture.symbol("sh600000")]))
  }

  @Test func `an unknown path is not found`() throws {
    let (server, _) = try server()
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    #expect(client.get("/nothing").status == 404)
  }

  @Test func `a stopped server ends its connections and refuses new ones`() throws {
    let (server, _) = try server()
    let client = try RawClient(port: server.port)
    defer { client.close() }
    #expect(client.get("/list=sh000001").status == 200)
    server.stop()
    #expect(client.receive().ending != .silence)
  }

  @Test func `a thousand garbage requests leave it serving`() throws {
    let (server, _) = try server()
    defer { server.stop() }
    let seed: UInt64 = 2026
    var random = SplitMix(seed: seed)
    for _ in 0..<1000 {
      let client = try RawClient(port: server.port)
      client.send(ServerTests.garbage(&random))
      client.finishSending()
      #expect(client.receive().ending != .silence, "seed \(seed)")
      client.close()
    }
    let client = try RawClient(port: server.port)
    defer { client.close() }
    #expect(client.get("/list=sh000001").lines.count == 1)
  }

  /// Noise, noise after a good beginning, or a good request with some bytes turned.
  private static func garbage(_ random: inout SplitMix) -> [UInt8] {
    let good = Array(
      "GET /rn=1783389600000&list=sh000001,sz000001 HTTP/1.1\r\nReferer: x\r\n\r\n".utf8)
    let noise = (0..<Int.random(in: 0...400, using: &random)).map { _ in
      UInt8.random(in: 0...255, using: &random)
    }
    switch Int.random(in: 0...2, using: &random) {
    case 0: return noise
    case 1: return good.prefix(Int.random(in: 0...good.count, using: &random)) + noise
    default:
      var bytes = good
      for _ in 0...Int.random(in: 0...5, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(
          in: 0...255, using: &random)
      }
      return bytes
    }
  }
}
