import Candles
import Market

/// A hand-written tape: one instrument, snapshots fed as an exchange with a live heartbeat would.
struct Tape {
  var book = CandleBook()
  let symbol: Symbol
  let day = TradingDay(daysSince1970: 20_640)  // 2026-07-06, a Monday
  var output = CandleOutput()
  var verdicts: [CandleBook.Verdict] = []
  /// The request group whose answers come.
  var group: UInt32 = 0
  private var high = ExactDecimal.zero
  private var low = ExactDecimal.zero

  init(_ symbol: String = "sh600519") {
    self.symbol = Symbol(symbol) ?? Symbol(low: 0x68, high: 0)
  }

  /// `HH:MM:SS` on the tape's day.
  func moment(_ clock: String) -> Timestamp {
    let parts = clock.split(separator: ":").compactMap { Int($0) }
    return Timestamp(day: day, secondOfDay: parts[0] * 3600 + parts[1] * 60 + parts[2])
  }

  func quote(
    _ clock: String, last: String, volume: Int64, turnover: Int64? = nil, high: String? = nil,
    low: String? = nil, open: String = "10.00"
  ) throws -> Quote {
    let at = moment(clock)
    var quote = Quote(
      symbol: symbol, tradingDay: at.shanghaiDay, secondOfDay: Int32(at.shanghaiSecondOfDay))
    quote.previousClose = try ExactDecimal("9.90")
    quote.last = try ExactDecimal(last)
    quote.volume = ExactDecimal(volume)
    quote.turnover = ExactDecimal(turnover ?? volume * 10)
    if volume > 0 {
      quote.open = try ExactDecimal(open)
      quote.high = try high.map { try ExactDecimal($0) } ?? max(self.high, quote.last)
      quote.low =
        try low.map { try ExactDecimal($0) }
        ?? (self.low.isZero ? quote.last : min(self.low, quote.last))
    }
    quote.bid = try ExactDecimal("9.99")
    quote.ask = try ExactDecimal("10.01")
    return quote
  }

  /// Feeds a snapshot; `seenAt` is the watermark of its response, the stamp itself by default.
  mutating func see(
    _ clock: String, last: String, volume: Int64, turnover: Int64? = nil, high: String? = nil,
    low: String? = nil, seenAt: String? = nil
  ) throws {
    let quote = try quote(
      clock, last: last, volume: volume, turnover: turnover, high: high, low: low)
    take(quote, seenAt: moment(seenAt ?? clock))
    if volume > 0 {
      self.high = quote.high
      self.low = quote.low
    }
  }

  mutating func take(_ quote: Quote, seenAt watermark: Timestamp) {
    let received = watermark.adding(seconds: 1)
    book.advance(to: received)
    let index = book.index(of: quote.symbol)
    verdicts.append(
      book.observe(
        quote, at: index, group: group, watermark: watermark, receivedAt: received))
    collect()
  }

  mutating func advance(to clock: String) {
    book.advance(to: moment(clock))
    collect()
  }

  private mutating func collect() {
    let new = book.takeOutput()
    output.candles += new.candles
    output.revisions += new.revisions
    output.gaps += new.gaps
    for gap in new.closedGaps {
      if let place = output.gaps.lastIndex(of: gap) { output.gaps.remove(at: place) }
    }
    output.certificates += new.certificates
    output.events += new.events
  }

  /// The handed-out candle of the minute that opens at `HH:MM`.
  func minute(_ clock: String) -> Candle? {
    output.candles.first {
      $0.timeframe == .minute1 && $0.openedAt == moment(clock + ":00")
    }
  }

  var day1: Candle? { output.candles.first { $0.timeframe == .day1 } }
}

extension Candle {
  /// `open high low close volume turnover`, for comparing at a glance.
  var row: String { "\(open) \(high) \(low) \(close) \(volume) \(turnover ?? .zero)" }
}
