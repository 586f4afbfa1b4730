import Candles
import Market
import TestSupport

/// A day of random trades, and the three readings of it: what an exchange shows of it at a second,
/// its true minutes, and the minute bars a source delivers afterwards.
struct TradedDay {
  struct Trade {
    var second: Int
    /// In fen.
    var price: Int64
    var size: Int64
  }

  let symbol: Symbol
  let day: TradingDay
  let previousClose: Int64 = 990
  private(set) var trades: [Trade] = []
  /// The exchange's day after each trade.
  private var quotes: [Quote] = []

  /// - Parameters:
  ///   - tradesMax: of them, beside the two auctions.
  ///   - lot: of how many shares every trade is a multiple.
  init(_ tape: Tape, tradesMax: Int, lot: Int64 = 100, random: inout SplitMix) throws {
    symbol = tape.symbol
    day = tape.day
    var seconds = (0..<Int.random(in: 0...tradesMax, using: &random)).map { _ in
      let second = Int.random(in: 1...14_220, using: &random)
      return second <= 7200
        ? Session.morningOpen + second : Session.afternoonOpen + second - 7200
    }
    if Bool.random(using: &random) { seconds.append(Session.auctionMatch) }
    if Bool.random(using: &random) { seconds.append(Session.afternoonClose) }
    var price: Int64 = 1000
    for second in seconds.sorted() {
      price = min(max(price + .random(in: -3...3, using: &random), 900), 1080)
      trades.append(
        Trade(
          second: second, price: price,
          size: .random(in: 1...9000 / lot, using: &random) * lot))
    }
    try feedQuotes()
  }

  /// What the exchange shows at a second of the day.
  func quote(at second: Int) -> Quote {
    var low = 0
    var high = trades.count
    while low < high {
      let middle = (low + high) / 2
      if trades[middle].second <= second { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? quotes[low - 1] : untraded
  }

  private var untraded: Quote {
    var quote = Quote(symbol: symbol, tradingDay: day, secondOfDay: Int32(Session.dayReset))
    quote.previousClose = money(previousClose)
    quote.bid = quote.previousClose
    quote.ask = quote.bid
    return quote
  }

  private mutating func feedQuotes() throws {
    var quote = untraded
    for trade in trades {
      let price = money(trade.price)
      let isFirst = quote.volume.isZero
      quote.secondOfDay = Int32(trade.second)
      quote.open = isFirst ? price : quote.open
      quote.last = price
      quote.high = isFirst ? price : max(quote.high, price)
      quote.low = isFirst ? price : min(quote.low, price)
      quote.bid = price
      quote.ask = price
      quote.volume = try quote.volume + ExactDecimal(trade.size)
      quote.turnover = try quote.turnover + money(trade.price * trade.size)
      quotes.append(quote)
    }
  }

  /// All 240, flat where nothing traded.
  var minutes: [Candle] {
    var price = previousClose
    return (0..<Session.minutesPerDay).map { minute in
      let inside = trades.filter { Session.minute(of: $0.second) == minute }
      defer { price = inside.last?.price ?? price }
      return candle(minute, inside, price)
    }
  }

  /// As Sina delivers them: none for 14:57–14:59.
  var bars: [Candle] {
    minutes.enumerated().filter { !(237...238).contains($0.offset) }.map { _, minute in
      var bar = minute
      bar.flags = []
      return bar
    }
  }

  var volume: ExactDecimal { ExactDecimal(trades.reduce(0) { $0 + $1.size }) }

  private func candle(_ minute: Int, _ inside: [Trade], _ before: Int64) -> Candle {
    let openedAt = Timestamp(day: day, secondOfDay: Session.opening(ofMinute: minute))
    let prices = inside.map(\.price)
    return Candle(
      symbol: symbol, timeframe: .minute1, tradingDay: day, openedAt: openedAt,
      closedAt: openedAt.adding(seconds: 60), open: money(prices.first ?? before),
      high: money(prices.max() ?? before), low: money(prices.min() ?? before),
      close: money(prices.last ?? before), volume: ExactDecimal(inside.reduce(0) { $0 + $1.size }),
      turnover: money(inside.reduce(0) { $0 + $1.price * $1.size }),
      flags: inside.isEmpty ? .noTrade : [], source: .sina)
  }

  private func money(_ fen: Int64) -> ExactDecimal { ExactDecimal(units: fen, scale: 2) }
}

/// What the book made of a day, as a store would hold it.
struct KeptDay {
  var minutes: [Timestamp: Candle] = [:]
  var gaps: [Reconciliation.OpenGap] = []
  var certificate: DayCertificate?
  var dayCandle: Candle?

  init(_ output: CandleOutput) {
    for candle in output.candles + output.revisions.map(\.candle) {
      switch candle.timeframe {
      case .minute1: minutes[candle.openedAt] = candle
      case .day1: dayCandle = candle
      default: break
      }
    }
    gaps = output.gaps.enumerated().map { Reconciliation.OpenGap(id: Int64($0), gap: $1) }
    certificate = output.certificates.last
  }

  var ordered: [Candle] { minutes.values.sorted { $0.openedAt < $1.openedAt } }

  func reconciled(with bars: [Candle], of tape: Tape) -> Reconciliation.Outcome {
    Reconciliation(
      symbol: tape.symbol, day: tape.day, minutes: ordered, gaps: gaps, certificate: certificate,
      dayCandle: dayCandle, bars: bars
    ).outcome()
  }

  /// As the store does it.
  mutating func take(_ outcome: Reconciliation.Outcome) {
    for candle in outcome.candles + outcome.revisions.map(\.candle) {
      if candle.timeframe == .day1 {
        dayCandle = candle
      } else {
        minutes[candle.openedAt] = candle
      }
    }
    gaps.removeAll { outcome.closedGaps.contains($0.id) }
    gaps += outcome.remainders.enumerated().map {
      Reconciliation.OpenGap(id: Int64(1000 + $0), gap: $1)
    }
    certificate = outcome.certificate ?? certificate
  }
}

extension Candle {
  /// The same trades: flags apart.
  var values: [ExactDecimal?] { [open, high, low, close, volume, turnover] }
}
