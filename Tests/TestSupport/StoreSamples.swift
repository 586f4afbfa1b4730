import Commits
import Market
import Store

/// Made-up rows, every field varied, every invariant kept.
package struct StoreSamples {
  package var random: SplitMix
  package static let day = TradingDay(daysSince1970: 20_640)  // 2026-07-06
  package static let start = Timestamp(day: day, secondOfDay: Session.morningOpen)

  package init(seed: UInt64) { random = SplitMix(seed: seed) }

  package static func symbol(_ number: Int) -> Symbol {
    let digits = String(600_000 + number)
    guard let symbol = Symbol("sh\(digits)") else { preconditionFailure("six digits") }
    return symbol
  }

  package mutating func price() -> ExactDecimal {
    ExactDecimal(units: .random(in: 1_000...9_999_999, using: &random), scale: 3)
  }

  package mutating func shares() -> ExactDecimal {
    ExactDecimal(.random(in: 0...9_000_000_000, using: &random))
  }

  package mutating func money() -> ExactDecimal {
    ExactDecimal(units: .random(in: 0...900_000_000_000_000, using: &random), scale: 3)
  }

  package mutating func candle(_ number: Int, minute: Int) -> Candle {
    let prices = (0..<4).map { _ in price() }.sorted()
    let opened = Timestamp(day: Self.day, secondOfDay: Session.opening(ofMinute: minute))
    return Candle(
      symbol: Self.symbol(number), timeframe: .minute1, tradingDay: Self.day, openedAt: opened,
      closedAt: opened.adding(seconds: 60), open: prices[1], high: prices[3], low: prices[0],
      close: prices[2], volume: shares(), turnover: money(),
      flags: CandleFlags(rawValue: .random(in: 0...7, using: &random)), source: .sina)
  }

  package mutating func quote(_ number: Int, second: Int) -> QuoteRow {
    var quote = Quote(
      symbol: Self.symbol(number), tradingDay: Self.day, secondOfDay: Int32(second))
    quote.open = price()
    quote.previousClose = price()
    quote.last = price()
    quote.high = price()
    quote.low = price()
    quote.bid = price()
    quote.ask = price()
    quote.volume = shares()
    quote.turnover = money()
    for level in 0..<Int.random(in: 0...5, using: &random) {
      quote.bids[level] = BookLevel(price: price(), volume: shares())
      quote.asks[level] = BookLevel(price: price(), volume: shares())
    }
    if Bool.random(using: &random) {
      quote.afterHours = AfterHours(volume: shares(), turnover: money())
    }
    let minute = Session.minute(of: second)
    return QuoteRow(
      quote: quote, source: .live, name: "样本\(number)",
      forming: Bool.random(using: &random) ? candle(number, minute: minute) : nil,
      bookState: (0..<Int.random(in: 0...40, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }, receivedAt: quote.at.adding(milliseconds: 700))
  }

  /// A commit whose every quote changed.
  package mutating func sweep(
    position: Int64, instruments: Int, second: Int = Session.morningOpen
  ) -> Commit {
    var commit = Commit(
      position: JournalPosition(position),
      knownAt: Timestamp(day: Self.day, secondOfDay: second), bookState: [UInt8(position & 255)])
    commit.quotes = (0..<instruments).map { quote($0, second: second) }
    return commit
  }

  package mutating func minute(_ minute: Int, position: Int64, instruments: Int) -> Commit {
    let second = Session.closing(ofMinute: minute)
    var commit = sweep(position: position, instruments: instruments, second: second)
    commit.candles = (0..<instruments).map { candle($0, minute: minute) }
    commit.events = [
      .minuteComplete(
        MinuteComplete(
          tradingDay: Self.day,
          openedAt: Timestamp(day: Self.day, secondOfDay: Session.opening(ofMinute: minute)),
          expected: instruments, traded: instruments, untraded: 0, missing: 0))
    ]
    return commit
  }
}
