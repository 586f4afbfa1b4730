import Foundation
import Market
import Postgres
import TestSupport

/// What followers of a gateway must have at the end: quotes and candles as the database has them,
/// read with plain SQL.
struct StoredMarket {
  struct StoredCandle {
    /// Of the change that made it final, and of the last one that revised it.
    var seqs: [Int64]
    var symbol: String
    var interval: String
    var line: String
  }

  static let priceFields = [
    "symbol", "name", "currentPrice", "change", "changePercent", "openPrice", "highPrice",
    "lowPrice", "previousClose", "volume", "turnover", "bidPrice", "askPrice", "trading", "seq",
  ]
  static let candleKey = ["symbol", "interval", "openedAt"]
  static let candleFields = ["open", "high", "low", "close", "volume", "turnover", "revision"]

  private(set) var epoch: Int64 = 0
  private(set) var seq: Int64 = 0
  private(set) var prices: [String: String] = [:]
  private(set) var candles: [String: StoredCandle] = [:]

  /// JSON's values, and SQL's texts, as one line.
  static func line(_ values: [Any?]) -> String {
    values.map { value in
      switch value {
      case let text as String: text
      case let number as NSNumber: number.stringValue
      default: ""
      }
    }.joined(separator: " ")
  }

  init(url: String, symbols: Set<String>) throws {
    let position = try SQLProbe.run("select epoch, last_seq from candled.feed_position()", url: url)
    epoch = position.first?[0].flatMap { Int64($0) } ?? 0
    seq = position.first?[1].flatMap { Int64($0) } ?? 0
    let names = symbols.sorted().map { "'\($0)'" }.joined(separator: ",")
    for row in try SQLProbe.run(
      """
      select symbol, name, last, change, percent_change, nullif(open, 0), nullif(high, 0),
        nullif(low, 0), previous_close, volume, turnover, nullif(bid, 0), nullif(ask, 0),
        trading, changed_seq
      from candled.latest where symbol in (\(names))
      """, url: url)
    {
      prices[row[0] ?? ""] = Self.line(row)
    }
    for row in try SQLProbe.run(
      """
      select i.symbol, c.timeframe,
        to_char(c.opened_at at time zone 'Asia/Shanghai', 'YYYY-MM-DD"T"HH24:MI:SS"+08:00"'),
        c.open, c.high, c.low, c.close, c.volume, c.turnover, c.revision,
        string_agg(k.seq::text, ' ')
      from (
        select h.seq, u.* from candled.change h, unnest(h.candle_instrument_ids,
          h.candle_timeframes, h.candle_opened_ats) u (id, timeframe, opened_at)
        union all
        select h.seq, u.* from candled.change h, unnest(h.revision_instrument_ids,
          h.revision_timeframes, h.revision_opened_ats) u (id, timeframe, opened_at)
      ) k
      join candled.candle c on c.instrument_id = k.id and c.timeframe = k.timeframe
        and c.opened_at = k.opened_at
      join candled.instrument i on i.id = c.instrument_id
      where i.symbol in (\(names))
      group by i.symbol, c.instrument_id, c.timeframe, c.opened_at, c.open, c.high, c.low,
        c.close, c.volume, c.turnover, c.revision
      """, url: url)
    {
      let timeframe = row[1].flatMap { Int16($0) }.flatMap { Timeframe(rawValue: $0) }
      let interval = timeframe?.name ?? "?"
      candles[Self.line([row[0], interval, row[2]])] = StoredCandle(
        seqs: (row[10] ?? "").split(separator: " ").compactMap { Int64($0) }, symbol: row[0] ?? "",
        interval: interval, line: Self.line(Array(row[3...9])))
    }
  }

  /// The change that wrote a symbol's quote; 0 without one.
  func priceSeq(of symbol: String) -> Int64 {
    prices[symbol].flatMap { $0.split(separator: " ").last }.flatMap { Int64($0) } ?? 0
  }

  /// How many of each became final after a change.
  func candlesBySymbol(since seq: Int64, interval: String) -> [String: Int] {
    candles.values.reduce(into: [:]) { counts, candle in
      guard candle.interval == interval, candle.seqs.contains(where: { $0 > seq }) else { return }
      counts[candle.symbol, default: 0] += 1
    }
  }

  /// Where a follower differs; readable, empty if it has all, and nothing else.
  /// - Parameter isResumed: it got prices that changed since, and no others.
  func differences(of follower: AppFollower, isResumed: Bool = false) -> [String] {
    var found: [String] = []
    if follower.epoch != epoch { found.append("epoch \(follower.epoch), not \(epoch)") }
    for symbol in follower.plan.symbols {
      let isDue = !isResumed || priceSeq(of: symbol) > follower.since
      guard follower.prices[symbol] != (isDue ? prices[symbol] : nil) else { continue }
      found.append("price \(follower.prices[symbol] ?? "-"), not \(prices[symbol] ?? "-")")
    }
    let owed = candles.filter { _, candle in
      follower.plan.intervals.contains(candle.interval)
        && follower.plan.symbols.contains(candle.symbol)
        && candle.seqs.contains { $0 > follower.since }
    }
    for (key, candle) in owed where follower.candles[key] != candle.line {
      found.append("candle \(key): \(follower.candles[key] ?? "-"), not \(candle.line)")
    }
    for key in follower.candles.keys where owed[key] == nil {
      found.append("candle \(key), which was not due since \(follower.since)")
    }
    return found
  }
}
