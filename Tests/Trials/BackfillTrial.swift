import Commits
import EmbeddedPostgres
import ExchangeSimulator
import Feeds
import Foundation
import Ingest
import Ledgers
import Market
import Store
import TestExchange
import TestSupport

/// `candled backfill` killed with SIGKILL again and again, and resumed, beside a daemon that writes
/// a day into the same database and a follower of the feed: in the end every bar asked for is there
/// once and true, the daemon's day is whole, and the follower has seen every candle.
package struct BackfillTrial: Sendable {
  package var binary: String
  package var kills: Int
  package var instruments: Int
  /// The daemon's; its day is another one.
  package var liveInstruments: Int
  package var seed: UInt64
  /// Second of the daemon's day at which it ends.
  package var liveStop = 15 * 3600 + 37 * 60
  /// Of the backfill, which must last until it is killed for the last time.
  package var requestsPerMinute = 6_000

  private static let earlierDays = 500
  /// Ahead of all that is asked for.
  private static let liveDay = TradingDay(daysSince1970: 19_912)  // 2024-07-08

  package init(binary: String, kills: Int, instruments: Int, liveInstruments: Int, seed: UInt64) {
    self.binary = binary
    self.kills = kills
    self.instruments = instruments
    self.liveInstruments = liveInstruments
    self.seed = seed
  }

  package struct Verdict: Sendable {
    package var kills = 0
    package var chunks = 0
    package var requests = 0
    package var days = 0
    package var minutes = 0
    package var liveMinutes = 0
    package var changes = 0
    package var complaints: [String] = []
  }

  package func run() async throws -> Verdict {
    let folder = try Leftovers.folder("backfill")
    defer { Leftovers.remove(folder) }
    let cluster = try PrivateCluster.own()
    let admin = cluster.server.ownerConnectionString
    try Schema.apply(url: admin, sources: SourceRegistry.rows)
    let store = cluster.server.url(database: EmbeddedServer.databaseName)
    let live = try ExchangeServer(
      history: SimulatedHistory(
        seed: seed &+ 1, instruments: liveInstruments, days: [BackfillTrial.liveDay]),
      recordsEveryDay: true)
    defer { live.stop() }
    let daemon = try daemon(live, folder + "/daemon", store)
    let follower = Follower()
    let following = Task { try await follower.follow(admin) }
    defer { following.cancel() }
    try daemon.start()
    var verdict = Verdict()
    let sessions = RecentSessions(
      before: EngineClock.realNow().shanghaiDay, earlierDays: Self.earlierDays)
    try sessions.learn(into: admin)
    var past = try Past(seed: seed, instruments: instruments, sessions)
    try fill(from: &past, folder, store, &verdict)
    try daemon.finish(secondsMax: 900)
    try await follower.wait(for: Follower.lastSeq(admin))
    try past.verify(StoredMonth(url: admin), &verdict)
    try verify(live, StoredMonth(url: admin), &verdict)
    try await verify(follower, admin, &verdict)
    return verdict
  }

  private func daemon(
    _ live: ExchangeServer, _ folder: String, _ store: String
  ) throws -> DaemonProcess {
    let market = SimulatedMarket(
      seed: seed &+ 1, day: BackfillTrial.liveDay, instruments: liveInstruments)
    return try DaemonProcess(
      binary: binary, folder: folder, store: store, exchange: live, symbols: market.symbols,
      start: Timestamp(day: market.day, secondOfDay: 9 * 3600 + 24 * 60),
      stop: Timestamp(day: market.day, secondOfDay: liveStop))
  }

  /// The history, served as it stands when the last day is over.
  struct Past {
    var history: SimulatedHistory
    let moment: Timestamp
    /// Those that have bars.
    let symbols: [Symbol]

    init(seed: UInt64, instruments: Int, _ sessions: RecentSessions) throws {
      guard let last = sessions.minuteDays.last else { throw TrialFailure("no session") }
      history = SimulatedHistory(
        seed: seed, instruments: instruments, days: sessions.minuteDays,
        earlierDays: sessions.earlierDays)
      let moment = Timestamp(day: last, secondOfDay: 16 * 3600)
      self.moment = moment
      var history = history
      symbols = history.symbols.filter { symbol in
        !history.candles(of: symbol, .minute1, at: moment, count: 1).isEmpty
      }
    }

    var firstDay: TradingDay { history.earlierDays[0] }
    var firstMinuteDay: TradingDay { history.days[0] }
  }

  private func fill(
    from past: inout Past, _ folder: String, _ store: String, _ verdict: inout Verdict
  ) throws {
    let moment = past.moment
    let exchange = try ExchangeServer(history: past.history, clock: .function { moment })
    defer { exchange.stop() }
    var random = SplitMix(seed: seed)
    for (timeframe, from, kills) in [
      ("1d", past.firstDay, kills - kills / 2), ("1m", past.firstMinuteDay, kills / 2),
    ] {
      let command = try DaemonProcess(
        binary: binary, folder: folder + "/" + timeframe, store: store, exchange: exchange,
        symbols: past.symbols, start: moment, stop: moment.adding(seconds: 1),
        historyPerMinute: requestsPerMinute,
        arguments: ["backfill"] + past.symbols.map(\.description) + [
          "--from", "\(from)", "--timeframe", timeframe, "--resume",
        ])
      verdict.kills += try kill(command, kills, &random)
      try command.start()
      try command.finish(secondsMax: 600)
    }
    verdict.requests = exchange.requestsAnswered
    if verdict.kills < kills {
      verdict.complaints.append("all was filled after \(verdict.kills) of \(kills) kills")
    }
  }

  private func kill(
    _ command: DaemonProcess, _ times: Int, _ random: inout SplitMix
  ) throws -> Int {
    for done in 0..<times {
      try command.start()
      usleep(UInt32.random(in: 50_000...400_000, using: &random))
      guard command.isRunning else { return done }
      command.kill()
    }
    return times
  }
}

// MARK: - Judgement

extension BackfillTrial.Past {
  /// Every bar that was asked for is there, and no other.
  mutating func verify(
    _ stored: StoredMonth, _ verdict: inout BackfillTrial.Verdict
  ) throws {
    let found = try stored.dayCandles(from: firstDay)
    verdict.days = found.count
    verdict.chunks = try stored.chunks()
    var expected = 0
    for symbol in symbols {
      for truth in history.candles(of: symbol, .day1, at: moment) {
        expected += 1
        let key = StoredMonth.Key(symbol: symbol, openedAt: truth.openedAt)
        guard let candle = found[key], candle.isSame(as: truth) else {
          verdict.complaints.append(
            "\(symbol) \(truth.tradingDay): \(found[key].map { "\($0)" } ?? "no day")")
          continue
        }
      }
    }
    if expected != found.count {
      verdict.complaints.append("\(found.count) days stored, \(expected) asked for")
    }
    for day in history.days {
      let minutes = try stored.candles(on: day)
      verdict.minutes += minutes.count
      verdict.complaints += history.trueLedger(on: day).repairDifferences(
        candles: Array(minutes.values), of: Set(symbols))
      if let unknownSymbol = minutes.keys.first(where: { !symbols.contains($0.symbol) }) {
        verdict.complaints.append("\(unknownSymbol.symbol): minutes that nobody asked for")
      }
    }
    if verdict.days == 0 || verdict.minutes == 0 { verdict.complaints.append("nothing stored") }
  }
}

extension BackfillTrial {
  /// The daemon's day is what a daemon alone would have written.
  private func verify(
    _ live: ExchangeServer, _ stored: StoredMonth, _ verdict: inout Verdict
  ) throws {
    let day = BackfillTrial.liveDay
    let found = try stored.candles(on: day)
    verdict.liveMinutes = found.count
    let expected = live.withRecorder(of: day) { recorder in
      let ledger = recorder.observableLedger()
      return ledger.symbols.flatMap(ledger.candles(of:))
    }
    for candle in expected ?? [] where candle.closedAt.shanghaiSecondOfDay < liveStop - 60 {
      let key = StoredMonth.Key(symbol: candle.symbol, openedAt: candle.openedAt)
      if found[key] != candle {
        verdict.complaints.append("the daemon's \(candle.symbol) \(candle.openedAt) is not there")
      }
    }
    if found.isEmpty { verdict.complaints.append("the daemon wrote nothing") }
  }

  private func verify(
    _ follower: Follower, _ url: String, _ verdict: inout Verdict
  ) async throws {
    verdict.changes = Int(try Follower.lastSeq(url))
    verdict.complaints += await follower.complaints
    let table = try Follower.table(url)
    let seen = await follower.lines
    if seen != table {
      verdict.complaints.append(
        "the follower has \(seen.count) candles, the table \(table.count): "
          + "\(seen.symmetricDifference(table).prefix(3))")
    }
  }
}

extension Candle {
  /// The K-line rounds prices to three places, and tells no money of a day.
  fileprivate func isSame(as truth: Candle) -> Bool {
    let pairs = [
      (open, truth.open), (high, truth.high), (low, truth.low), (close, truth.close),
    ]
    return pairs.allSatisfy { $0 == $1 || $0 == $1.rounded(places: 3) }
      && volume == truth.volume && turnover == truth.turnover && closedAt == truth.closedAt
  }
}
