import CandledClient
import Commits
import Market
import TestSupport
import TestTraits
import Testing

@testable import Postgres
@testable import Store

/// A logical replica: a subscription to the publications of schema.sql.
@Suite(.ownThread) struct ReplicaTests {
  /// A minute of another month.
  private static func moved(_ commit: Commit, days: Int) -> Commit {
    var commit = commit
    for index in commit.candles.indices {
      commit.candles[index].openedAt.add(days: days)
      commit.candles[index].closedAt.add(days: days)
      commit.candles[index].tradingDay = commit.candles[index].tradingDay.advanced(by: days)
    }
    return commit
  }

  @Test func `has every row, makes months, notifies its followers and is led by nobody`()
    async throws
  {
    let database = try StoreDatabase.alone()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 41)
    for minute in 0..<5 {
      _ = try await writer.commit(
        samples.minute(minute, position: Int64(minute + 1), instruments: 8))
    }
    let replica = try LogicalReplica()
    #expect(throws: StoreError.self) {
      try ReplicaCheck.requirePrimary(PostgresConnection(url: replica.url, application: "test"))
    }
    try replica.subscribe(to: database.publisherAddress())
    try replica.catchUp(with: database.url)
    #expect(
      try PublishedRows.differences(between: database.url, and: replica.url) == [])

    let client = try await CandledClient.connect(replica.url)
    let snapshot = try await client.snapshot()
    #expect(snapshot.seq == 5 && snapshot.quotes.count == 8)
    let listener = try NotificationListener(url: replica.url)
    for (minute, days) in [(5, 0), (6, 31), (7, -2_400)] {
      _ = try await writer.commit(
        Self.moved(
          samples.minute(minute, position: Int64(minute + 1), instruments: 8), days: days))
    }
    var items = client.follow(after: snapshot, pollSeconds: 3_600).makeAsyncIterator()
    for seq in 6...8 {
      guard case .change(let change) = try await items.next() else {
        Issue.record("no change")
        return
      }
      #expect(change.seq == Int64(seq) && change.candles.count == 8)
    }
    try replica.catchUp(with: database.url)
    #expect(try PublishedRows.differences(between: database.url, and: replica.url) == [])
    let payloads = try listener.payloads()
    #expect(payloads.count == 3)
    #expect(payloads.last?.hasPrefix("{\"v\":1,\"epoch\":\(snapshot.epoch),\"first\":8") == true)
    #expect(payloads.last?.contains("\"last\":8,\"q\":8,\"c\":8,\"r\":0") == true, "\(payloads)")

    // Applied again, as an upgrade is, it changes no row and is still the same schema.
    try Schema.apply(url: replica.url)
    try Schema.applyForReplica(url: replica.url)
    #expect(try Schema.check(url: replica.url) == [])
    #expect(try PublishedRows.differences(between: database.url, and: replica.url) == [])

    let lease = LeaseConnection(
      url: replica.url, holder: "test", host: "test", milliseconds: 10_000)
    let error = #expect(throws: StoreError.self) { try lease.take() }
    #expect(error?.code == .operatorNeeded)
    #expect(
      error?.message.contains("is a logical replica (subscription candled)") == true,
      "\(error as Any)")
    await #expect(throws: StoreError.self) {
      try await HistoryWriter(url: replica.url).connect()
    }
  }

  @Test func `without quotes has the candles and the ledger`() async throws {
    let database = try StoreDatabase.alone()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 42)
    _ = try await writer.commit(samples.minute(0, position: 1, instruments: 3))
    let replica = try LogicalReplica()
    try replica.subscribe(to: database.publisherAddress(), publication: "candled_candles")
    _ = try await writer.commit(samples.minute(1, position: 2, instruments: 3))
    try replica.catchUp(with: database.url)
    #expect(
      try PublishedRows.digests(at: database.url, publication: "candled_candles")
        == PublishedRows.digests(at: replica.url, publication: "candled_candles"))
    #expect(try replica.value("select count(*) from candled.candle_1m") == "6")
    #expect(try replica.value("select count(*) from candled.quote") == "0")
  }

  @Test func `a database with rows of its own does not become a replica`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 43)
    _ = try await writer.commit(samples.minute(0, position: 1, instruments: 1))
    let error = #expect(throws: StoreError.self) {
      try Schema.applyForReplica(url: database.url)
    }
    #expect(error?.message.contains("a logical replica begins empty") == true)
    #expect(try database.value("select count(*) from candled.lease") == "1")
    let fresh = try StoreDatabase()
    try Schema.applyForReplica(url: fresh.url)
    #expect(try fresh.value("select count(*) from candled.feed_sequence") == "0")
    #expect(try fresh.value("select count(*) from candled.market") == "0")
  }

  @Test func `a slot that is left behind is lost at its limit, and an alarm before`() async throws {
    let database = try StoreDatabase.alone(
      more: ["max_slot_wal_keep_size": "64MB", "max_wal_size": "64MB", "min_wal_size": "32MB"])
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 44)
    try database.execute("select pg_create_logical_replication_slot('gone', 'pgoutput')")
    _ = try await writer.commit(samples.minute(0, position: 1, instruments: 1))
    let first = try #require(try await writer.replicas().first)
    #expect(first.name == "gone" && !first.isConnected && first.alarm == nil, "\(first)")
    #expect(first.limitBytes == 64 << 20 && (first.keptBytes ?? .max) < 16 << 20)
    var alarms: [ReplicaLink.Alarm?] = []
    for _ in 0..<8 {
      // A segment of 16 MB each.
      try database.execute("select pg_logical_emit_message(false, 'test', 'x'), pg_switch_wal()")
      alarms.append(try await writer.replicas().first?.alarm)
      try database.execute("checkpoint")
    }
    #expect(alarms.contains(.nearLimit))
    let last = try #require(try await writer.replicas().first)
    #expect(last.isLost && last.alarm == .lost && last.keptBytes == nil, "\(last)")
  }

  @Test func `a standby is seen by its primary, without a slot of its own`() async throws {
    let database = try StoreDatabase.alone()
    let writer = try await freshWriter(database)
    let standby = try Standby(of: database)
    try standby.catchUp(with: database)
    var found = try #require(try await writer.replicas().first)
    // Until its first report nothing is known of how far it is.
    for _ in 0..<300 where found.lagBytes == nil {
      try await Task.sleep(for: .milliseconds(100))
      found = try #require(try await writer.replicas().first)
    }
    #expect(found.isConnected && found.keptBytes == nil && found.alarm == nil, "\(found)")
    #expect((found.lagBytes ?? .max) < 1 << 20)
  }
}

extension Timestamp {
  fileprivate mutating func add(days: Int) { self = adding(seconds: Int64(days) * 86_400) }
}
