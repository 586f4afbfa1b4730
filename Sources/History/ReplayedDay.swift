import Feeds
import Market
import Reader

/// The rows of one trading day, under their keys.
struct ReplayedDay {
  var candles: [Symbol: [CandleKey: Candle]] = [:]
  /// With how often each occurs.
  var gaps: [Gap: Int] = [:]
  var certificates: [Symbol: DayCertificate] = [:]
  var rejections: Set<RejectionKey> = []

  mutating func put(_ candle: Candle) {
    candles[candle.symbol, default: [:]][CandleKey(candle)] = candle
  }

  mutating func close(_ gap: Gap) {
    guard let count = gaps[gap] else { return }
    gaps[gap] = count > 1 ? count - 1 : nil
  }

  mutating func put(_ row: Rejection) { rejections.insert(RejectionKey(row)) }
}

struct ReplayedQuote: Equatable {
  var quote: Quote
  var forming: Candle?
}

extension Quote {
  /// Without what the table does not have.
  var asStored: Quote {
    var quote = self
    quote.rounding = .exact
    return quote
  }
}

struct ServingKey: Hashable, CustomStringConvertible {
  var series: Source
  var since: Timestamp

  var description: String { "\(series.name) \(since)" }
}

struct CandleKey: Hashable, CustomStringConvertible {
  var symbol: Symbol
  var timeframe: Timeframe
  var openedAt: Timestamp

  init(_ candle: Candle) {
    symbol = candle.symbol
    timeframe = candle.timeframe
    openedAt = candle.openedAt
  }

  var description: String { "\(symbol) \(timeframe.name) \(openedAt)" }
}

/// Without the detail: a later release may word it better.
struct RejectionKey: Hashable, CustomStringConvertible {
  var source: Source
  var symbol: String
  var reason: String
  var payload: [UInt8]

  init(_ row: Rejection) {
    source = row.source
    symbol = row.symbol?.description ?? ""
    reason = row.reason.rawValue
    payload = row.payload
  }

  init(_ row: RejectionRecord) {
    source = row.source
    symbol = row.symbol
    reason = row.reason
    payload = row.payload
  }

  var description: String { "\(source.name) \(symbol) \(reason)" }
}
