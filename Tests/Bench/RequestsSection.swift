/// What requests cost, by HTTP: the dearest alone, then what one client that asks for them as fast
/// as it may costs another's history. Alone and beside take turns in one run; the gateway is the
/// built one, as a process of its own.

import Glibc
import Market

let requestsSection = BenchSection(
  name: "requests", title: "what requests cost, and what one client costs another"
) { _ in
  let day = try SimulatedDay()
  defer { day.end() }
  let bench = RequestsBench(market: try await RequestsMarket(day))
  try bench.measureCosts()
  try bench.measureOthers()
  try bench.measureAnonymousBytes()
}

private struct RequestsBench {
  let market: RequestsMarket

  private static let rounds = 101
  private static let sceneSeconds: Int64 = 20
  private static let settleMicroseconds: useconds_t = 2_000_000
  private static let clients = 16
  private static let moreClients = 40
  private static let sockets = 10
  /// How far back they begin: a good part of what was stored.
  private static let commitsBack: Int64 = 240
  /// Of a message that fits into a frame.
  private static let symbolsOfFrame = 1_400
  /// Four seconds' worth of bytes may come at once.
  private static let burstMicroseconds: useconds_t = 6_000_000
  private static let anonymousClients = 20

  private func gateway(limits: [String]) throws -> ServerProcess {
    try startGateway(of: market.day, limits: limits + ["gateway.broker=false"])
  }

  private func coverage(of day: String) -> String { "/v1/coverage?day=\(day)&limit=5000" }

  private var snapshots: String {
    "/v2/stocks/snapshots?symbols=\(market.symbols.joined(separator: ","))"
  }

  // MARK: Alone

  func measureCosts() throws {
    let gateway = try gateway(limits: GatewayLimits.none)
    defer { gateway.stop() }
    let socket = try BenchSocket.connect(to: gateway.port)
    defer { close(socket) }
    let days = RequestsMarket.days
    for (name, path, isCompressed, bound) in [
      ("coverage of a day with certificates", coverage(of: days[days.count - 2]), false, 20),
      ("coverage of a day without", coverage(of: days[days.count - 1]), false, 20),
      ("snapshots of \(market.symbols.count)", snapshots, false, 30),
      ("portfolio of \(RequestsMarket.holdings)", "/v1/portfolio", false, 5),
      ("all assets", "/v2/assets", false, nil), ("all assets, gzip", "/v2/assets", true, nil),
    ] as [(String, String, Bool, Double?)] {
      let request = BenchRequest.get(path, token: market.token, isCompressed: isCompressed)
      let began = milliseconds()
      let bytes = try BenchRequest.answer(to: request, on: socket).count
      let took = milliseconds() - began
      var row = BenchRow(name)
      for _ in 0..<Self.rounds {
        let began = milliseconds()
        _ = try BenchRequest.answer(to: request, on: socket)
        row.rounds.append(milliseconds() - began)
      }
      report([row])
      printLine("    the first took \(decimals(took, 1)) ms; \(bytes) bytes")
      if let bound { check(name, row.median, atMost: bound, "ms p50") }
    }
  }

  // MARK: Beside another

  func measureOthers() throws {
    let gateway = try gateway(limits: GatewayLimits.usual)
    defer { gateway.stop() }
    let port = gateway.port
    let user = try QuietUser(port: port, token: market.token, symbol: market.symbols[0])
    // More days than are kept.
    let coverages = RequestsMarket.days.map(coverage)
    for (name, clients, paths, isCompressed) in [
      ("coverage", Self.clients, coverages, false),
      ("coverage", Self.moreClients, coverages, false),
      ("snapshots of \(market.symbols.count)", Self.clients, [snapshots], false),
      ("all assets, gzip", Self.clients, ["/v2/assets"], true),
    ] {
      try measure(user, beside: "\(clients) × \(name)") { crowd in
        for client in 0..<clients {
          // Three tokens of a user are one client.
          let token = market.greedyTokens[client % market.greedyTokens.count]
          let first = client % paths.count
          let requests = (paths[first...] + paths[..<first]).map {
            BenchRequest.get($0, token: token, isCompressed: isCompressed)
          }
          try crowd.begin { $0.ask(requests, of: port) }
        }
      }
    }
    let messages = try subscriptions("candles", isLate: true, of: port)
    let token = market.greedyTokens[0]
    try measure(user, beside: "\(Self.sockets) sockets, all candles since long ago") { crowd in
      for _ in 0..<Self.sockets {
        try crowd.begin { $0.follow(messages, of: port, token: token) }
      }
    }
  }

  private func measure(
    _ user: QuietUser, beside name: String, begin: (GreedyCrowd) throws -> Void
  ) throws {
    let alone = try user.measure(seconds: Self.sceneSeconds)
    let crowd = GreedyCrowd()
    let beside: (history: BenchRow, ping: BenchRow)
    do {
      try begin(crowd)
      usleep(Self.settleMicroseconds)
      beside = try user.measure(seconds: Self.sceneSeconds)
    } catch {
      _ = crowd.stop()
      throw error
    }
    let counts = crowd.stop()
    let mebibytes = decimals(Double(counts.bytes) / 1_048_576, 1)
    printLine(
      "  \(name): \(counts.answers) answered, \(counts.refusals) refused, \(mebibytes) MiB")
    report([alone.history, beside.history])
    report([alone.ping, beside.ping])
    for (share, text, bound) in [(0.5, "p50", 1.5), (0.99, "p99", 3)] {
      check(
        "another's history \(text)",
        beside.history.quantile(share) / alone.history.quantile(share), atMost: bound, "×")
    }
  }

  /// Of all instruments, in as many messages as they need.
  /// - Parameter isLate: whether they also ask for what was missed.
  private func subscriptions(
    _ channel: String, isLate: Bool, of port: UInt16
  ) throws -> [[UInt8]] {
    let request = BenchRequest.get("/v1/stocks?limit=1", token: market.token)
    let answer = String(decoding: try BenchRequest.answer(to: request, of: port), as: UTF8.self)
    func number(_ name: String) -> Int64 {
      let found = answer.firstRange(of: "\"\(name)\":").flatMap { range in
        Int64(answer[range.upperBound...].prefix { $0.isNumber })
      }
      return found ?? 0
    }
    let seq = max(number("seq") - Self.commitsBack, 0)
    let after = isLate ? "\"after\":{\"epoch\":\(number("epoch")),\"seq\":\(seq)}," : ""
    let all = market.allSymbols
    return stride(from: 0, to: all.count, by: Self.symbolsOfFrame).map { first in
      let list = all[first..<min(first + Self.symbolsOfFrame, all.count)]
        .map { "\"\($0)\"" }.joined(separator: ",")
      return BenchSocket.frame(
        """
        {"action":"subscribe",\(after)"channels":[{"name":"\(channel)","symbols":[\(list)]}]}
        """)
    }
  }

  // MARK: Without a token

  func measureAnonymousBytes() throws {
    let gateway = try gateway(limits: GatewayLimits.usual)
    defer { gateway.stop() }
    let port = gateway.port
    let messages = try subscriptions("stock-prices", isLate: false, of: port)
    let crowd = GreedyCrowd()
    defer { _ = crowd.stop() }
    for client in 0..<Self.anonymousClients {
      try crowd.begin { crowd in
        if client % 2 == 0 {
          crowd.follow(messages, of: port, token: nil)
        } else {
          crowd.ask([BenchRequest.get("/v2/assets")], of: port)
        }
      }
    }
    usleep(Self.burstMicroseconds)
    let (bytes, began) = (crowd.bytes, milliseconds())
    usleep(useconds_t(Self.sceneSeconds) * 1_000_000)
    let rate = Double(crowd.bytes - bytes) / 1_048.576 / (milliseconds() - began)
    check("an address without a token draws", rate, atMost: 8, "MiB/s")
  }
}
