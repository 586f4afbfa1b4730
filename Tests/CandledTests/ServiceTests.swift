import ExchangeSimulator
import Foundation
import Glibc
import Ledgers
import Market
import TestExchange
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct `A service` {
  @Test func `notifies systemd of its start, its reloads and its end`() throws {
    let day = try #require(TradingDay("2026-07-06"))
    let market = SimulatedMarket(seed: 3, day: day, instruments: 15)
    let exchange = try ExchangeServer(market: market)
    defer { exchange.stop() }
    let database = try StoreDatabase()
    let folder = try PrivateCluster.freshDirectory()
    let socket = try NotifySocket()
    let daemon = try RunningBinary(
      ["run"] + SimulatedMorning.options(exchange, market.symbols, stateDirectory: folder) + [
        "--set", "clock.mode=scaled", "--set", "clock.speed=10",
        "--set", "clock.start=2026-07-06T09:30:30+08:00",
      ],
      input: SimulatedMorning.configuration(database),
      environment: ["NOTIFY_SOCKET=\(socket.name)", "WATCHDOG_USEC=2000000"])
    var kinds: [String] = []
    func readMessages(until wanted: String) throws {
      repeat {
        let message = try socket.next()
        let kind =
          message.split(whereSeparator: { "=\n".contains($0) }).first.map(String.init) ?? ""
        if !["WATCHDOG", "STATUS", "EXTEND_TIMEOUT_USEC"].contains(kind) { kinds.append(kind) }
        if kind == wanted { return }
      } while true
    }
    try readMessages(until: "WATCHDOG")
    try readMessages(until: "READY")
    daemon.signal(SIGHUP)
    try readMessages(until: "RELOADING")
    try readMessages(until: "READY")
    daemon.signal(SIGTERM)
    try readMessages(until: "STOPPING")
    #expect(try daemon.ended() == 0, "\(daemon.captured)")
    #expect(kinds == ["READY", "RELOADING", "READY", "STOPPING"])
    #expect(daemon.captured.contains("reloaded"), "\(daemon.captured)")
    #expect(daemon.captured.contains("stopped"))
  }

  /// Port 1 is reserved (tcpmux): nothing listens there.
  private static func runWithoutUpstream(_ stateDirectory: String) -> [String] {
    let base = "http://127.0.0.1:1"
    return [
      "run", "--config", "/dev/stdin", "--set", "state_directory=\(stateDirectory)",
      "--set", "quotes.symbols=sh000001", "--set", "sina.base=\(base)",
      "--set", "tencent.base=\(base)",
      "--set", "sina.history_base=\(base)", "--set", "sina.list_base=\(base)",
      "--set", "sina.reference_base=\(base)", "--set", "admin.listen=",
    ]
  }

  @Test func `waits at its start for a database that is away, logs it, and ends on a signal`()
    throws
  {
    let folder = try PrivateCluster.freshDirectory()
    let socket = try NotifySocket()
    let daemon = try RunningBinary(
      Self.runWithoutUpstream(folder),
      input: Array("[store]\nurl = \"postgres://candled@127.0.0.1:1/candled\"\n".utf8),
      environment: ["NOTIFY_SOCKET=\(socket.name)"])
    #expect(daemon.logContains("cannot reach the database, will retry"), "\(daemon.captured)")
    // Or else systemd would give it up.
    while try !socket.next().hasPrefix("EXTEND_TIMEOUT_USEC=") {}
    daemon.signal(SIGTERM)
    #expect(try daemon.ended() == 0, "\(daemon.captured)")
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func `a stop while it starts ends with 0`(number: Int32) throws {
    let database = try StoreDatabase()
    let folder = try PrivateCluster.freshDirectory()
    let daemon = try RunningBinary(
      Self.runWithoutUpstream(folder), input: SimulatedMorning.configuration(database))
    // The log's first line comes after the handlers, and may come before the store is open.
    #expect(daemon.logContains("level="), "\(daemon.captured)")
    daemon.signal(number)
    #expect(try daemon.ended() == 0, "\(daemon.captured)")
  }

  @Test func `is started again without end, but for what does not mend itself`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let unit = try String(
      contentsOf: root.appending(path: "systemd/candled.service"), encoding: .utf8
    ).split(separator: "\n")
    #expect(unit.contains("StartLimitIntervalSec=0"))
    #expect(unit.contains("Restart=on-failure"))
    // Neither a database without a schema (65) nor one that is not there (69).
    #expect(unit.contains("RestartPreventExitStatus=64 66 77 78"))
  }
}
