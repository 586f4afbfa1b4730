import Commits
import Market
import Reader
import Store
import TestSupport
import Testing

@Suite struct AsOfTests {
  private struct Key: Hashable {
    var number: Int
    var minute: Int
  }

  /// What was stored, and since when.
  private struct State {
    var knownAt: Timestamp
    var candle: Candle
  }

  private static let commits = 80
  private static let instruments = 12
  private static let minutes = 60

  @Test func `a thousand random moments give what was stored then`() async throws {
    let seed = UInt64.random(in: .min ... .max)
    var samples = StoreSamples(seed: seed)
    var store = try await AskedStore()
    var history: [Key: [State]] = [:]
    var now = StoreSamples.start
    var instants = [now]
    for _ in 0..<Self.commits {
      now = now.adding(milliseconds: .random(in: 1...90_000, using: &samples.random))
      instants.append(now)
      try await Self.change(&store, &history, &samples, at: now)
    }
    let written = history.values.reduce(0) { $0 + $1.count }
    #expect(written > history.count, "seed \(seed)")
    for _ in 0..<1_000 {
      let key = Self.randomKey(&samples)
      // Half of them are the very instants at which something changed.
      let instant = instants[.random(in: instants.indices, using: &samples.random)]
      let moment =
        samples.oneIn(2)
        ? instant
        : Timestamp(
          microseconds: .random(
            in: StoreSamples.start.microseconds - 1...now.microseconds, using: &samples.random))
      let expected = history[key]?.last { $0.knownAt <= moment }?.candle
      let opened = Timestamp(
        day: StoreSamples.day, secondOfDay: Session.opening(ofMinute: key.minute))
      let found = try store.ask(StoreSamples.symbol(key.number), .minute1) { query in
        query.from = opened
        query.to = opened.adding(seconds: 60)
        query.asOf = moment
      }
      #expect(found == [expected].compactMap { $0 }.map { AskedCandle($0) }, "seed \(seed)")
    }
  }

  /// Commits some new candles and some revisions of stored ones, and remembers them.
  private static func change(
    _ store: inout AskedStore, _ history: inout [Key: [State]], _ samples: inout StoreSamples,
    at now: Timestamp
  ) async throws {
    var fresh: [Key: Candle] = [:]
    var revised: [Key: Candle] = [:]
    for _ in 0..<15 {
      let key = randomKey(&samples)
      let candle = samples.candle(key.number, minute: key.minute)
      if history[key] == nil { fresh[key] = candle } else { revised[key] = candle }
    }
    try await store.commit(
      at: now, candles: Array(fresh.values), revisions: Array(revised.values))
    for (key, candle) in fresh.merging(revised, uniquingKeysWith: { one, _ in one }) {
      history[key, default: []].append(State(knownAt: now, candle: candle))
    }
  }

  private static func randomKey(_ samples: inout StoreSamples) -> Key {
    Key(
      number: .random(in: 0..<instruments, using: &samples.random),
      minute: .random(in: 0..<minutes, using: &samples.random))
  }

  @Test func `the whole market at a minute is as it was believed`() async throws {
    var samples = StoreSamples(seed: 21)
    var store = try await AskedStore()
    let first = [samples.candle(0, minute: 4), samples.candle(1, minute: 4)]
    let known = StoreSamples.start.adding(seconds: 310)
    try await store.commit(at: known, candles: first + [samples.candle(0, minute: 5)])
    let corrected = samples.candle(1, minute: 4)
    try await store.commit(at: known.adding(seconds: 60), revisions: [corrected])
    let closes = "select symbol, close from market_at("
    func ask(_ arguments: String) throws -> [[String?]] {
      try store.database.execute("set search_path = candled; \(closes)\(arguments)) order by 1")
    }
    let now = try ask("'2026-07-06 09:35+08'")
    #expect(now == [first[0], corrected].map { ["\($0.symbol)", "\($0.close)"] })
    #expect(try ask("'2026-07-06 09:34:00.001+08'") == now)
    let then = try ask("'2026-07-06 09:35+08', '2026-07-06 09:35:30+08'")
    #expect(then == first.map { ["\($0.symbol)", "\($0.close)"] })
    #expect(try ask("'2026-07-06 09:35+08', '2026-07-06 09:35:09+08'") == [])
    #expect(try ask("'2026-07-06 09:34+08'") == [])
  }
}
