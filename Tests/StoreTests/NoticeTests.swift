import Commits
import Market
import Postgres
import Reader
import Store
import TestSupport
import TestTraits
import Testing

/// NOTIFY that fails, and listeners that do not read: neither costs a commit.
@Suite(.ownThread) struct NoticeTests {
  private func dumbDaemon(_ database: StoreDatabase, _ role: String) async throws -> StoreWriter {
    try database.execute(
      """
      create role \(role) login in role candled nosuperuser;
      revoke execute on function pg_notify from public
      """)
    let writer = StoreWriter(url: database.url(role: role))
    try await writer.connect()
    return writer
  }

  @Test func `a commit whose NOTIFY fails is stored without it, and counted`() async throws {
    let database = try StoreDatabase()
    let writer = try await dumbDaemon(database, "dumb_daemon")
    var samples = StoreSamples(seed: 51)
    for position in 1...3 {
      let receipt = try await writer.commit(
        samples.minute(position, position: Int64(position), instruments: 3))
      #expect(receipt.seq == Int64(position) && receipt.candles == 3)
      #expect(receipt.notifyFault?.sqlState == "42501")
    }
    #expect(try database.value("select count(*) from candled.change") == "3")
    try database.execute("grant execute on function pg_notify to public")
  }

  @Test func `a follower finds commits that were not notified by its timer`() async throws {
    let database = try StoreDatabase()
    let writer = try await dumbDaemon(database, "mute_daemon")
    let reader = try StoreReader(following: database.url)
    var samples = StoreSamples(seed: 52)
    #expect(
      try await writer.commit(samples.minute(1, position: 1, instruments: 3)).notifyFault != nil)
    #expect(try reader.wait(milliseconds: 50, interrupt: -1) == .timeout)
    #expect(try reader.changes(after: 0).lastSeq == 1)
    try database.execute("grant execute on function pg_notify to public")
  }

  @Test func `a history commit goes without NOTIFY too`() async throws {
    let database = try StoreDatabase()
    _ = try await dumbDaemon(database, "dumb_history")
    let history = HistoryWriter(url: database.url(role: "dumb_history"))
    try await history.connect()
    var samples = StoreSamples(seed: 53)
    let bars = (0..<10).map { samples.candle(0, minute: $0) }
    let receipt = try await history.commit(
      HistoryCommit(
        knownAt: StoreSamples.start,
        bars: [
          BarBatch(
            symbol: StoreSamples.symbol(0), source: .sina, timeframe: .minute1, candles: bars,
            receivedAt: StoreSamples.start)
        ]))
    #expect(receipt.candles == 10 && receipt.notifyFault != nil)
    try database.execute("grant execute on function pg_notify to public")
  }

  @Test(.timeLimit(.minutes(3)))
  func `a listener that does not read fills the queue, and is seen to`() async throws {
    // The queue belongs to the whole server.
    let database = try StoreDatabase.alone()
    let writer = try await freshWriter(database)
    #expect(try await writer.notificationQueue() == NotificationQueue(usage: .zero))
    let stuck = try StuckListener(database.url)
    try database.execute(
      """
      select count(pg_notify('candled', repeat('x', 7900) || n))
      from generate_series(1, 2000) n
      """)
    let filled = try await writer.notificationQueue().usage
    #expect(filled > .zero)
    var samples = StoreSamples(seed: 54)
    #expect(
      try await writer.commit(samples.minute(1, position: 1, instruments: 3)).notifyFault == nil)
    stuck.close()
    // Asking is what lets go of what nobody waits for any more, once the server has noticed.
    while try await writer.notificationQueue().usage >= filled {
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}
