/// A replay held against the tables: rows of the last days in memory, each day compared once it can
/// no longer change, instrument by instrument. Independent of how the daemon grouped its commits:
/// what depends on that (ids, seq, known_from, received_at) is not compared.

import Market
import Store

struct ReplayVerification {
  private let queries: Queries
  private let instruments: [Symbol]
  /// Days before the first entry are none of the journal's business.
  private var firstDay: TradingDay?
  private var days: [TradingDay: ReplayedDay] = [:]
  private var quotes: [Symbol: ReplayedQuote] = [:]
  private(set) var differences = Differences()

  /// A certificate may come on the next trading day, a weekend's refused row lies between.
  private static let daysHeldMax = 3

  init(_ queries: Queries) throws(StoreError) {
    self.queries = queries
    instruments = try queries.instruments().map(\.symbol)
  }

  mutating func note(_ day: TradingDay) throws(StoreError) {
    if firstDay == nil { firstDay = day }
    while days.count > Self.daysHeldMax, let oldest = days.keys.min() { try compare(oldest) }
  }

  /// Takes in what a commit would have written.
  mutating func take(_ commit: Commit) throws(StoreError) {
    for candle in commit.candles { days[candle.tradingDay, default: ReplayedDay()].put(candle) }
    for row in commit.revisions {
      days[row.candle.tradingDay, default: ReplayedDay()].put(row.candle)
    }
    for gap in commit.gaps {
      days[gap.tradingDay, default: ReplayedDay()].gaps[gap, default: 0] += 1
    }
    for audit in commit.audits {
      days[audit.tradingDay, default: ReplayedDay()].audits[audit.symbol] = audit
    }
    for row in commit.rejections {
      days[row.receivedAt.shanghaiDay, default: ReplayedDay()].put(row)
    }
    for row in commit.quotes {
      quotes[row.quote.symbol] = ReplayedQuote(quote: row.quote, forming: row.forming)
    }
  }

  /// Compares what is left.
  mutating func finish() throws(StoreError) {
    if let firstDay {
      for day in try queries.days(from: firstDay) where days[day] == nil {
        days[day] = ReplayedDay()
      }
      for day in days.keys.sorted() { try compare(day) }
      try compareQuotes(from: firstDay)
    }
  }

  private mutating func compare(_ day: TradingDay) throws(StoreError) {
    guard let replayed = days.removeValue(forKey: day) else { return }
    for symbol in Set(instruments).union(replayed.candles.keys).sorted() {
      var stored: [CandleKey: Candle] = [:]
      for row in try queries.candles(of: symbol, day: day) {
        stored[CandleKey(row.candle)] = row.candle
      }
      differences.compare("candle", stored: stored, replayed: replayed.candles[symbol] ?? [:])
    }
    let gaps = Dictionary(try queries.gaps(day: day).map { ($0, 1) }, uniquingKeysWith: +)
    differences.compare("gap", stored: gaps, replayed: replayed.gaps)
    let audits = Dictionary(
      try queries.audits(day: day).map { ($0.audit.symbol, $0.audit) },
      uniquingKeysWith: { $1 })
    differences.compare("day_audit", stored: audits, replayed: replayed.audits)
    let rejections = Dictionary(
      try queries.rejections(day: day).map { (RejectionKey($0), $0.detail) },
      uniquingKeysWith: { first, _ in first })
    differences.compare("rejected", stored: rejections, replayed: replayed.rejections)
  }

  private mutating func compareQuotes(from first: TradingDay) throws(StoreError) {
    var stored: [Symbol: ReplayedQuote] = [:]
    for row in try queries.latest() where row.quote.tradingDay >= first {
      stored[row.quote.symbol] = ReplayedQuote(quote: row.quote, forming: row.forming)
    }
    differences.compare("quote", stored: stored, replayed: quotes)
  }
}

/// The rows of one trading day, under their keys.
struct ReplayedDay {
  var candles: [Symbol: [CandleKey: Candle]] = [:]
  /// With how often each occurs.
  var gaps: [Gap: Int] = [:]
  var audits: [Symbol: DayAudit] = [:]
  /// The detail as it was told first.
  var rejections: [RejectionKey: String] = [:]

  mutating func put(_ candle: Candle) {
    candles[candle.symbol, default: [:]][CandleKey(candle)] = candle
  }

  mutating func put(_ row: Rejection) {
    let key = RejectionKey(row)
    if rejections[key] == nil { rejections[key] = row.detail }
  }
}

struct ReplayedQuote: Equatable {
  var quote: Quote
  var forming: Candle?
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
