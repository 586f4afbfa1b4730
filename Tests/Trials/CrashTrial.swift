import Commits
import EmbeddedPostgres
import ExchangeSimulator
import Feeds
import Foundation
import Ledgers
import Market
import Store
import TestExchange
import TestSupport

/// A day interrupted at random instants must leave the tables an uninterrupted one leaves: the
/// daemon killed with SIGKILL, or PostgreSQL killed under it.
package struct CrashTrial {
  package enum Victim: String, Sendable { case daemon, database }

  package var binary: String
  package var victim: Victim
  package var kills: Int
  package var instruments: Int
  package var seed: UInt64
  /// Seconds of the simulated day.
  package var start = 9 * 3600 + 24 * 60
  package var stop = 15 * 3600 + 37 * 60

  package init(binary: String, victim: Victim, kills: Int, instruments: Int, seed: UInt64) {
    self.binary = binary
    self.victim = victim
    self.kills = kills
    self.instruments = instruments
    self.seed = seed
  }

  package struct Verdict: Sendable {
    package var rows = 0
    package var kills = 0
    package var complaints: [String] = []
  }

  package func run() throws -> Verdict {
    let folder = try Leftovers.folder("crash")
    defer { Leftovers.remove(folder) }
    let cluster = try PrivateCluster.own()
    let calm = try day(in: folder + "/calm", cluster: cluster, database: "calm") { daemon, _ in
      try daemon.start()
      return 0
    }
    var random = SplitMix(seed: seed)
    let rough = try day(in: folder + "/rough", cluster: cluster, database: "rough") {
      daemon, exchange in
      switch victim {
      case .daemon: try killDaemon(daemon, exchange, &random)
      case .database: try killDatabase(cluster, under: daemon, exchange, &random)
      }
    }
    var verdict = Verdict(rows: rough.dump.rows, kills: rough.kills)
    verdict.complaints = rough.dump.differences(from: calm.dump)
    if rough.kills < kills {
      verdict.complaints.append("the day was over after \(rough.kills) of \(kills) kills")
    }
    if calm.dump.rows == 0 { verdict.complaints.append("the calm day left no rows") }
    return verdict
  }

  private func day(
    in folder: String, cluster: PrivateCluster, database: String,
    _ disturb: (DaemonProcess, ExchangeServer) throws -> Int
  ) throws -> (dump: TableDump, kills: Int) {
    try cluster.server.createDatabase(database)
    let admin = cluster.server.adminConnectionString(database: database)
    try Schema.apply(url: admin, sources: SourceRegistry.rows)
    let market = SimulatedMarket(
      seed: seed, day: TradingDay(daysSince1970: 20_640), instruments: instruments)
    let exchange = try ExchangeServer(market: market)
    defer { exchange.stop() }
    let daemon = try DaemonProcess(
      binary: binary, folder: folder, store: cluster.server.url(database: database),
      exchange: exchange, symbols: market.symbols,
      start: Timestamp(day: market.day, secondOfDay: start),
      stop: Timestamp(day: market.day, secondOfDay: stop))
    let kills = try disturb(daemon, exchange)
    try daemon.finish(secondsMax: 600)
    return (try TableDump(url: admin), kills)
  }

  /// Waits until a random part of the day has passed, by what the exchange was asked: however fast
  /// the machine, all kills fall into the day. Then a little longer, to strike between requests.
  private func wait(
    for daemon: DaemonProcess, _ exchange: ExchangeServer, _ random: inout SplitMix
  ) {
    let slots = (stop - start) / 60 * 12
    let share = max(slots / (kills + 1), 2)
    let target = exchange.requestsAnswered + Int.random(in: 1...share, using: &random)
    while daemon.isRunning, exchange.requestsAnswered < target { usleep(500) }
    usleep(UInt32.random(in: 0...4_000, using: &random))
  }

  private func killDaemon(
    _ daemon: DaemonProcess, _ exchange: ExchangeServer, _ random: inout SplitMix
  ) throws -> Int {
    var done = 0
    while done < kills {
      try daemon.start()
      wait(for: daemon, exchange, &random)
      guard daemon.isRunning else { return done }
      daemon.kill()
      done += 1
    }
    try daemon.start()
    return done
  }

  private func killDatabase(
    _ cluster: PrivateCluster, under daemon: DaemonProcess, _ exchange: ExchangeServer,
    _ random: inout SplitMix
  ) throws -> Int {
    try daemon.start()
    let pid = daemon.pid
    var done = 0
    while done < kills {
      wait(for: daemon, exchange, &random)
      guard daemon.isRunning else { return done }
      try cluster.server.killHard()
      usleep(UInt32.random(in: 0...500_000, using: &random))
      try cluster.server.start()
      done += 1
    }
    if daemon.pid != pid || !daemon.isRunning, done < kills {
      throw DaemonProcess.Failure(description: "the daemon did not outlive the database")
    }
    return done
  }
}
