import Candles
import TestSupport

@testable import Market

/// A made-up market that never closes, with prices and volumes of eight decimals: its one
/// instrument is polled, and what traded is written down by the minute.
struct RoundTheClock {
  static let market = MarketDefinition(
    code: 90, name: "round", zone: .utc, currency: "USD",
    sessions: [SessionHours(opens: 0, closes: 86_400)], tradingDays: .everyDay,
    hasEveryMinute: true)
  /// 2026-07-10, a Friday.
  static let friday = TradingDay(daysSince1970: 20_644)
  static let source = Source(rawValue: 90)

  var book: CandleBook
  let hours: TradingHours
  var output = CandleOutput()
  var verdicts: [CandleBook.Verdict] = []
  /// What traded, by day and minute.
  private(set) var traded: [TradingDay: [Int: ExactDecimal]] = [:]
  private(set) var quote: Quote
  private var random: SplitMix

  init(seed: UInt64) throws {
    guard let hours = TradingHours(Self.market), let symbol = Symbol("COIN") else {
      preconditionFailure("UTC has no daylight saving, and COIN is a symbol")
    }
    self.hours = hours
    random = SplitMix(seed: seed)
    book = Self.emptyBook(hours)
    quote = Quote(symbol: symbol, tradingDay: Self.friday, secondOfDay: 0)
    quote.clock = hours.clock
    quote.last = try ExactDecimal("64123.12345678")
    quote.previousClose = quote.last
    quote.volume = ExactDecimal(units: 0, scale: 8)
    quote.turnover = quote.volume
  }

  static func emptyBook(_ hours: TradingHours) -> CandleBook {
    CandleBook(hours: hours, source: source, calendar: .everyDay)
  }

  /// Polls at `second` since Friday's midnight, which may be of a later day. What traded since the
  /// poll before traded right then; at a midnight it belongs to the day that ends.
  mutating func poll(at second: Int, trades: Bool) throws {
    let days = (second + 86_399) / 86_400 - 1
    try startDay(Self.friday.advanced(by: days))
    quote.secondOfDay = Int32(second - days * 86_400)
    if trades { try trade() }
    let at = quote.at
    book.advance(to: at.adding(seconds: 1))
    let index = book.index(of: quote.symbol)
    verdicts.append(
      book.observe(
        quote, at: index, group: 0, watermark: at, receivedAt: at.adding(seconds: 1)))
    collect()
  }

  /// The totals begin anew.
  mutating func startDay(_ day: TradingDay) throws {
    guard day != quote.tradingDay else { return }
    quote.tradingDay = day
    quote.previousClose = quote.last
    (quote.open, quote.high, quote.low) = (.zero, .zero, .zero)
    quote.volume = ExactDecimal(units: 0, scale: 8)
    quote.turnover = quote.volume
  }

  private mutating func trade() throws {
    let step = Int64.random(in: -900_000_000...900_000_000, using: &random)
    quote.last = ExactDecimal(
      units: max(quote.last.units + step, 5_000_000_000_000), scale: 8)
    let volume = ExactDecimal(units: Int64.random(in: 1...90_000_000, using: &random), scale: 8)
    quote.open = quote.open.isZero ? quote.last : quote.open
    quote.high = max(quote.high, quote.last)
    quote.low = quote.low.isZero ? quote.last : min(quote.low, quote.last)
    quote.volume = try quote.volume + volume
    let money = ExactDecimal(
      units: quote.last.units / 10_000 * (volume.units / 10_000 + 1), scale: 8)
    quote.turnover = try quote.turnover + money
    let minute = hours.minute(of: Int(quote.secondOfDay))
    traded[quote.tradingDay, default: [:]][minute] =
      try (traded[quote.tradingDay]?[minute] ?? ExactDecimal(units: 0, scale: 8)) + volume
  }

  mutating func advance(to second: Int) {
    book.advance(to: hours.moment(on: Self.friday, secondOfDay: second))
    collect()
  }

  /// Lets a new book go on where this one was saved.
  mutating func restart() throws {
    var restored = Self.emptyBook(hours)
    try restored.restore(sharedState: book.sharedState)
    for index in 0..<book.count {
      try restored.restore(
        instrument: book.symbol(at: index), state: book.instrumentState(at: index))
    }
    book = restored
  }

  private mutating func collect() {
    let new = book.takeOutput()
    output.candles += new.candles
    output.revisions += new.revisions
    output.gaps += new.gaps
    for gap in new.closedGaps { output.gaps.removeAll { $0 == gap } }
    output.certificates += new.certificates
    output.events += new.events
  }

  func minutes(of day: TradingDay) -> [Candle] {
    output.candles.filter { $0.timeframe == .minute1 && $0.tradingDay == day }
  }

  func minute(of candle: Candle) -> Int {
    hours.minute(of: hours.clock.second(of: candle.closedAt, on: candle.tradingDay))
  }

  func certificate(of day: TradingDay) -> DayCertificate? {
    output.certificates.last { $0.tradingDay == day }
  }
}
