import CandledClient
import ExchangeSimulator
import Foundation
import Market
import Store
import TestSupport

/// Followers whose connections are cut again and again must each end with exactly the table's
/// candles, and must have seen every final candle once.
public struct FanoutTrial: Sendable {
  public var binary: String
  public var followers = 3
  public var cuts: Int
  public var instruments: Int
  public var seed: UInt64
  public var start = 9 * 3600 + 24 * 60
  public var stop: Int

  public init(binary: String, cuts: Int, instruments: Int, seed: UInt64, stop: Int) {
    self.binary = binary
    self.cuts = cuts
    self.instruments = instruments
    self.seed = seed
    self.stop = stop
  }

  public struct Verdict: Sendable {
    public var candles = 0
    public var cuts = 0
    public var changes = 0
    public var complaints: [String] = []
  }

  /// What one follower has made of the feed.
  private actor Follower {
    var candles: [DayRows.CandleKey: Candle] = [:]
    var quotes: [Symbol: Quote] = [:]
    var lastSeq: Int64 = 0
    var complaints: [String] = []

    /// Waits until the follower has come as far as the table; a minute is an hour here.
    func wait(for seq: Int64) async throws {
      for _ in 0..<600 where lastSeq < seq { try await Task.sleep(nanoseconds: 100_000_000) }
      if lastSeq < seq { complaints.append("stopped at change \(lastSeq) of \(seq)") }
    }

    func take(_ item: FeedItem) {
      guard case .change(let change) = item else {
        complaints.append("an item that is no change: \(item)")
        return
      }
      if change.seq != lastSeq + 1 { complaints.append("\(change.seq) after \(lastSeq)") }
      lastSeq = change.seq
      for stored in change.candles {
        if candles.updateValue(stored.candle, forKey: .init(stored.candle)) != nil {
          complaints.append("seen twice: \(stored.candle.symbol) \(stored.candle.openedAt)")
        }
      }
      for stored in change.revisions { candles[.init(stored.candle)] = stored.candle }
      for row in change.quotes { quotes[row.quote.symbol] = row.quote }
    }
  }

  public func run() async throws -> Verdict {
    let folder = NSTemporaryDirectory() + "candled-fanout-\(getpid())"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let cluster = try PrivateCluster.own()
    let admin = cluster.server.connectionString
    try Schema.apply(url: admin)
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
    let tasks = collectors.map { follower in Task { try await collect(admin, into: follower) } }
    defer { for task in tasks { task.cancel() } }
    try daemon.start()
    let cut = try await cutConnections(admin, while: daemon)
    try daemon.finish(secondsMax: 900)
    for follower in collectors { try await follower.wait(for: lastSeq(admin)) }
    return try await judge(collectors, admin, cut)
  }

  private func collect(_ url: String, into follower: Follower) async throws {
    let client = try await CandledClient.connect(url)
    for try await item in client.follow(after: 0, pollSeconds: 1) { await follower.take(item) }
  }

  private func lastSeq(_ url: String) throws -> Int64 {
    let rows = try SQLProbe.run("select max(seq) from candled.change", url: url)
    return rows.first?.first?.flatMap { Int64($0) } ?? 0
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

  private func judge(
    _ followers: [Follower], _ url: String, _ cut: Int
  ) async throws -> Verdict {
    var verdict = Verdict()
    verdict.cuts = cut
    verdict.changes = Int(try lastSeq(url))
    let stored = try SQLProbe.run(
      """
      select i.symbol, c.timeframe, extract(epoch from c.opened_at)::bigint, c.open, c.high,
        c.low, c.close, c.volume, c.turnover, c.flags
      from candled.candle c join candled.instrument i on i.id = c.instrument_id
      """, url: url)
    let table = Set(stored.map { $0.map { $0 ?? "" }.joined(separator: " ") })
    verdict.candles = table.count
    for (number, follower) in followers.enumerated() {
      verdict.complaints += await follower.complaints.map { "follower \(number): \($0)" }
      let seen = Set(await follower.candles.values.map(line))
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

  private func line(_ candle: Candle) -> String {
    let prices = [
      candle.open, candle.high, candle.low, candle.close, candle.volume,
      candle.turnover ?? .zero,
    ]
    return "\(candle.symbol) \(candle.timeframe.rawValue) \(candle.openedAt.seconds) "
      + prices.map(\.description).joined(separator: " ") + " \(candle.flags.rawValue)"
  }
}
