import Commits
import Market
import Postgres
import Store
import TestSupport
import Testing

@Suite struct RestartTests {
  @Test func `load returns what random commits left behind`() async throws {
    let seed = UInt64.random(in: .min ... .max)
    var samples = StoreSamples(seed: seed)
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    var expected: [Symbol: QuoteRow] = [:]
    var last = Commit(position: .start, knownAt: StoreSamples.start)
    for position in 1...40 {
      last = samples.sweep(position: Int64(position * 3), instruments: 0)
      let count = Int.random(in: 1...30, using: &samples.random)
      for _ in 0..<count {
        let number = Int.random(in: 0..<50, using: &samples.random)
        let row = samples.quote(number, second: Session.morningOpen + position * 3)
        last.quotes.append(row)
        expected[row.quote.symbol] = row
      }
      _ = try await writer.commit(last)
    }
    let fresh = StoreWriter(url: database.url)
    try await fresh.connect()
    let state = try await fresh.load()
    #expect(state.position == last.position, "seed \(seed)")
    #expect(state.knownAt == last.knownAt, "seed \(seed)")
    #expect(state.bookState == last.bookState, "seed \(seed)")
    #expect(state.lastSeq == 40, "seed \(seed)")
    #expect(Set(state.quotes.map(\.symbol)) == Set(expected.keys), "seed \(seed)")
    for stored in state.quotes {
      let row = try #require(expected[stored.symbol])
      #expect(stored.bookState == row.bookState, "seed \(seed)")
      #expect(stored.name == row.name, "seed \(seed)")
      #expect(stored.quote == row.quote, "seed \(seed)")
      #expect(stored.receivedAt == row.receivedAt, "seed \(seed)")
    }
  }

  @Test func `a writer whose sessions are killed at random stores every commit once`()
    async throws
  {
    let seed = UInt64.random(in: .min ... .max)
    var samples = StoreSamples(seed: seed)
    let database = try StoreDatabase()
    let writer = try await freshWriter(database)
    for minute in 0..<25 {
      let commit = samples.minute(minute, position: Int64(minute + 1), instruments: 40)
      async let ended: Void = database.endSessions(of: "candled writer")
      try await persist(commit, with: writer)
      try await ended
    }
    #expect(
      try database.execute(
        "select count(*), max(revision), (select position from candled.journal_position),"
          + " (select count(*) from candled.change), (select max(seq) from candled.change)"
          + " from candled.candle") == [["1000", "0", "25", "25", "25"]], "seed \(seed)")
  }

  /// What the daemon does: repeat the same commit until it is known to be stored.
  private func persist(_ commit: Commit, with writer: StoreWriter) async throws {
    while true {
      do throws(StoreError) {
        _ = try await writer.commit(commit)
        return
      } catch  where error.isTransient {
        while (try? await writer.connect()) == nil { await Task.yield() }
      }
    }
  }
}
