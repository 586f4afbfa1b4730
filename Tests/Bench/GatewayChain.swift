/// The whole chain: a simulated exchange, the daemon, a durable PostgreSQL, the built
/// candled-gateway as a process of its own, and a client with a WebSocket.
///
/// The daemon's clock is stepped, as in `latency`: it asks for the next sweep as soon as one is
/// stored. In a real day it has three seconds for that.

import AppStore
import ExchangeSimulator
import Glibc
import Ingest
import Logging
import Market
import Operations
import Platform
import Postgres
import TestSupport

func gatewayChain() async throws {
  let day = try SimulatedDay()
  defer { day.end() }
  try AppSchema.file.apply(url: day.database.url)
  var chain = ChainBench()
  try await chain.run(day)
  report([chain.total])
  printLine(
    "  \(chain.total.rounds.count) sweeps, \(chain.unmatched) more could not be matched; the "
      + "gateway took \(decimals(chain.gatewayMilliseconds, 1)) ms of CPU for each")
  check("a follower of 20 has a sweep after", chain.total.median, atMost: 60, "ms p50")
  check("a follower of 20 has a sweep after", chain.total.quantile(0.99), atMost: 150, "ms p99")
  try history(in: day)
}

private struct ChainBench {
  private static let sweeps = 240

  var total = BenchRow("last byte of a sweep → WebSocket message")
  var unmatched = 0
  var gatewayMilliseconds = 0.0

  mutating func run(_ day: SimulatedDay) async throws {
    let settings = try day.settings(from: Session.morningOpen - 3, to: Session.morningClose)
    let log = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
    let daemon = try Daemon(settings: settings, log: log)
    let (ready, announce) = AsyncStream.makeStream(of: DaemonHandle.self)
    let running = Task {
      defer { announce.finish() }
      return try await daemon.run { announce.yield($0) }
    }
    for await handle in ready {
      defer { handle.engine.stop() }
      try await follow(handle.engine, of: day)
    }
    _ = try await running.value
  }

  private mutating func follow(_ engine: Engine, of day: SimulatedDay) async throws {
    // Whoever follows must find the instruments.
    while await engine.report(on: []).status.commits.sequence < 2 {
      try await Task.sleep(for: .milliseconds(10))
    }
    let gateway = try startGateway(of: day)
    defer { gateway.stop() }
    let follower = try ChainFollower(port: gateway.port, symbols: day.followedSymbols)
    defer { follower.stop() }
    var answers: [Int64: Timestamp] = [:]
    let before = gateway.cpuMilliseconds
    var seen = 0
    while seen < Self.sweeps {
      let commits = await engine.report(on: []).status.commits
      if let answeredAt = commits.answeredAt { answers[commits.sequence] = answeredAt }
      for message in follower.taken() {
        seen += 1
        guard let answeredAt = answers[message.seq] else {
          unmatched += 1
          continue
        }
        total.rounds.append(Double(message.at.microseconds(since: answeredAt)) / 1_000)
      }
      try await Task.sleep(for: .milliseconds(1))
    }
    gatewayMilliseconds = (gateway.cpuMilliseconds - before) / Double(Self.sweeps)
  }
}

/// - Parameter limits: what clients may ask.
func startGateway(
  of day: SimulatedDay, limits: [String] = GatewayLimits.none
) throws -> ServerProcess {
  let port = try LoopbackListener.freePort()
  let settings = [
    "gateway.listen=127.0.0.1:\(port)", "gateway.store_url=\(day.storeURL)",
    "gateway.anonymous=true", "log.level=warning",
  ]
  let gateway = try ServerProcess(
    program: try Machine.program("candled-gateway"),
    arguments: ["run"] + (settings + limits).flatMap { ["--set", $0] }, port: port)
  let request = BenchRequest.get("/readyz")
  let deadline = MonotonicClock.seconds() + 30
  while (try? BenchRequest.answer(to: request, of: port)) == nil {
    guard MonotonicClock.seconds() < deadline else {
      throw BenchFailure(description: "candled-gateway is not ready after 30 s")
    }
    usleep(20_000)
  }
  return gateway
}

enum GatewayLimits {
  static let none = [
    "gateway.user_requests_per_second=0", "gateway.address_requests_per_second=0",
    "gateway.address_bytes_per_second=0",
  ]
  static let usual: [String] = []
}

/// Reads prices on a thread of its own and notes when each message was there.
private final class ChainFollower: Sendable {
  struct Message: Sendable {
    let seq: Int64
    let at: Timestamp
  }

  private let socket: Int32
  private let messages = Locked<[Message]>([])

  init(port: UInt16, symbols: [String]) throws {
    socket = try BenchSocket.connect(to: port)
    try BenchSocket.send(BenchSocket.upgradeRequest(), to: socket)
    let rest = try BenchSocket.upgrade(socket)
    let list = symbols.map { "\"\($0)\"" }.joined(separator: ",")
    let request = """
      {"action":"subscribe","channels":[{"name":"stock-prices","symbols":[\(list)]}]}
      """
    try BenchSocket.send(BenchSocket.frame(request), to: socket)
    try DetachedThread.start(name: "follower") { [self] in read(from: rest) }
  }

  func stop() { shutdown(socket, Int32(SHUT_RDWR)) }

  func taken() -> [Message] {
    messages.withLock { messages in
      defer { messages = [] }
      return messages
    }
  }

  private func read(from rest: [UInt8]) {
    var bytes = rest
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = recv(socket, &piece, piece.count, 0)
      guard count > 0 else { break }
      let now = EngineClock.realNow()
      bytes += piece[..<count]
      while let (payload, length) = Self.frame(in: bytes) {
        if let seq = Self.seq(ofPrices: payload) {
          messages.withLock { $0.append(Message(seq: seq, at: now)) }
        }
        bytes.removeFirst(length)
      }
    }
    close(socket)
  }

  /// - Returns: the first payload and the length of its frame; nil while it is not complete.
  private static func frame(in bytes: [UInt8]) -> (payload: ArraySlice<UInt8>, length: Int)? {
    guard bytes.count > 1 else { return nil }
    let more = bytes[1] == 126 ? 2 : bytes[1] == 127 ? 8 : 0
    guard bytes.count >= 2 + more else { return nil }
    let length =
      more == 0 ? Int(bytes[1]) : bytes[2..<2 + more].reduce(0) { $0 << 8 | Int($1) }
    let end = 2 + more + length
    return bytes.count < end ? nil : (bytes[(2 + more)..<end], end)
  }

  private static func seq(ofPrices payload: ArraySlice<UInt8>) -> Int64? {
    let head = Array("{\"type\":\"stock-prices\",\"seq\":".utf8)
    guard payload.starts(with: head) else { return nil }
    return payload.dropFirst(head.count).prefix { (48...57).contains($0) }
      .reduce(0) { $0 * 10 + Int64($1 - 48) }
  }
}

// MARK: History

private enum HistoryBench {
  static let rounds = 400
  static let warmingRounds = 50
  /// The whole market's minutes of the day before, as a daemon writes them.
  static let filling = """
    set search_path = candled;
    select ensure_partition('2026-07-01');
    insert into candle
    select o, o + interval '1 minute', o + interval '65 seconds', i.id, '2026-07-03', 1, 0, 1, 0,
      p + 0.01, p + 0.05, p, p + 0.03, 1000, 1000 * p, null, null
    from (
      select m
      from market
      cross join lateral trading_sessions(market, '2026-07-03') d
      cross join lateral generate_series(
        d.opens, d.closes - interval '1 minute', interval '1 minute') m
      where market.code = 1
    ) t (o)
    cross join instrument i
    cross join lateral (select ((i.id % 90) * 10 + 10)::numeric(10, 3)) x (p)
    order by o, i.id;
    analyze candle
    """
}

private func history(in day: SimulatedDay) throws {
  try day.database.execute(HistoryBench.filling)
  let gateway = try startGateway(of: day)
  defer { gateway.stop() }
  let symbols = day.followedSymbols
  let socket = try BenchSocket.connect(to: gateway.port)
  defer { close(socket) }
  var row = BenchRow("240 minutes of one, over HTTP")
  var bytes = 0
  for round in -HistoryBench.warmingRounds..<HistoryBench.rounds {
    let symbol = symbols[abs(round) % symbols.count]
    let path = "/v1/stocks/\(symbol)/history?interval=1m&from=2026-07-03&to=2026-07-04"
    let began = milliseconds()
    bytes = try BenchRequest.answer(to: BenchRequest.get(path), on: socket).count
    if round >= 0 { row.rounds.append(milliseconds() - began) }
  }
  report([row])
  printLine("  \(bytes) bytes an answer")
  check("240 minutes of history", row.median, atMost: 5, "ms p50")
}
