import CandledClient
import Commits
import EmbeddedPostgres
import Foundation
import Market
import Postgres
import Reader
import Store
import TestSupport
import TestTraits
import Testing

@testable import Gateway

@Suite(.ownThread) struct FeedFollowerTests {
  @Test("after random commits memory holds what the view latest shows, digit by digit")
  func equalsLatest() async throws {
    let seed = UInt64.random(in: .min ... .max)
    let fixture = try await GatewayFixture()
    var samples = StoreSamples(seed: seed)
    _ = try await fixture.state { $0.isLoaded }
    for position in 1...12 {
      let instruments = Int.random(in: 1...30, using: &samples.random)
      _ = try await fixture.writer.commit(
        samples.sweep(
          position: Int64(position), instruments: instruments,
          second: Session.morningOpen + position * 3))
    }
    let state = try await fixture.state(through: 12)
    try expectLatest(state, of: fixture.database, seed: seed)
    // The same once more, read as a whole.
    let another = try await GatewayFixture(fixture.database)
    try expectLatest(try await another.state(through: 12), of: fixture.database, seed: seed)
    #expect(fixture.news.updates.map(\.seq) == Array(1...12), "seed \(seed)")
  }

  private func expectLatest(_ state: MarketState, of database: StoreDatabase, seed: UInt64) throws {
    let rows = try database.execute(
      """
      select symbol, name, last, change, percent_change, open, high, low, previous_close, volume,
        turnover, nullif(bid, 0), nullif(ask, 0), trading, changed_seq, trading_day,
        bid_prices[1], bid_volumes[5]
      from candled.latest order by symbol
      """)
    #expect(state.stocks.compactMap(\.self).count == rows.count, "seed \(seed)")
    for row in rows {
      let place = try #require(state.directory.place(spelling: row[0] ?? ""))
      let stock = try #require(state.stocks[place.index]).fields
      let texts = [
        "symbol", "name", "currentPrice", "change", "changePercent", "openPrice", "highPrice",
        "lowPrice", "previousClose", "volume", "turnover", "bidPrice", "askPrice", "trading",
      ].map { stock[$0] as? String }
      #expect(texts == Array(row[0..<14]), "seed \(seed)")
      #expect((stock["seq"] as? Int).map(String.init) == row[14], "seed \(seed)")
      #expect(stock["tradingDay"] as? String == row[15], "seed \(seed)")
      let bids = stock["bids"] as? [[String: String]] ?? []
      #expect(bids.first?["price"] == row[16], "seed \(seed)")
      #expect((bids.count == 5 ? bids[4]["volume"] : nil) == row[17], "seed \(seed)")
    }
  }

  @Test("candles, gaps and events come once, in order, to sinks and ring")
  func messages() async throws {
    let fixture = try await GatewayFixture()
    _ = try await fixture.state { $0.isLoaded }
    var samples = StoreSamples(seed: 3)
    for minute in 0..<3 {
      _ = try await fixture.writer.commit(
        samples.minute(minute, position: Int64(minute + 1), instruments: 4))
    }
    let state = try await fixture.state(through: 3)
    let updates = fixture.news.updates
    #expect(updates.map(\.seq) == [1, 2, 3])
    for update in updates {
      #expect(update.messages.map(\.kind).filter { $0 == .candle(.minute1) }.count == 4)
      #expect(update.messages.last?.kind == .minuteComplete)
      // Of a quote that changed again since, only the newest is left.
      #expect(update.stocks.allSatisfy { $0.seq == update.seq })
    }
    #expect(updates.last?.stocks.count == 4)
    guard case .updates(let kept) = fixture.ring.updates(after: 1, epoch: state.epoch) else {
      Issue.record("the ring lacks what just came")
      return
    }
    #expect(kept.map(\.seq) == [2, 3])
    #expect(kept.map { $0.messages.map(\.json) } == updates[1...].map { $0.messages.map(\.json) })
  }

  @Test("what a mailbox has of the changes behind a snapshot is what the database has")
  func mailbox() async throws {
    let fixture = try await GatewayFixture()
    var samples = StoreSamples(seed: 10)
    _ = try await fixture.writer.commit(samples.sweep(position: 1, instruments: 9))
    let (memory, mailbox) = (MarketMemory(), FeedMailbox())
    let follower = FeedFollower(
      url: fixture.database.url, memory: memory, ring: FeedRing(), sinks: [], log: quietLog,
      pool: fixture.pool, mailbox: mailbox)
    let following = Task { await follower.run() }
    defer { following.cancel() }
    while !memory.state.isLoaded { try await Task.sleep(for: .milliseconds(5)) }
    mailbox.want(true)
    for position in 2...4 {
      _ = try await fixture.writer.commit(
        samples.sweep(
          position: Int64(position), instruments: 9, second: Session.morningOpen + position * 3))
    }
    while memory.state.seq < 4 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(mailbox.interrupt.isSignalled)
    let reader = try StoreReader(url: fixture.database.url)
    let symbols = Set(memory.state.stocks.compactMap { $0?.latest.quote.symbol }.dropFirst())
    let taken = mailbox.changes(of: symbols, after: 1, at: try reader.watchedPosition())
    let found = try #require(taken?.changes)
    let read = try reader.changes(of: symbols, after: 1)
    #expect(taken?.isBehind == false && found.lastSeq == 4 && found.symbols == symbols)
    #expect(found.clockOffsetMicroseconds == read.clockOffsetMicroseconds)
    #expect(newest(found) == newest(read) && !read.quotes.isEmpty)
    #expect(!mailbox.interrupt.isSignalled)
    #expect(mailbox.changes(of: symbols, after: 0, at: try reader.watchedPosition()) == nil)
  }

  /// All that each quote has.
  private func newest(_ changes: WatchedChanges) -> [Symbol: String] {
    let quotes = changes.quotes.map { row in
      (row.quote.quote.symbol, "\(row.quote.quote) \(row.isCoarse)")
    }
    return Dictionary(quotes) { $1 }
  }

  @Test("another life of the database leads to a resync, and to the state there is")
  func anotherDatabase() async throws {
    let fixture = try await GatewayFixture()
    _ = try await fixture.state { $0.isLoaded }
    var samples = StoreSamples(seed: 4)
    _ = try await fixture.writer.commit(samples.sweep(position: 1, instruments: 3))
    _ = try await fixture.state(through: 1)
    // The epoch of a restored or newly made database is another one.
    try fixture.database.execute("update candled.feed_sequence set epoch = epoch + 1")
    let writer = try await GatewayFixture.openWriter(fixture.database)
    _ = try await writer.commit(samples.sweep(position: 2, instruments: 5))
    let state = try await fixture.state { fixture.news.resyncs.count > 1 && $0.seq >= 2 }
    // The first is that of the start: a stream may have been opened before.
    #expect(fixture.news.resyncs == [.anotherDatabase, .anotherDatabase])
    try expectLatest(state, of: fixture.database, seed: 4)
  }

  @Test("at the start no more of the log is read than there is room for, the newest")
  func startBehindMuch() async throws {
    let fixture = try await GatewayFixture()
    var samples = StoreSamples(seed: 8)
    for minute in 0..<10 {
      _ = try await fixture.writer.commit(
        samples.minute(minute, position: Int64(minute + 1), instruments: 4))
    }
    let reader = try StoreReader(url: fixture.database.url)
    let seqs = try [1_000, 40, 39, 12, 4, 3].map {
      try reader.seq(committedSecondsAgo: FeedRing.secondsMax, rowsMax: $0)
    }
    #expect(seqs == [0, 0, 1, 7, 9, 10])
    // As after a backfill: far more messages than the ring holds.
    let small = FeedRing(bytesMax: 4_000)
    let memory = MarketMemory()
    let follower = FeedFollower(
      url: fixture.database.url, memory: memory, ring: small, sinks: [], log: quietLog,
      pool: fixture.pool)
    let following = Task { await follower.run() }
    defer { following.cancel() }
    while !small.isComplete { try await Task.sleep(for: .milliseconds(5)) }
    let state = memory.state
    #expect(state.seq == 10 && state.stocks.compactMap(\.self).count == 4)
    guard case .pastHorizon = small.updates(after: 6, epoch: state.epoch),
      case .updates(let kept) = small.updates(after: 9, epoch: state.epoch)
    else {
      Issue.record("the ring has other changes than the newest")
      return
    }
    #expect(kept.map(\.seq) == [10])
  }

  @Test("a database that was restored before the log was read has no log of the snapshot")
  func restoredBeforeLog() async throws {
    let fixture = try await GatewayFixture()
    var samples = StoreSamples(seed: 9)
    for position in Int64(1)...3 {
      _ = try await fixture.writer.commit(samples.sweep(position: position, instruments: 2))
    }
    let snapshot = try await CandledClient.connect(fixture.database.url).snapshot()
    let follower = FeedFollower(
      url: fixture.database.url, memory: MarketMemory(), ring: FeedRing(), sinks: [],
      log: quietLog, pool: fixture.pool)
    let log = try await follower.log(through: snapshot, on: fixture.pool)
    #expect(log.isComplete)
    try fixture.database.execute("update candled.feed_sequence set epoch = epoch + 1")
    await #expect(throws: StoreError.self) {
      try await follower.log(through: snapshot, on: fixture.pool)
    }
  }

  @Test("while PostgreSQL is away quotes go on, stale; when it is back nothing is missing")
  func away() async throws {
    let fixture = try await GatewayFixture(try .alone())
    var samples = StoreSamples(seed: 5)
    _ = try await fixture.writer.commit(samples.sweep(position: 1, instruments: 3))
    let before = try await fixture.state(through: 1)
    try fixture.database.server.stopImmediately()
    let lost = try await fixture.state { $0.lostAt != nil }
    #expect(lost.stocks.compactMap(\.self).count == 3 && lost.seq == 1)
    for stock in lost.stocks.compactMap(\.self) {
      #expect(try stock.fields["stale"] as? Bool == true)
    }
    try fixture.database.server.start()
    let writer = try await GatewayFixture.openWriter(fixture.database)
    _ = try await writer.commit(samples.sweep(position: 2, instruments: 4))
    let after = try await fixture.state(through: 2)
    for stock in after.stocks.compactMap(\.self) {
      #expect(try stock.fields["stale"] as? Bool == false)
    }
    try expectLatest(after, of: fixture.database, seed: 5)
    #expect(fixture.news.connections == [true, false])
    #expect(fixture.news.resyncs == [.anotherDatabase] && before.epoch == after.epoch)
  }

  @Test("while no daemon leads quotes are stale, also behind a lost connection")
  func leader() async throws {
    let fixture = try await GatewayFixture()
    var samples = StoreSamples(seed: 6)
    _ = try await fixture.writer.commit(samples.sweep(position: 1, instruments: 2))
    _ = try await fixture.state(through: 1)
    fixture.follower.setLed(true)
    fixture.follower.setLed(false)
    fixture.follower.setLed(false)
    let stale = try await fixture.state { $0.lostAt != nil }
    for stock in stale.stocks.compactMap(\.self) {
      #expect(try stock.fields["stale"] as? Bool == true)
    }
    _ = try await fixture.writer.commit(samples.sweep(position: 2, instruments: 2))
    let next = try await fixture.state { $0.seq >= 2 }
    #expect(next.lostAt != nil)
    fixture.follower.setLed(true)
    let back = try await fixture.state { $0.lostAt == nil }
    for stock in back.stocks.compactMap(\.self) {
      #expect(try stock.fields["stale"] as? Bool == false)
    }
    #expect(fixture.news.connections == [true, false])
  }

  @Test("a daemon leads as long as its lease is in force")
  func lease() throws {
    let database = try StoreDatabase()
    let reader = try StoreReader(url: database.url)
    try database.execute(
      """
      delete from candled.lease;
      delete from candled.lease_term;
      insert into candled.lease (term, holder, host, acquired_at, expires_at)
      values (1, 'a', 'b', now(), now() + interval '10 s');
      insert into candled.lease_term (term, holder, host, acquired_at, from_journal)
      values (1, 'a', 'b', now(), 'a')
      """)
    #expect(try reader.isLed())
    try database.execute("update candled.lease set expires_at = now() - interval '1 s'")
    #expect(try !reader.isLed())
    try database.execute("delete from candled.lease")
    #expect(try !reader.isLed())
  }
}
