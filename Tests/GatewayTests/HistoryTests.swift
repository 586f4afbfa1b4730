import Commits
import Foundation
import Market
import Platform
import Store
import TestSupport
import TestTraits
import Testing

@testable import Gateway
@testable import Reader

@Suite(.ownThread) struct HistoryTests {
  private static let path = "/v1/stocks/sh600000/history?interval"

  /// What a picture must show, by the rule in words: both ends, and of each stretch of the others
  /// the first candle with the highest high and the first with the lowest low.
  private func thinned(_ candles: [CandleRecord], to count: Int) -> [CandleRecord] {
    guard candles.count > count else { return candles }
    let (stretches, inner) = ((count - 2) / 2, candles.count - 2)
    var kept: Set = [0, candles.count - 1]
    for stretch in 0..<stretches {
      let range = (1 + stretch * inner / stretches)..<(1 + (stretch + 1) * inner / stretches)
      let highest = range.compactMap { candles[$0].high }.max()
      let lowest = range.compactMap { candles[$0].low }.min()
      kept.formUnion(range.filter { candles[$0].high == highest }.prefix(1))
      kept.formUnion(range.filter { candles[$0].low == lowest }.prefix(1))
    }
    return kept.sorted().map { candles[$0] }
  }

  @Test("a picture of few points has the ends and the extremes of all candles")
  func pictures() async throws {
    let fixture = try await ServedFixture()
    let reader = try StoreReader(url: fixture.database.url)
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    let start = StoreSamples.start
    for _ in 0..<60 {
      var query = CandleQuery(StoreSamples.symbol(0), timeframe: .minute1)
      query.from = start.adding(seconds: 60 * Int64.random(in: -10...130, using: &random))
      query.to = start.adding(seconds: 60 * Int64.random(in: -10...130, using: &random))
      let count = Int.random(in: 3...130, using: &random)
      let all = try reader.candles(query)
      let found = try reader.candles(query, points: Int32(count))
      #expect(found.candles == thinned(all, to: count), "seed \(seed)")
      #expect(found.candles.count <= count, "seed \(seed)")
      #expect(found.total == all.count, "seed \(seed)")
    }
  }

  @Test("points are of the whole range, not of the newest candles")
  func wholeRange() async throws {
    let fixture = try await ServedFixture()
    let week = "1m&from=2026-07-01&to=2026-07-08"
    let picture = try await fixture.get("\(Self.path)=\(week)&points=8").json
    let rows = try #require(picture["rows"] as? [[String: Any]])
    #expect(rows.count <= 8 && rows.first?["openedAt"] as? String == "2026-07-06T09:30:00+08:00")
    #expect(rows.last?["openedAt"] as? String == "2026-07-06T11:29:00+08:00")
    #expect(picture["nextCursor"] is NSNull)
    let newest = try await fixture.get("\(Self.path)=\(week)&points=8&limit=50").json
    let part = try #require(newest["rows"] as? [[String: Any]])
    #expect(part.first?["openedAt"] as? String == "2026-07-06T10:40:00+08:00")
  }

  /// One final minute, and a forming one half an hour later.
  private static func forming(_ writer: StoreWriter) async throws -> Int64 {
    var samples = StoreSamples(seed: 3)
    var commit = samples.minute(0, position: 1, instruments: 1)
    let late = samples.sweep(position: 1, instruments: 1, second: Session.opening(ofMinute: 30))
    commit.quotes = late.quotes
    commit.quotes[0].forming = samples.candle(0, minute: 30)
    commit.quotes[0].forming?.flags = []
    _ = try await writer.commit(commit)
    return 1
  }

  @Test("the candle that is not over ends the list, with state open")
  func open() async throws {
    let fixture = try await ServedFixture(fill: Self.forming)
    func rows(_ query: String) async throws -> [(openedAt: String, state: String)] {
      let reply = try await fixture.get("\(Self.path)=\(query)")
      return try (reply.json["rows"] as? [[String: Any]] ?? []).map {
        ($0["openedAt"] as? String ?? "", $0["state"] as? String ?? "")
      }
    }
    let minutes = try await rows("1m")
    #expect(minutes.map(\.state) == ["final", "open"])
    #expect(minutes.last?.openedAt == "2026-07-06T10:00:00+08:00")
    #expect(try await rows("1m&limit=1").map(\.state) == ["open"])
    #expect(try await rows("1m&points=4").map(\.state) == ["final", "open"])
    #expect(
      try await rows("1m&adjust=raw&to=2026-07-06T10:00:00%2B08:00").map(\.state) == ["final"])
    #expect(try await rows("1m&from=2026-07-06T10:00:30%2B08:00").isEmpty)
    #expect(try await rows("1m&asOf=2027-01-01").map(\.state) == ["final"])
    for interval in ["5m", "15m", "30m", "60m", "1d", "1wk", "1mo"] {
      let found = try await rows(interval)
      #expect(found.last?.state == "open", "\(interval)")
      #expect(found.count { $0.state == "open" } == 1, "\(interval)")
      #expect(Set(found.map(\.openedAt)).count == found.count, "\(interval)")
    }
    let stored = try fixture.database.execute(
      """
      select open::text, high::text, low::text, close::text, volume::text, turnover::text
      from candled.candle_1m where state = 'open'
      """)
    let reply = try await fixture.get("\(Self.path)=1m&limit=1")
    let row = try #require((reply.json["rows"] as? [[String: Any]])?.first)
    let served = ["open", "high", "low", "close", "volume", "turnover"].map { row[$0] as? String }
    #expect(stored == [served])
  }

  @Test("pages with an open candle hold every candle once")
  func openPages() async throws {
    let fixture = try await ServedFixture { writer in
      let last = try await ServedFixture.twoHours(writer)
      var samples = StoreSamples(seed: 3)
      var commit = samples.sweep(
        position: last + 1, instruments: 1, second: Session.opening(ofMinute: 120) + 30)
      commit.quotes[0].forming = samples.candle(0, minute: 120)
      _ = try await writer.commit(commit)
      return last + 1
    }
    for limit in [1, 7, 60, 120, 121] {
      var found: [String] = []
      var cursor: String?
      repeat {
        let reply = try await fixture.get(
          "\(Self.path)=1m&limit=\(limit)" + (cursor.map { "&cursor=\($0)" } ?? ""))
        let rows = try #require(try reply.json["rows"] as? [[String: Any]])
        #expect(!rows.isEmpty && rows.count <= limit)
        found = rows.compactMap { $0["openedAt"] as? String } + found
        cursor = try reply.json["nextCursor"] as? String
      } while cursor != nil
      #expect(found.count == 121 && found == found.sorted() && Set(found).count == 121)
    }
  }
}
