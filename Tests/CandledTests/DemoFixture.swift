/// Moments of a demo, and a frame taken apart.

import Market
import Testing

@testable import DemoView

extension DemoSnapshot {
  static func midMorning() throws -> DemoSnapshot {
    let day = try #require(TradingDay("2026-07-06"))
    var snapshot = DemoSnapshot(
      at: Timestamp(day: day, secondOfDay: 10 * 3600 + 42 * 60 + 18), speed: 60, instruments: 120)
    snapshot.polling.sweeps = 1234
    snapshot.polling.sweepsPerMinute = try ExactDecimal("20.0")
    snapshot.polling.requestsAnswered = 2466
    snapshot.polling.requestsFailed = 2
    snapshot.storing.lagMicroseconds = 12_340
    snapshot.storing.commitMicroseconds = 4_050
    snapshot.storing.sequence = 1230
    snapshot.results.candles = 12_345
    snapshot.polling.source = Condition("healthy", health: .good)
    snapshot.storing.store = Condition("ready", health: .good)
    snapshot.psql =
      "psql 'host=/tmp/candled-demo-iUijOx/postgres/socket port=5432 dbname=candled "
      + "user=candled_reader'"
    snapshot.polling.rows = 296_000
    let opening = Timestamp(day: day, secondOfDay: 10 * 3600 + 42 * 60)
    snapshot.quotes = [
      try .made(
        "sh600519", "贵州茅台", "1769.040", "1759.900",
        forming: .made(opening, "1768.000", "1769.500", "1767.900", "1769.040", "12300")),
      try .made(
        "sz000002", "万 科Ａ", "6.550", "6.720",
        forming: .made(opening, "6.560", "6.560", "6.540", "6.550", "1284500")),
      try .made("sh000001", "上证指数", "3120.4412", "3120.4412"),
      try .made("bj920000", "一个很长很长的名字", "0.000", "9.980"),
    ]
    return snapshot
  }

  static func afterClose() throws -> DemoSnapshot {
    var snapshot = try midMorning()
    snapshot.at = Timestamp(day: snapshot.at.shanghaiDay, secondOfDay: 15 * 3600 + 31 * 60)
    snapshot.instruments = 5400
    snapshot.polling.sweeps = 8940
    snapshot.polling.sweepsPerMinute = .zero
    snapshot.polling.requestsFailed = 12
    snapshot.storing.lagMicroseconds = 1_204_490
    snapshot.storing.sequence = 8930
    snapshot.results.candles = 1_296_000
    snapshot.results.gaps = 3
    snapshot.results.rejected = 7
    snapshot.polling.source = Condition("banned", health: .bad)
    snapshot.conservation = Conservation(certificates: 5400, balanced: 5399)
    snapshot.quotes[0].last = try ExactDecimal("1752.000")
    for index in snapshot.quotes.indices { snapshot.quotes[index].forming = nil }
    return snapshot
  }
}

extension DemoQuote {
  static func made(
    _ symbol: String, _ name: String, _ last: String, _ previousClose: String,
    forming: Candle? = nil
  ) throws -> DemoQuote {
    DemoQuote(
      symbol: try #require(Symbol(symbol)), name: name, last: try ExactDecimal(last),
      previousClose: try ExactDecimal(previousClose), forming: forming)
  }
}

extension Candle {
  static func made(
    _ openedAt: Timestamp, _ open: String, _ high: String, _ low: String, _ close: String,
    _ volume: String
  ) throws -> Candle {
    Candle(
      symbol: try #require(Symbol("sh600519")), timeframe: .minute1,
      tradingDay: openedAt.shanghaiDay, openedAt: openedAt,
      closedAt: openedAt.adding(seconds: 60), open: try ExactDecimal(open),
      high: try ExactDecimal(high), low: try ExactDecimal(low), close: try ExactDecimal(close),
      volume: try ExactDecimal(volume), turnover: nil, flags: [], source: .live)
  }
}

/// A frame as it stands on the screen.
struct Frame {
  private let bytes: String

  init(_ bytes: String) { self.bytes = bytes }

  var lines: [String] {
    var text = Substring(bytes)
    for control in ["\u{1B}[H", "\u{1B}[K", "\u{1B}[J"] {
      text = Substring(text.split(separator: control).joined())
    }
    return text.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
  }

  var visible: String { lines.joined(separator: "\n") + "\n" }

  /// With escapes one can read.
  var spelled: String {
    bytes.split(separator: "\u{1B}", omittingEmptySubsequences: false).joined(separator: "␛")
      .split(separator: "\r\n", omittingEmptySubsequences: false).joined(separator: "\n") + "\n"
  }
}
