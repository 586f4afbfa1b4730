import Commits
import EmbeddedPostgres
import Foundation
import Market
import Platform
import Postgres
import Store
import TestSupport

/// The servers of `ReplicaTrial`, and the one who writes.
final class ReplicaWorld {
  let database: StoreDatabase
  let replica: LogicalReplica
  let proxy: DatabaseProxy
  let folder: String
  private(set) var lastSeq: Int64 = 0
  private var standby: Standby?
  private var writer: StoreWriter
  private var samples: StoreSamples
  private var position: Int64 = 0
  private let instruments: Int

  static let slotMegabytes: Int64 = 256
  static let walMegabytes: Int64 = 128

  init(seed: UInt64, instruments: Int) throws {
    self.instruments = instruments
    samples = StoreSamples(seed: seed)
    folder = try Leftovers.folder("replica")
    let database = try StoreDatabase.alone(
      isDurable: true,
      more: [
        "max_slot_wal_keep_size": "\(Self.slotMegabytes)MB",
        "max_wal_size": "\(Self.walMegabytes)MB",
      ])
    let proxy = try DatabaseProxy(socketDirectory: database.server.socketDirectory)
    // A link that is silent is given up, as one would configure it between machines.
    let replica = try LogicalReplica(
      more: ["wal_receiver_timeout": "10s", "wal_receiver_status_interval": "1s"])
    (self.database, self.proxy, self.replica) = (database, proxy, replica)
    writer = StoreWriter(url: database.url)
    let name = try database.value("select current_database()") ?? ""
    try replica.subscribe(
      to: "host=127.0.0.1 port=\(proxy.port) dbname=\(name) user=candled_replica sslmode=disable")
  }

  func end() {
    proxy.stop()
    Leftovers.remove(folder)
  }

  var primaryURL: String { get throws { try database.daemonURL() } }

  var replicaURL: String {
    get throws {
      let name = try replica.value("select current_database()") ?? ""
      return replica.server.url(database: name)
    }
  }

  // MARK: Writing

  func connect() async throws {
    try await writer.connect()
    _ = try await writer.load()
  }

  /// The next minute of the market, now and then with a revision of the one before.
  /// - Returns: its microseconds.
  func commit(daysLater days: Int = 0) async throws -> Int64 {
    let minute = Int(position % Int64(Self.minutesOfDay))
    let day = days + Int(position / Int64(Self.minutesOfDay))
    position += 1
    var commit = samples.minute(minute, position: position, instruments: instruments)
    commit.candles = commit.candles.map { $0.moved(days: day) }
    if position % 10 == 0, let candle = commit.candles.first {
      var revised = candle
      revised.volume = samples.shares()
      commit.candles.removeFirst()
      _ = try await writer.commit(commitOf(candle, knownAt: commit.knownAt))
      position += 1
      commit.position = JournalPosition(position)
      commit.revisions = [Revision(candle: revised, cause: .latePrint)]
    }
    let clock = ContinuousClock()
    let start = clock.now
    let receipt = try await writer.commit(commit)
    lastSeq = receipt.seq ?? lastSeq
    return Int64((clock.now - start) / .microseconds(1))
  }

  private func commitOf(_ candle: Candle, knownAt: Timestamp) -> Commit {
    var commit = Commit(position: JournalPosition(position), knownAt: knownAt, bookState: [])
    commit.candles = [candle]
    return commit
  }

  private static let minutesOfDay = 240

  /// Days of one instrument, through the writer of history.
  /// - Returns: what was written, for people.
  func backfill(month: String) async throws -> String {
    guard let first = TradingDay("\(month)-01") else { throw TrialFailure("no month \(month)") }
    let history = HistoryWriter(url: database.url)
    try await history.connect()
    let offset = Int(first.daysSince1970 - StoreSamples.day.daysSince1970)
    let candles = (0..<28).map { day in
      var candle = samples.candle(0, minute: 0).moved(days: offset + day)
      candle.timeframe = .day1
      candle.closedAt = candle.openedAt.adding(seconds: 5 * 3_600)
      candle.flags = []
      return candle
    }
    let receipt = try await history.commit(
      HistoryCommit(
        knownAt: StoreSamples.start,
        bars: [
          BarBatch(
            symbol: StoreSamples.symbol(0), source: .sina, timeframe: .day1, candles: candles,
            receivedAt: StoreSamples.start)
        ]))
    lastSeq = receipt.seq ?? lastSeq
    return "\(receipt.candles) candles of \(month) beside it"
  }

  // MARK: Replicas

  func makeStandby() throws -> Standby {
    // No less than its primary has.
    let standby = try Standby(of: database, more: ["max_locks_per_transaction": "1024"])
    self.standby = standby
    return standby
  }

  func setSubscribed(_ isSubscribed: Bool) throws {
    try replica.execute(
      "alter subscription \(LogicalReplica.subscription) \(isSubscribed ? "enable" : "disable")")
    if isSubscribed { try replica.catchUp(with: database.url) }
  }

  func catchUp() throws {
    try standby?.catchUp(with: database)
    try replica.catchUp(with: database.url)
  }

  /// One sentence a table that is not everywhere the same.
  func differences() throws -> [String] {
    let copies = [("standby", standby?.url ?? ""), ("replica", replica.url)]
    return try copies.flatMap { name, url in
      try PublishedRows.differences(between: database.url, and: url).map { "\(name): \($0)" }
    }
  }

  func replicas() throws -> [ReplicaLink] {
    try ReplicaLink.all(of: PostgresConnection(url: database.url, application: "trial"))
  }

  @discardableResult
  func execute(_ sql: String) throws -> [[String?]] { try database.execute(sql) }

  func value(_ sql: String) throws -> String { try database.value(sql) ?? "" }

  func losePrimary() async {
    await writer.disconnect()
    try? database.server.stopImmediately()
  }

  /// The standby takes the primary's place, and the replica is made anew.
  func promote(_ standby: Standby) async throws {
    try standby.promote()
    writer = StoreWriter(url: standby.url)
    try await connect()
    try replica.forgetPrimary()
    let name = try standby.value("select current_database()") ?? ""
    try replica.subscribe(to: standby.server.address(name, as: "candled_replica"))
  }
}

extension Candle {
  fileprivate func moved(days: Int) -> Candle {
    var candle = self
    candle.openedAt = openedAt.adding(seconds: Int64(days) * 86_400)
    candle.closedAt = closedAt.adding(seconds: Int64(days) * 86_400)
    candle.tradingDay = tradingDay.advanced(by: days)
    return candle
  }
}
