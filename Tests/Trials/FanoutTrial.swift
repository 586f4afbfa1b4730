import Commits
import EmbeddedPostgres
import ExchangeSimulator
import Feeds
import Foundation
import Ledgers
import Market
import Postgres
import Store
import TestExchange
import TestSupport

/// Followers whose connections are cut again and again must each end with exactly the table's
/// candles, and must have seen every final candle once.
package struct FanoutTrial: Sendable {
  package var binary: String
  package var followers = 3
  package var cuts: Int
  package var instruments: Int
  package var seed: UInt64
  package var start = 9 * 3600 + 24 * 60
  package var stop: Int

  package init(binary: String, cuts: Int, instruments: Int, seed: UInt64, stop: Int) {
    self.binary = binary
    self.cuts = cuts
    self.instruments = instruments
    self.seed = seed
    self.stop = stop
  }

  package struct Verdict: Sendable {
    package var candles = 0
    package var cuts = 0
    package var changes = 0
    package var complaints: [String] = []
  }

  package func run() async throws -> Verdict {
    let folder = try Leftovers.folder("fanout")
    defer { Leftovers.remove(folder) }
    let cluster = try PrivateCluster.own()
    let admin = cluster.server.ownerConnectionString
    try Schema.apply(url: admin, sources: SourceRegistry.rows)
    let market = SimulatedMarket(
      seed: seed, day: TradingDay(daysSince1970: 20_640), instruments: instruments)
    let exchange = try ExchangeServer(market: market)
    defer { exchange.stop() }
    let daemon = try DaemonProcess(
      binary: binary, folder: folder,
      store: cluster.server.url(database: EmbeddedServer.databaseName), exchange: exchange,
      symbols: market.symbols, start: Timestamp(day: market.day, secondOfDay: start),
      stop: Timestamp(day: market.day, secondOfDay: stop))
    let collectors = (0..<followers).map { _ in Follower() }
    let tasks = collectors.map { follower in Task { try await follower.follow(admin) } }
    defer { for task in tasks { task.cancel() } }
    try daemon.start()
    let cut = try await cutConnections(admin, while: daemon)
    try daemon.finish(secondsMax: 900)
    for follower in collectors { try await follower.wait(for: Follower.lastSeq(admin)) }
    return try await verify(collectors, admin, cut)
  }

  /// Ends a follower's session, `cuts` times, at random moments of the run.
  private func cutConnections(_ url: String, while daemon: DaemonProcess) async throws -> Int {
    var random = SplitMix(seed: seed)
    var done = 0
    // Also when the day is over: a follower that reconnects then must still not miss its end.
    for _ in 0..<cuts * 20 where done < cuts {
      try await Task.sleep(nanoseconds: UInt64.random(in: 100...700, using: &random) * 1_000_000)
      let ended = try SQLProbe.run(
        """
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name like 'candled follower%' limit 1
        """, url: url)
      done += ended.count
    }
    return done
  }

  private func verify(
    _ followers: [Follower], _ url: String, _ cut: Int
  ) async throws -> Verdict {
    var verdict = Verdict()
    verdict.cuts = cut
    verdict.changes = Int(try Follower.lastSeq(url))
    let table = try Follower.table(url)
    verdict.candles = table.count
    for (number, follower) in followers.enumerated() {
      verdict.complaints += await follower.complaints.map { "follower \(number): \($0)" }
      let seen = await follower.lines
      if seen != table {
        verdict.complaints.append(
          "follower \(number) has \(seen.count) candles, the table \(table.count): "
            + "\(seen.symmetricDifference(table).prefix(3))")
      }
    }
    if table.isEmpty { verdict.complaints.append("no candles were written") }
    if cut < cuts { verdict.complaints.append("only \(cut) of \(cuts) connections were cut") }
    return verdict
  }
}
