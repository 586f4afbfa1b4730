import CandledClient
import Commits
import Market
import Postgres
import Store
import TestSupport

/// One follower of the change feed: what it has made of it, and what was amiss.
actor Follower {
  private var candles: [DayRows.CandleKey: Candle] = [:]
  private var lastSeq: Int64 = 0
  private(set) var complaints: [String] = []

  /// Follows from the feed's beginning until its task is cancelled.
  func follow(_ url: String) async throws {
    let client = try await CandledClient.connect(url)
    for try await item in client.follow(after: 0, pollSeconds: 1) { take(item) }
  }

  /// Waits until the follower has come as far as the table; four minutes are hours here.
  func wait(for seq: Int64) async throws {
    for _ in 0..<2_400 where lastSeq < seq { try await Task.sleep(nanoseconds: 100_000_000) }
    if lastSeq < seq { complaints.append("stopped at change \(lastSeq) of \(seq)") }
  }

  private func take(_ item: FeedItem) {
    guard case .change(let change) = item else {
      complaints.append("an item that is no change: \(item)")
      return
    }
    if change.seq != lastSeq + 1 { complaints.append("\(change.seq) after \(lastSeq)") }
    lastSeq = change.seq
    for stored in change.candles {
      if candles.updateValue(stored.candle, forKey: .init(stored.candle)) != nil {
        complaints.append("seen twice: \(stored.candle.symbol) \(stored.candle.openedAt)")
      }
    }
    for stored in change.revisions {
      let candle = stored.candle
      if candles.updateValue(candle, forKey: .init(candle)) == nil {
        complaints.append("revised, never seen: \(candle.symbol) \(candle.openedAt)")
      }
    }
  }

  /// Its candles as `table` writes them.
  var lines: Set<String> { Set(candles.values.map(Self.line)) }

  private static func line(_ candle: Candle) -> String {
    let prices = [
      candle.open, candle.high, candle.low, candle.close, candle.volume,
    ]
    return "\(candle.symbol) \(candle.timeframe.rawValue) \(candle.openedAt.seconds) "
      + prices.map(\.description).joined(separator: " ")
      + " \(candle.turnover?.description ?? "") \(candle.flags.rawValue)"
  }

  static func lastSeq(_ url: String) throws -> Int64 {
    let rows = try SQLProbe.run("select max(seq) from candled.change", url: url)
    return rows.first?.first?.flatMap { Int64($0) } ?? 0
  }

  /// All stored candles.
  static func table(_ url: String) throws -> Set<String> {
    let stored = try SQLProbe.run(
      """
      select i.symbol, c.timeframe, extract(epoch from c.opened_at)::bigint, c.open, c.high,
        c.low, c.close, c.volume, c.turnover, c.flags
      from candled.candle c join candled.instrument i on i.id = c.instrument_id
      """, url: url)
    return Set(stored.map { $0.map { $0 ?? "" }.joined(separator: " ") })
  }
}
