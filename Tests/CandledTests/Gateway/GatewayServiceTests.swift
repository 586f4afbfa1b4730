import EmbeddedPostgres
import Foundation
import Glibc
import Platform
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct `A running gateway` {
  @Test(arguments: [SIGTERM, SIGINT])
  func `notifies systemd, closes streams with 1001 and exits 0`(signal: Int32) async throws {
    let stand = try await GatewayStand()
    try await stand.commitMinute()
    let socket = try NotifySocket()
    let gateway = try stand.start(
      "gateway.anonymous=true",
      environment: ["NOTIFY_SOCKET=\(socket.name)", "WATCHDOG_USEC=2000000"])
    let ready = "READY=1\nSTATUS=serving at 127.0.0.1:\(gateway.port)"
    var messages: [String] = []
    while messages.count(where: { $0 == "WATCHDOG=1" }) < 2 || !messages.contains(ready) {
      messages.append(try socket.next())
    }
    #expect(Set(messages) == [ready, "WATCHDOG=1"])
    let client = try PythonProcess.closeCode(of: gateway)
    #expect(client.logContains("open"), "\(client.captured)")
    // A full queue would lose the last message.
    _ = socket.waiting()
    #expect(try gateway.stop(signal) == 0, "\(gateway.binary.captured)")
    #expect(gateway.binary.captured.contains("message=stopped"))
    #expect(try client.ended() == 0 && client.captured.contains("closed 1001"))
    let last = socket.waiting().filter { $0 != "WATCHDOG=1" }
    #expect(last == ["STOPPING=1\nSTATUS=stopping"])
  }

  @Test func `takes settings from --set before those of the file`() async throws {
    let stand = try await GatewayStand()
    try await stand.commitMinute()
    let closed = try stand.start()
    #expect(try closed.get("/v1/market").status == 401)
    let open = try stand.start("gateway.anonymous=true")
    #expect(try open.get("/v1/market").status == 200)
  }

  @Test func `starts without its database, and serves once that is there`() async throws {
    let database = try StoreDatabase.alone()
    let stand = try await GatewayStand(database)
    try await stand.commitMinute()
    let configuration = try GatewayStand.configuration(database)
    try database.server.stopImmediately()
    let gateway = try RunningGateway(
      ["--config", "/dev/stdin", "--set", "gateway.listen=127.0.0.1:0"]
        + ["--set", "gateway.anonymous=true"],
      configuration: configuration, isLoaded: false)
    #expect(try gateway.get("/livez").status == 200)
    let away = try gateway.get("/readyz")
    #expect(away.status == 503 && away.body.contains("store_away"))
    let stream = try gateway.get("/v1/stream?symbols=\(GatewayStand.symbols[0])")
    #expect(stream.status == 503 && stream.body.contains("store_away"))
    try database.server.start()
    try gateway.wait { try gateway.get("/readyz").body == #"{"status":"ready"}"# }
    #expect(try gateway.get("/v1/stocks/\(GatewayStand.symbols[0])").status == 200)
    #expect(try gateway.stop() == 0)
  }

  @Test func `serves quotes on while PostgreSQL is stopped, marked stale`() async throws {
    let database = try StoreDatabase.alone()
    let stand = try await GatewayStand(database)
    try await stand.commitMinute()
    let token = try stand.token().secret
    let gateway = try stand.start()
    let (quote, history) = (
      "/v1/stocks/\(GatewayStand.symbols[0])", "/v1/stocks/\(GatewayStand.symbols[0])/history"
    )
    func stock() throws -> [String: Any] {
      try Parsed.object(try gateway.get(quote, token: token).body)
    }
    try gateway.wait { try stock()["stale"] as? Bool == false }
    let before = try stock()
    try database.server.stopImmediately()
    try gateway.wait { try stock()["stale"] as? Bool == true }
    let answer = try gateway.get(quote, token: token)
    #expect(answer.status == 200 && answer.head.lowercased().contains("\r\nwarning: "))
    #expect(try stock()["currentPrice"] as? String == before["currentPrice"] as? String)
    let away = try gateway.get(history, token: token)
    #expect(away.status == 503 && away.head.lowercased().contains("\r\nretry-after: "))
    #expect(try Parsed.object(away.body)["code"] as? String == "store_away")
    try database.server.start()
    try gateway.wait { try stock()["stale"] as? Bool == false }
    try gateway.wait { try gateway.get(history, token: token).status == 200 }
    #expect(try gateway.stop() == 0)
    #expect(!gateway.binary.captured.contains(token))
  }

  @Test func `serves a standby, refuses what would write, and does both once it is promoted`()
    async throws
  {
    let database = try StoreDatabase.alone()
    let stand = try await GatewayStand(database)
    try await stand.commitMinute()
    let token = try stand.token("--name", "test", "--scope", "market", "--scope", "account")
      .secret
    let standby = try Standby(of: database)
    let url = standby.url(role: "candled_app")
    let gateway = try RunningGateway(
      ["--config", "/dev/stdin", "--set", "gateway.listen=127.0.0.1:0"],
      configuration: Array("[gateway]\nstore_url = \"\(url)\"\n".utf8))
    let symbol = GatewayStand.symbols[2]
    for _ in 0..<3 {
      try await stand.commitMinute()
      let price = try stand.price(of: symbol)
      try gateway.wait {
        let answer = try gateway.get("/v1/stocks/\(symbol)", token: token)
        return try answer.status == 200
          && Parsed.object(answer.body)["currentPrice"] as? String == price
      }
    }
    #expect(try gateway.get("/v1/stocks/\(symbol)/history", token: token).status == 200)
    #expect(try gateway.get("/v1/watchlists", token: token).status == 200)
    let refused = try gateway.put("/v1/preferences", #"{"theme":"dark"}"#, token: token)
    #expect(refused.status == 503 && refused.body.contains("read_only"), "\(refused.body)")
    // A token that is made on the primary is taken up.
    let second = try stand.token().secret
    try gateway.wait { try gateway.get("/v1/market", token: second).status == 200 }
    #expect(!gateway.binary.captured.contains("cannot"), "\(gateway.binary.captured)")
    try standby.catchUp(with: database)
    try standby.promote()
    let taken = try gateway.put("/v1/preferences", #"{"theme":"dark"}"#, token: token)
    #expect(taken.status == 204, "\(taken.body)")
    #expect(try gateway.stop() == 0)
  }

  @Test func `follows the same database as another one beside it`() async throws {
    let stand = try await GatewayStand()
    try await stand.commitMinute()
    let gateways = [try stand.start(), try stand.start()]
    let token = try stand.token().secret
    let symbol = GatewayStand.symbols[1]
    for _ in 0..<3 {
      try await stand.commitMinute()
      let price = try stand.price(of: symbol)
      for gateway in gateways {
        try gateway.wait {
          let answer = try gateway.get("/v1/stocks/\(symbol)", token: token)
          return try answer.status == 200
            && Parsed.object(answer.body)["currentPrice"] as? String == price
        }
      }
    }
    #expect(try gateways[0].stop() == 0)
    #expect(try gateways[1].get("/v1/market", token: token).status == 200)
  }

  @Test func `takes up a token, and refuses it a second after it was revoked`() async throws {
    let stand = try await GatewayStand()
    try await stand.commitMinute()
    let gateways = [try stand.start(), try stand.start()]
    /// Nanoseconds until all of them answer so.
    func wait(for status: Int, to token: String) throws -> Int64 {
      let start = MonotonicClock.nanoseconds()
      for gateway in gateways {
        try gateway.wait { try gateway.get("/v1/market", token: token).status == status }
      }
      return MonotonicClock.nanoseconds() - start
    }
    var quickest = Int64.max
    // The machine may be busy elsewhere for a second.
    for _ in 0..<5 {
      let token = try stand.token()
      _ = try wait(for: 200, to: token.secret)
      #expect(try stand.run("token", "revoke", token.id).status == 0)
      quickest = min(quickest, try wait(for: 401, to: token.secret))
    }
    #expect(quickest < 1_000_000_000)
  }

  @Test func `says that its address is taken, and exits 75`() async throws {
    let stand = try await GatewayStand()
    let (listener, port) = try LoopbackListener.open()
    defer { close(listener) }
    let taken = try stand.run("run", "--set", "gateway.listen=127.0.0.1:\(port)")
    #expect(taken.status == 75, "\(taken.errors)")
    let sentence = "gateway.listen: cannot listen at 127.0.0.1:\(port): Address already in use"
    #expect(taken.errors.contains("candled-gateway: \(sentence)\n"), "\(taken.errors)")
  }
}
