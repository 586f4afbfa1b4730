import Commits
import Glibc
import Market
import Platform
import Postgres
import Reader
import Store
import TestSupport
import Testing

@testable import CandledClient

@Suite struct FeedTests {
  @Test func `a follower killed thirty times gets every final candle exactly once`() async throws {
    let seed = UInt64.random(in: .min ... .max)
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    let client = try await CandledClient.connect(database.url)
    let snapshot = try await client.snapshot()
    let commits = 60
    let writing = Task {
      var samples = StoreSamples(seed: seed)
      for minute in 0..<commits {
        _ = try await writer.commit(
          samples.minute(minute, position: Int64(minute + 1), instruments: 20))
        if minute % 2 == 1 {
          try database.endSessions(of: "candled follower")
        }
      }
    }
    var seen: [String: Int] = [:]
    var seqs: [Int64] = []
    for try await case .change(let change) in client.follow(after: snapshot, pollSeconds: 1) {
      seqs.append(change.seq)
      for stored in change.candles {
        seen["\(stored.candle.symbol) \(stored.candle.openedAt)", default: 0] += 1
      }
      if seqs.count == commits { break }
    }
    try await writing.value
    #expect(seqs == Array(1...Int64(commits)), "seed \(seed)")
    #expect(seen.count == commits * 20, "seed \(seed)")
    #expect(seen.values.allSatisfy { $0 == 1 }, "seed \(seed)")
  }

  /// Each of its pauses is a quarter of a second at most; the usual ones grow to seconds.
  @Test func `a server that does not answer is tried again as often as set`() async throws {
    let (listener, port) = try LoopbackListener.open()
    let attempts = Locked(0)
    try DetachedThread.start(name: "refusing") {
      LoopbackListener.serve(listener) { _ in attempts.withLock { $0 += 1 } }
    }
    let session = FollowSession(
      FeedItems(
        url: "host=127.0.0.1 port=\(port) sslmode=disable gssencmode=disable", after: 0,
        epoch: nil, pollSeconds: 5, retryMillisecondsMax: 250, onConnection: { _ in }))
    let following = Task { await session.next() }
    try await Task.sleep(for: .seconds(3))
    session.interrupt.signal()
    _ = await following.value
    shutdown(listener, Int32(SHUT_RDWR))
    #expect(attempts.withLock { $0 } >= 11)
  }

  @Test func `a longest pause of nothing is one`() async throws {
    let (listener, port) = try LoopbackListener.open()
    let session = FollowSession(
      FeedItems(
        url: "host=127.0.0.1 port=\(port) sslmode=disable gssencmode=disable", after: 0,
        epoch: nil, pollSeconds: 5, retryMillisecondsMax: 0, onConnection: { _ in }))
    let attempts = Locked(0)
    try DetachedThread.start(name: "refusing") {
      LoopbackListener.serve(listener) { _ in
        let count = attempts.withLock { count in
          count += 1
          return count
        }
        if count == 3 { session.interrupt.signal() }
      }
    }
    _ = await session.next()
    shutdown(listener, Int32(SHUT_RDWR))
    #expect(attempts.withLock { $0 } >= 3)
  }

  @Test func `a change carries the rows it was made of`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 21)
    _ = try await writer.commit(samples.minute(0, position: 1, instruments: 2))
    var commit = samples.minute(1, position: 2, instruments: 2)
    commit.revisions = [Revision(candle: samples.candle(0, minute: 0), cause: .latePrint)]
    commit.gaps = [
      Gap(
        symbol: StoreSamples.symbol(1), tradingDay: StoreSamples.day, from: StoreSamples.start,
        to: StoreSamples.start.adding(seconds: 600), volume: ExactDecimal(5),
        turnover: ExactDecimal(units: 501, scale: 2), cause: .outage)
    ]
    commit.events += [
      .feedStalled(source: "sina", since: StoreSamples.start),
      .feedRecovered(source: "sina", at: StoreSamples.start.adding(seconds: 1)),
      .dayComplete(day: StoreSamples.day, instruments: 2, residuals: 0),
    ]
    commit.events += DisputeEvent.Kind.allCases.map { kind in
      .dispute(
        DisputeEvent(
          kind: kind, symbol: StoreSamples.symbol(1), tradingDay: StoreSamples.day,
          at: StoreSamples.start))
    }
    _ = try await writer.commit(commit)
    let client = try await CandledClient.connect(database.url)
    var items = client.follow(after: 1).makeAsyncIterator()
    guard case .change(let change) = try await items.next() else {
      Issue.record("no change")
      return
    }
    #expect(change.candles.map(\.candle) == commit.candles)
    #expect(change.revisions.map(\.candle) == commit.revisions.map(\.candle))
    #expect(change.revisions.map(\.revision) == [1])
    #expect(change.gaps == commit.gaps)
    #expect(change.events == commit.events)
    #expect(change.quotes.count == 2)
    for (row, stored) in zip(commit.quotes, change.quotes) {
      #expect(stored.forming == row.forming)
      #expect(stored.name == row.name)
      #expect(stored.quote.last == row.quote.last)
      #expect(stored.quote.afterHours == row.quote.afterHours)
      for level in 0..<5 {
        #expect(stored.quote.bids[level] == row.quote.bids[level])
        #expect(stored.quote.asks[level] == row.quote.asks[level])
      }
    }
  }

  @Test func `changes that name many candles come in several batches, none missed`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 24)
    // The fourth is more than a batch may hold, and comes alone.
    for (minute, instruments) in [4, 4, 4, 30, 4].enumerated() {
      _ = try await writer.commit(
        samples.minute(minute, position: Int64(minute + 1), instruments: instruments))
    }
    let reader = try StoreReader(following: database.url, candlesMax: 10)
    var batches: [[Int]] = []
    var seq: Int64 = 0
    while true {
      let batch = try reader.changes(after: seq)
      batches.append(batch.changes.map(\.candles.count))
      seq = batch.changes.last?.seq ?? seq
      if !batch.hasMore { break }
    }
    #expect(batches == [[4, 4], [4], [30], [4]] && seq == 5)
  }

  @Test func `past the horizon a follower receives what it missed`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 22)
    for position in 1...10 {
      _ = try await writer.commit(samples.sweep(position: Int64(position), instruments: 1))
    }
    try database.execute(
      "update candled.ledger set expires = 'seq <= 7' where name = 'change'")
    #expect(try await writer.prune(on: StoreSamples.start.shanghaiDay) == 7)
    let client = try await CandledClient.connect(database.url)
    var items = client.follow(after: 2).makeAsyncIterator()
    guard case .skipped(let from, let to) = try await items.next() else {
      Issue.record("nothing skipped")
      return
    }
    #expect(from == 3 && to == 7)
    guard case .change(let change) = try await items.next() else {
      Issue.record("no change")
      return
    }
    #expect(change.seq == 8)
  }

  @Test func `the position is stored without a row where that is asked for`() async throws {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var commit = Commit(
      position: JournalPosition(7), knownAt: Timestamp(seconds: 1_783_300_000), bookState: [1])
    #expect(try await writer.commit(commit) == CommitReceipt())
    #expect(try await writer.load().position == .start)
    commit.storesPosition = true
    #expect(try await writer.commit(commit).seq == 1)
    let stored = try await writer.load()
    #expect(stored.position == JournalPosition(7) && stored.bookState == [1])
  }

  @Test func `another epoch is announced`() async throws {
    let database = try StoreDatabase()
    let client = try await CandledClient.connect(database.url)
    let snapshot = try await client.snapshot()
    try database.execute("update candled.feed_sequence set epoch = epoch + 1, last_seq = 4")
    var items = client.follow(after: snapshot).makeAsyncIterator()
    guard case .restarted(let epoch, let seq) = try await items.next() else {
      Issue.record("not announced")
      return
    }
    #expect(epoch == snapshot.epoch + 1 && seq == 4)
  }

  @Test func `a restored database gives the feed another epoch, however far it went on`()
    async throws
  {
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    let epoch = try await CandledClient.connect(database.url).snapshot().epoch
    var samples = StoreSamples(seed: 25)
    _ = try await writer.commit(samples.sweep(position: 1, instruments: 1))
    await writer.disconnect()
    let backup = try database.copied()
    try await writer.connect()
    _ = try await writer.commit(samples.sweep(position: 2, instruments: 1))
    let snapshot = try await CandledClient.connect(database.url).snapshot()
    #expect(snapshot.seq == 2 && snapshot.epoch == epoch)
    let later = StoreWriter(url: backup)
    try await later.connect()
    _ = try await later.load()
    for position in 2...4 {
      _ = try await later.commit(samples.sweep(position: Int64(position), instruments: 1))
    }
    let client = try await CandledClient.connect(backup)
    var items = client.follow(after: snapshot).makeAsyncIterator()
    guard case .restarted(let another, let seq) = try await items.next() else {
      Issue.record("not announced")
      return
    }
    #expect(another > epoch && seq == 4)
  }

  @Test func `one commit sends one notification of less than 200 bytes`() async throws {
    let database = try StoreDatabase()
    let listener = try NotificationListener(url: database.url)
    let writer = try await freshWriter(database)
    var samples = StoreSamples(seed: 23)
    for minute in 0..<5 {
      _ = try await writer.commit(
        samples.minute(minute, position: Int64(minute + 1), instruments: 300))
    }
    let payloads = try listener.payloads()
    #expect(payloads.count == 5)
    #expect(payloads.allSatisfy { $0.utf8.count < 200 })
    #expect(payloads.last?.contains("\"last\":5,\"q\":300,\"c\":300") == true)
  }

  @Test func `following ends when its task is cancelled`() async throws {
    let database = try StoreDatabase()
    let client = try await CandledClient.connect(database.url)
    let following = Task {
      var items = 0
      for try await _ in client.follow(after: nil) { items += 1 }
      return items
    }
    following.cancel()
    #expect(try await following.value == 0)
  }

  @Test func `the bridge to Foundation is exact`() throws {
    #expect("\(try ExactDecimal("-1769.041").decimal)" == "-1769.041")
    #expect("\(ExactDecimal(units: .min, scale: 18).decimal)" == "-9.223372036854775808")
  }
}
