import EmbeddedPostgres
import ExchangeSimulator
import Foundation
import Market
import Platform
import Postgres
import TestExchange
import TestSupport

/// PostgreSQL restarted under a daemon as by `pg_ctl -m immediate`, its private one half of the
/// times by `kill -9` of the postmaster: it must be written to again within two seconds of
/// accepting, without ever being asked for more than two connections a second, and the table must
/// be the ledger.
package struct RestartTrial {
  package enum Server: String, Sendable { case external, embedded }

  package var binary: String
  package var server: Server
  package var times: Int
  package var instruments: Int
  /// Second of the day at which it begins.
  package var start = TrialDay.start
  package var seed: UInt64

  /// From accepting connections to the first commit (issue: ≤ 2 s). A machine that is busy with a
  /// whole test run says nothing about it.
  package var commitMillisecondsMax = 2_000
  private static let connectsPerSecondMax = 2
  private static let waitSecondsMax = 120
  /// How long the server is away: long enough for several attempts.
  private static let awayMicrosecondsMax: UInt32 = 2_500_000

  package init(binary: String, server: Server, times: Int, instruments: Int, seed: UInt64) {
    self.binary = binary
    self.server = server
    self.times = times
    self.instruments = instruments
    self.seed = seed
  }

  package func run() throws -> ChaosVerdict {
    let isExternal = server == .external
    let world = try TrialDay(
      "restart", seed: seed, instruments: instruments, hasCluster: isExternal)
    defer { world.end() }
    let proxy = try world.cluster.map {
      try DatabaseProxy(socketDirectory: $0.server.socketDirectory)
    }
    defer { proxy?.stop() }
    let settings = try world.settings(start: start, proxy: proxy)
    let daemon = try world.daemon(settings, binary: binary)
    try daemon.start()
    let postgres = world.cluster?.server ?? world.embeddedServer
    defer { if !isExternal { try? postgres.stopImmediately() } }
    var random = SplitMix(seed: seed)
    var delays: [Int] = []
    while delays.count < times {
      try waitForRequests(world.exchange, daemon, &random)
      guard daemon.isRunning else { break }
      delays.append(try restart(postgres, world.url, &random))
    }
    try daemon.finish(secondsMax: 900)
    if !isExternal { try postgres.start() }
    var verdict = try world.verify()
    report(delays, proxy, into: &verdict)
    return verdict
  }

  private func report(
    _ delays: [Int], _ proxy: DatabaseProxy?, into verdict: inout ChaosVerdict
  ) {
    let slowest = delays.max() ?? 0
    let middle = delays.isEmpty ? 0 : delays.sorted()[delays.count / 2]
    var line =
      "\(delays.count) restarts (\(server.rawValue)), accepts → commit \(middle) ms p50, "
      + "\(slowest) ms at most"
    if let proxy {
      let most = proxy.connectsPerSecondMax
      line += ", \(proxy.connectMoments.count) connects, \(most) in a second at most"
      if most > Self.connectsPerSecondMax {
        verdict.complaints.append("\(most) connects within a second")
      }
    }
    verdict.figures.insert(line, at: 0)
    if slowest > commitMillisecondsMax {
      verdict.complaints.append("the first commit came \(slowest) ms after the server accepted")
    }
    if delays.count < times {
      verdict.complaints.append("the day was over after \(delays.count) of \(times) restarts")
    }
  }

  private func waitForRequests(
    _ exchange: ExchangeServer, _ daemon: DaemonProcess, _ random: inout SplitMix
  ) throws {
    let share = max(TrialDay.sweeps(from: start) / 2 / (times + 1), 2)
    let target = exchange.requestsAnswered + Int.random(in: 1...share, using: &random)
    let deadline = Date().addingTimeInterval(TimeInterval(Self.waitSecondsMax * 2))
    while daemon.isRunning, exchange.requestsAnswered < target, Date() < deadline { usleep(500) }
    if exchange.requestsAnswered < target, daemon.isRunning {
      throw TrialFailure("the daemon asked nothing for two minutes: \(daemon.logTail)")
    }
  }

  /// - Returns: milliseconds from accepting connections to the first commit.
  private func restart(
    _ postgres: EmbeddedServer, _ url: String, _ random: inout SplitMix
  ) throws -> Int {
    if server == .embedded, Bool.random(using: &random) {
      try postgres.killHard()
    } else {
      try postgres.stopImmediately()
    }
    let stopped = SystemClock.realMicroseconds()
    if server == .external {
      usleep(UInt32.random(in: 0...Self.awayMicrosecondsMax, using: &random))
      try postgres.start()
    }
    let accepted = try awaitResponse(url)
    let first = try awaitCommit(url, after: stopped)
    return max(Int((first - accepted) / 1000), 0)
  }

  /// - Returns: when a connection was first taken, by the real clock.
  private func awaitResponse(_ url: String) throws -> Int64 {
    let deadline = Date().addingTimeInterval(TimeInterval(Self.waitSecondsMax))
    while Date() < deadline {
      if (try? SQLProbe.run("select 1", url: url)) != nil { return SystemClock.realMicroseconds() }
      usleep(10_000)
    }
    throw TrialFailure("the server did not come back within \(Self.waitSecondsMax) s")
  }

  /// - Returns: when the first commit since `moment` was made, by the server's clock.
  private func awaitCommit(_ url: String, after moment: Int64) throws -> Int64 {
    let deadline = Date().addingTimeInterval(TimeInterval(Self.waitSecondsMax))
    while Date() < deadline {
      // The server may say once more that it is not ready.
      if let found = try? StoredFeed(url: url).firstCommit(after: moment) { return found }
      usleep(20_000)
    }
    throw TrialFailure(
      "no commit within \(Self.waitSecondsMax) s of the server's return")
  }
}
