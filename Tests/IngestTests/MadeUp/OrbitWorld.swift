import Feeds
import Market
import TestSupport
import Transport

@testable import Ingest

/// What trades at the made-up market: something each 20 s, drawn from a seed. It answers quotes and
/// bars, and says what the minutes must have become.
struct OrbitWorld: Upstream {
  /// The first day with trades, from its midnight on.
  static let day = TradingDay(daysSince1970: 20_644)  // 2026-07-10, a Friday
  static let midnight = Timestamp(seconds: Int64(day.daysSince1970) * 86_400)

  let seed: UInt64

  struct Trade {
    let at: Timestamp
    let price: ExactDecimal
    let volume: ExactDecimal
    let turnover: ExactDecimal
  }

  private static let cadence: Int64 = 20
  private static let firstSecond: Int64 = 7

  private func trade(_ number: Int64) -> Trade {
    var random = SplitMix(seed: seed &+ UInt64(number))
    let price = Int64.random(in: 6_400_000_000_000...6_500_000_000_000, using: &random)
    let volume = Int64.random(in: 1...90_000_000, using: &random)
    return Trade(
      at: Self.midnight.adding(seconds: Self.firstSecond + number * Self.cadence),
      price: ExactDecimal(units: price, scale: 8), volume: ExactDecimal(units: volume, scale: 8),
      // A price times a volume has sixteen decimals; the market rounds to eight.
      turnover: ExactDecimal(units: price / 10_000 * volume / 10_000, scale: 8))
  }

  /// Those in (from, to].
  func trades(after from: Timestamp, through to: Timestamp) -> [Trade] {
    let first = max((from.seconds - Self.midnight.seconds - Self.firstSecond) / Self.cadence - 1, 0)
    let last = (to.seconds - Self.midnight.seconds) / Self.cadence
    guard first <= last else { return [] }
    return (first...last).map(trade).filter { from < $0.at && $0.at <= to }
  }

  static func sum(_ values: [ExactDecimal]) throws -> ExactDecimal {
    try values.reduce(ExactDecimal(units: 0, scale: 8)) { try $0 + $1 }
  }

  // MARK: - Answers

  func response(to request: FeedRequest, key: String?, host: Int) async -> UpstreamResponse {
    let body =
      switch request.query {
      case .quotes(let query): try? quotes(at: query.askedAt)
      case .bars(let query) where query.timeframe == .minute1: try? bars(query)
      default: ""
      }
    guard let body else { return .failure(TransportError(.timeout, route: "/orbit")) }
    return .response(status: 200, body: Array(body.utf8), retryAfter: nil)
  }

  private func quotes(at now: Timestamp) throws -> String {
    let second = Timestamp(seconds: now.seconds)
    let day = MarketZone.utc.day(at: second)
    let opened = MarketZone.utc.moment(on: day, secondOfDay: 0)
    let today = trades(after: opened.adding(seconds: -1), through: second)
    let before = trades(after: opened.adding(seconds: -86_400), through: opened).last
    let prices = today.map(\.price)
    let previous = before?.price ?? prices.first ?? ExactDecimal(1)
    let words: [ExactDecimal] = [
      previous, prices.first ?? .zero, prices.max() ?? .zero, prices.min() ?? .zero,
      prices.last ?? previous, try Self.sum(today.map(\.volume)),
      try Self.sum(today.map(\.turnover)),
    ]
    let numbers = words.map(\.description).joined(separator: ",")
    return "COIN,\(day),\(second.seconds - opened.seconds),\(numbers)\n"
  }

  private func bars(_ query: BarsQuery) throws -> String {
    try stride(from: query.start.seconds, to: query.end.seconds, by: 60).compactMap { opens in
      guard let minute = try minute(opening: Timestamp(seconds: opens)) else { return nil }
      let words = [
        minute.open, minute.high, minute.low, minute.close, minute.volume, minute.turnover,
      ]
      return "\(opens)," + words.map(\.description).joined(separator: ",") + "\n"
    }.joined()
  }

  // MARK: - The truth

  struct Minute: Hashable {
    let open: ExactDecimal
    let high: ExactDecimal
    let low: ExactDecimal
    let close: ExactDecimal
    let volume: ExactDecimal
    let turnover: ExactDecimal
  }

  /// nil for one without trades.
  func minute(opening opens: Timestamp) throws -> Minute? {
    let trades = trades(after: opens, through: opens.adding(seconds: 60))
    let prices = trades.map(\.price)
    guard let first = prices.first, let last = prices.last, let high = prices.max(),
      let low = prices.min()
    else { return nil }
    return Minute(
      open: first, high: high, low: low, close: last,
      volume: try Self.sum(trades.map(\.volume)), turnover: try Self.sum(trades.map(\.turnover)))
  }
}

extension OrbitWorld.Minute {
  init?(_ candle: Candle) {
    guard let turnover = candle.turnover else { return nil }
    self.init(
      open: candle.open, high: candle.high, low: candle.low, close: candle.close,
      volume: candle.volume, turnover: turnover)
  }
}
