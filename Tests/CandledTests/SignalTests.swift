import ExchangeSimulator
import Glibc
import Ledgers
import Market
import TestExchange
import TestSupport
import TestTraits
import Testing

@Suite(.ownThread) struct `A signal` {
  @Test(arguments: [SIGTERM, SIGINT])
  func `ends the daemon with its work saved`(number: Int32) throws {
    let day = try #require(TradingDay("2026-07-06"))
    let market = SimulatedMarket(seed: 3, day: day, instruments: 15)
    let exchange = try ExchangeServer(market: market)
    defer { exchange.stop() }
    let database = try StoreDatabase()
    let folder = try PrivateCluster.freshDirectory()
    let daemon = try RunningBinary(
      ["run"] + SimulatedMorning.options(exchange, market.symbols, stateDirectory: folder) + [
        "--set", "clock.mode=scaled", "--set", "clock.speed=10",
        "--set", "clock.start=2026-07-06T09:30:30+08:00",
      ],
      input: SimulatedMorning.configuration(database))
    #expect(daemon.logContains("ready"), "\(daemon.captured)")
    daemon.signal(number)
    #expect(try daemon.ended() == 0, "\(daemon.captured)")
    #expect(daemon.captured.contains("stopped"))
  }

  @Test func `ends a watch, which outlived its connection`() throws {
    let database = try StoreDatabase()
    let watch = try RunningBinary(
      ["watch", "--config", "/dev/stdin"], input: SimulatedMorning.configuration(database))
    // One connection took the snapshot, the other follows.
    let sessions =
      "from pg_stat_activity where application_name = 'candled follower'"
      + " and datname = current_database()"
    #expect(
      watch.listens {
        (try? database.value("select count(*) \(sessions) and state = 'idle'")) == "2"
      }, "\(watch.captured)")
    try database.execute("select pg_terminate_backend(pid) \(sessions)")
    #expect(watch.logContains("reconnecting"))
    #expect(watch.logContains("reconnected"), "\(watch.captured)")
    watch.signal(SIGINT)
    #expect(try watch.ended() == 0, "\(watch.captured)")
  }

  @Test func `ends a demo, and nothing of it stays`() throws {
    let demo = try RunningBinary.demo("--speed", "600", "--instruments", "30", "--days", "0")
    #expect(demo.logContains("look inside"), "\(demo.captured)")
    let folder = try #require(demo.captured.firstMatch(of: #/(/tmp/candled-demo-\w+)/#)?.1)
    demo.signal(SIGINT)
    #expect(try demo.ended() == 0, "\(demo.captured)")
    #expect(access(String(folder), F_OK) != 0)
    #expect(demo.captured.contains("data          discarded"), "\(demo.captured)")
    // What PostgreSQL tells whoever asks it something is not for people.
    #expect(!demo.captured.contains("NOTICE"), "\(demo.captured)")
    // The server's folder is gone; no process still names it.
    let survivors = try Self.commandLines().filter { $0.contains(folder) }
    #expect(survivors.isEmpty)
  }

  private static func commandLines() throws -> [String] {
    guard let processes = opendir("/proc") else { return [] }
    defer { closedir(processes) }
    var found: [String] = []
    while let entry = readdir(processes) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      let file = open("/proc/\(name)/cmdline", O_RDONLY | O_CLOEXEC)
      if file < 0 { continue }
      defer { close(file) }
      var block = [UInt8](repeating: 0, count: 4096)
      let count = read(file, &block, block.count)
      found.append(String(decoding: block.prefix(max(count, 0)), as: UTF8.self))
    }
    return found
  }
}
