import ExchangeSimulator
import Foundation
import Glibc
import Market
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct `A service` {
  @Test func `tells systemd of its start, its reloads and its end`() throws {
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
    func hear(until wanted: String) throws {
      repeat {
        let message = try socket.next()
        let kind =
          message.split(whereSeparator: { "=\n".contains($0) }).first.map(String.init) ?? ""
        if !["WATCHDOG", "STATUS", "EXTEND_TIMEOUT_USEC"].contains(kind) { kinds.append(kind) }
        if kind == wanted { return }
      } while true
    }
    try hear(until: "WATCHDOG")
    try hear(until: "READY")
    daemon.signal(SIGHUP)
    try hear(until: "RELOADING")
    try hear(until: "READY")
    daemon.signal(SIGTERM)
    try hear(until: "STOPPING")
    #expect(try daemon.ended() == 0, "\(daemon.heard)")
    #expect(kinds == ["READY", "RELOADING", "READY", "STOPPING"])
    #expect(daemon.heard.contains("reloaded"), "\(daemon.heard)")
    #expect(daemon.heard.contains("stopped"))
  }

  /// Port 1 is reserved (tcpmux): nothing listens there.
  private static func runAskingNobody(_ stateDirectory: String) -> [String] {
    let base = "http://127.0.0.1:1"
    return [
      "run", "--config", "/dev/stdin", "--set", "state_directory=\(stateDirectory)",
      "--set", "sina.symbols=sh000001", "--set", "sina.base=\(base)",
      "--set", "sina.history_base=\(base)", "--set", "sina.list_base=\(base)",
      "--set", "sina.reference_base=\(base)", "--set", "admin.listen=",
    ]
  }

  @Test func `waits for a database that is away at its start, says so, and ends when told`() throws
  {
    let folder = try PrivateCluster.freshDirectory()
    let socket = try NotifySocket()
    let daemon = try RunningBinary(
      Self.runAskingNobody(folder),
      input: Array("[store]\nurl = \"postgres://candled@127.0.0.1:1/candled\"\n".utf8),
      environment: ["NOTIFY_SOCKET=\(socket.name)"])
    #expect(daemon.says("the database is not there, waiting for it"), "\(daemon.heard)")
    // Or else systemd would give it up.
    while try !socket.next().hasPrefix("EXTEND_TIMEOUT_USEC=") {}
    daemon.signal(SIGTERM)
    #expect(try daemon.ended() == 0, "\(daemon.heard)")
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func `told to stop while it starts, it ends with 0`(number: Int32) throws {
    let database = try StoreDatabase()
    let folder = try PrivateCluster.freshDirectory()
    let daemon = try RunningBinary(
      Self.runAskingNobody(folder), input: SimulatedMorning.configuration(database))
    // The log's first line comes after the handlers, and may come before the store is open.
    #expect(daemon.says("level="), "\(daemon.heard)")
    daemon.signal(number)
    #expect(try daemon.ended() == 0, "\(daemon.heard)")
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
