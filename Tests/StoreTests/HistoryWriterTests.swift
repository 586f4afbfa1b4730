import CandledClient
import Commits
import Market
import TestSupport
import Testing

@testable import Postgres
@testable import Store

@Suite struct HistoryWriterTests {
  private func batch(_ number: Int, days: Range<Int>, random: inout SplitMix) -> BarBatch {
    var samples = StoreSamples(seed: random.next())
    let candles = days.map { day in
      var candle = samples.candle(number, minute: 0)
      candle.timeframe = .day1
      candle.tradingDay = StoreSamples.day.advanced(by: day)
      candle.openedAt = candle.openedAt.adding(seconds: Int64(day) * 86_400)
      candle.closedAt = candle.openedAt.adding(seconds: 5 * 3600)
      candle.flags = []
      return candle
    }
    return BarBatch(
      symbol: StoreSamples.symbol(number), source: .sina, timeframe: .day1, candles: candles,
      receivedAt: StoreSamples.start)
  }

  private func history(_ database: StoreDatabase) async throws -> HistoryWriter {
    let writer = HistoryWriter(url: database.url)
    try await writer.connect()
    return writer
  }

  @Test func `a session that stands still in a transaction is ended, with a lease or without`()
    throws
  {
    let database = try StoreDatabase()
    let session = try WriterSession(url: database.url, application: "candled history")
    let response = try session.connection.execute(
      "show idle_in_transaction_session_timeout", context: "test")
    #expect(response.textRows == [["20s"]])
  }

  @Test func `a chunk is stored with its candles and takes no journal position`() async throws {
    let database = try StoreDatabase()
    let writer = try await history(database)
    var random = SplitMix(seed: 1)
    let chunk = HistoryCommit.Chunk(name: "days", through: StoreSamples.start.shanghaiDay)
    let receipt = try await writer.commit(
      HistoryCommit(
        knownAt: StoreSamples.start, bars: [batch(0, days: 0..<70, random: &random)],
        chunk: chunk))
    #expect(receipt.candles == 70 && receipt.seq == 1)
    let done = try await writer.doneChunks(["days", "minutes"])
    #expect(done.keys.sorted() == ["days"])
    #expect(done["days"]?.through == chunk.through && done["days"]?.doneAt == StoreSamples.start)
    #expect(
      try database.execute(
        """
        select j.position, b.candles, cardinality(c.candle_opened_ats)
        from candled.journal_position j, candled.backfill_chunk b, candled.change c
        """) == [["0", "70", "70"]])
  }

  @Test func `bars that clash with stored ones are revised where they differ`() async throws {
    let database = try StoreDatabase()
    let writer = try await history(database)
    var random = SplitMix(seed: 2)
    var bars = batch(0, days: 0..<20, random: &random)
    _ = try await writer.commit(HistoryCommit(knownAt: StoreSamples.start, bars: [bars]))
    bars.candles[3].volume = ExactDecimal(1)
    let more = batch(1, days: 5..<9, random: &random)
    let receipt = try await writer.commit(
      HistoryCommit(knownAt: StoreSamples.start, bars: [more, bars, more]))
    #expect(receipt.candles == 4 && receipt.revisions == 1)
    let nothing = try await writer.commit(
      HistoryCommit(knownAt: StoreSamples.start, bars: [bars]))
    #expect(nothing.seq == nil)
  }

  /// As both do: of two that write at once one may be the slower ten times in a row.
  private func insist(
    _ commit: @Sendable () async throws(StoreError) -> Void
  ) async throws(StoreError) {
    while true {
      do throws(StoreError) {
        return try await commit()
      } catch {
        guard error.code == .transient else { throw error }
      }
    }
  }

  @Test func `followers beside a writing daemon get every candle of both exactly once`()
    async throws
  {
    let seed = UInt64.random(in: .min ... .max)
    let database = try StoreDatabase()
    let daemon = try await freshWriter(database)
    let past = try await history(database)
    let client = try await CandledClient.connect(database.url)
    let snapshot = try await client.snapshot()
    let commits = 30
    let live = Task {
      var samples = StoreSamples(seed: seed)
      for minute in 0..<commits {
        let commit = samples.minute(minute, position: Int64(minute + 1), instruments: 20)
        try await insist { () throws(StoreError) in _ = try await daemon.commit(commit) }
      }
    }
    let filling = Task {
      var random = SplitMix(seed: seed)
      for chunk in 0..<commits {
        let bars = (0..<5).map {
          batch($0 + 10, days: chunk * 10..<chunk * 10 + 10, random: &random)
        }
        let commit = HistoryCommit(
          knownAt: StoreSamples.start, bars: bars,
          chunk: HistoryCommit.Chunk(
            name: "days \(chunk)", through: StoreSamples.start.shanghaiDay))
        try await insist { () throws(StoreError) in _ = try await past.commit(commit) }
      }
    }
    let following = Task {
      var changes: [FeedChange] = []
      for try await case .change(let change) in client.follow(after: snapshot, pollSeconds: 1) {
        changes.append(change)
        if changes.count == 2 * commits { break }
      }
      return changes
    }
    defer { following.cancel() }
    try await live.value
    try await filling.value
    let changes = try await following.value
    let candles = changes.flatMap { $0.candles.map(\.candle) }
    let keys = Set(candles.map { "\($0.symbol) \($0.timeframe) \($0.openedAt)" })
    #expect(changes.map(\.seq) == Array(1...Int64(2 * commits)), "seed \(seed)")
    #expect(candles.count == commits * 20 + commits * 50, "seed \(seed)")
    #expect(keys.count == candles.count, "seed \(seed)")
  }

  @Test func `a chunk asked for less far than before stays done as far`() async throws {
    let writer = try await history(StoreDatabase())
    let day = StoreSamples.start.shanghaiDay
    for (days, later) in [(0, 1), (-5, 2), (3, 3)] as [(Int, Int64)] {
      try await writer.commit(
        HistoryCommit(
          knownAt: StoreSamples.start.adding(seconds: later), bars: [],
          chunk: HistoryCommit.Chunk(name: "days", through: day.advanced(by: days))))
      let done = try await writer.doneChunks(["days"])["days"]
      #expect(done?.through == day.advanced(by: max(days, 0)))
      #expect(done?.doneAt == StoreSamples.start.adding(seconds: later))
    }
  }

  @Test func `a backfill whose sessions are killed at random stores every chunk once`()
    async throws
  {
    let seed = UInt64.random(in: .min ... .max)
    let database = try StoreDatabase()
    let writer = try await history(database)
    var random = SplitMix(seed: seed)
    for index in 0..<25 {
      let commit = HistoryCommit(
        knownAt: StoreSamples.start,
        bars: [batch(index, days: 0..<40, random: &random)],
        chunk: HistoryCommit.Chunk(
          name: "days \(index)", through: StoreSamples.start.shanghaiDay))
      async let ended: Void = database.endSessions(of: "candled history")
      try await persist(commit, with: writer)
      try await ended
    }
    #expect(
      try database.execute(
        "select count(*), max(revision), (select count(*) from candled.change),"
          + " (select sum(candles) from candled.backfill_chunk) from candled.candle")
        == [["1000", "0", "25", "1000"]], "seed \(seed)")
  }

  private func persist(_ commit: HistoryCommit, with writer: HistoryWriter) async throws {
    guard let chunk = commit.chunk else { return }
    while true {
      do throws(StoreError) {
        if try await writer.doneChunks([chunk.name])[chunk.name] != nil { return }
        try await writer.commit(commit)
        return
      } catch  where error.isTransient {
        while (try? await writer.connect()) == nil { await Task.yield() }
      }
    }
  }
}
