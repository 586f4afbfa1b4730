/// A quote as the API's type `Stock`. What is derived follows the view `latest`: before the first
/// trade of the day there is no price and no change, whatever the source sends.

import Market
import Reader

/// What lists are ordered by, and doors show in their own way; nil where the series has not traded.
package struct StockFigures: Sendable, Hashable {
  package var price: ExactDecimal?
  package var change: ExactDecimal?
  package var changePercent: ExactDecimal?
  package var volume: ExactDecimal
  package var turnover: ExactDecimal
  package var tradingDay: TradingDay
  /// Of what is zero nothing: none yet, or an empty side of the book.
  package var open: ExactDecimal?
  package var high: ExactDecimal?
  package var low: ExactDecimal?
  package var previousClose: ExactDecimal
  package var bid: ExactDecimal?
  package var ask: ExactDecimal?
  /// Whether the exchange lists it on that day.
  package var isListed: Bool

  package init(_ quote: Quote) {
    tradingDay = quote.tradingDay
    isListed = ![.delisted, .notListed].contains(quote.trading)
    let hasTraded = quote.high.isPositive
    price = hasTraded ? quote.last : nil
    change = hasTraded ? try? quote.last - quote.previousClose : nil
    changePercent = hasTraded ? quote.last.percentChange(from: quote.previousClose) : nil
    volume = quote.volume
    turnover = quote.turnover
    open = quote.open.isZero ? nil : quote.open
    high = quote.high.isZero ? nil : quote.high
    low = quote.low.isZero ? nil : quote.low
    previousClose = quote.previousClose
    bid = quote.bid.isZero ? nil : quote.bid
    ask = quote.ask.isZero ? nil : quote.ask
  }
}

extension EncodedStock {
  /// - Parameters:
  ///   - identity: of its series, with the quote's name.
  ///   - isStale: newer values may exist that cannot be had now.
  ///   - text: is emptied; one for all that are encoded in a row.
  package init(
    _ latest: LatestQuote, place: SeriesPlace, identity: SeriesIdentity, isStale: Bool,
    with text: inout JSONWriter
  ) {
    let zone = identity.zone
    let figures = StockFigures(latest.quote)
    let band = latest.quote.limits.band(
      or: identity.band(
        previousClose: latest.quote.previousClose, on: latest.quote.tradingDay))
    text.clear()
    text.object { stock in
      stock.encoded(identity.members)
      stock.write(latest.quote, figures: figures)
      stock.member("limitUp") { $0.optional(band) { $0.decimal($1.upper) } }
      stock.member("limitDown") { $0.optional(band) { $0.decimal($1.lower) } }
      stock.writeYear(of: latest.quote, identity: identity)
      stock.member("trading") { $0.string(latest.quote.trading.name) }
      stock.member("quotedAt") { $0.moment(latest.quote.at, in: zone) }
      stock.member("receivedAt") { $0.moment(latest.receivedAt, in: zone) }
      stock.member("tradingDay") { $0.day(latest.quote.tradingDay) }
      stock.member("forming") { $0.optional(latest.forming) { $0.write(forming: $1, zone) } }
      stock.member("stale") { $0.boolean(isStale) }
      stock.member("seq") { $0.integer(latest.seq) }
    }
    self.init(
      place: place, json: text.bytes, latest: latest, figures: figures, band: band,
      isStale: isStale)
  }
}

/// What of a stock follows from its series and its name alone, made once for all its quotes.
package final class SeriesIdentity: Sendable {
  let name: String?
  /// The first members of the object, encoded.
  let members: [UInt8]
  fileprivate let zone: MarketZone
  fileprivate let yearHigh: ExactDecimal?
  fileprivate let yearLow: ExactDecimal?
  fileprivate let yearExDay: TradingDay?
  private let instrument: Instrument?
  private let marks: NameMarks

  init(_ series: SeriesRecord, name: String?) {
    self.name = name
    var text = JSONWriter()
    text.write(series, name: name)
    members = text.bytes
    (zone, yearHigh, yearLow) = (series.zone, series.yearHigh, series.yearLow)
    yearExDay = series.yearExDay
    instrument = Instrument.classify(series.symbol)
    marks = NameMarks.parse(name ?? "")
  }

  /// The prices between which it may trade on a day; nil: any.
  func band(previousClose: ExactDecimal, on day: TradingDay) -> PriceBand? {
    instrument.flatMap { instrument in
      PriceLimit.band(for: instrument, marks: marks, previousClose: previousClose, on: day)
    }
  }
}

extension Quote {
  /// How many levels a side of the book shows: through the last that is not empty.
  static func depth(of book: Book) -> Int {
    book.indices.last { book[$0] != .empty }.map { $0 + 1 } ?? 0
  }
}

extension JSONWriter {
  mutating func optional<Value>(
    _ value: Value?, write: (inout JSONWriter, Value) -> Void
  ) {
    if let value { write(&self, value) } else { null() }
  }

  /// Identity: what search answers with.
  mutating func write(_ series: SeriesRecord, name: String?) {
    member("id") { $0.string("\(series.symbol)@\(series.sourceName)") }
    member("symbol") { $0.string(series.symbol.description) }
    member("source") { $0.string(series.sourceName) }
    member("name") { $0.optional(name) { $0.string($1) } }
    member("exchange") { $0.optional(series.exchange) { $0.string($1) } }
    member("kind") { $0.optional(series.kind) { $0.string($1) } }
    member("board") { $0.optional(series.board) { $0.string($1) } }
    member("currency") { $0.string(series.currency) }
  }

  fileprivate mutating func write(_ quote: Quote, figures: StockFigures) {
    member("currentPrice") { $0.optional(figures.price) { $0.decimal($1) } }
    member("change") { $0.optional(figures.change) { $0.decimal($1) } }
    member("changePercent") { $0.optional(figures.changePercent) { $0.decimal($1) } }
    member("openPrice") { $0.optional(figures.open) { $0.decimal($1) } }
    member("highPrice") { $0.optional(figures.high) { $0.decimal($1) } }
    member("lowPrice") { $0.optional(figures.low) { $0.decimal($1) } }
    member("previousClose") { $0.decimal(quote.previousClose) }
    member("volume") { $0.decimal(quote.volume) }
    member("turnover") { $0.decimal(quote.turnover) }
    member("bidPrice") { $0.optional(figures.bid) { $0.decimal($1) } }
    member("askPrice") { $0.optional(figures.ask) { $0.decimal($1) } }
    member("bids") { $0.write(book: quote.bids) }
    member("asks") { $0.write(book: quote.asks) }
  }

  private mutating func write(book: Quote.Book) {
    array { levels in
      for index in 0..<Quote.depth(of: book) {
        levels.object { level in
          level.member("price") { $0.decimal(book[index].price) }
          level.member("volume") { $0.decimal(book[index].volume) }
        }
      }
    }
  }

  /// Of 52 weeks: what the days before have, and what today shows.
  fileprivate mutating func writeYear(of quote: Quote, identity: SeriesIdentity) {
    // Without a known factor today is not all of them.
    let isKnown = identity.yearExDay == nil || identity.yearHigh != nil
    let today = quote.high.isPositive && isKnown ? quote : nil
    // Of equal ones the first, with its scale.
    let high = Self.either(identity.yearHigh, or: today?.high) { max($1, $0) }
    let low = Self.either(identity.yearLow, or: today?.low) { min($0, $1) }
    member("yearHigh") { $0.optional(high) { $0.decimal($1) } }
    member("yearLow") { $0.optional(low) { $0.decimal($1) } }
    if let day = identity.yearExDay { member("yearExDay") { $0.string("\(day)") } }
  }

  private static func either(
    _ first: ExactDecimal?, or second: ExactDecimal?,
    choose: (ExactDecimal, ExactDecimal) -> ExactDecimal
  ) -> ExactDecimal? {
    guard let first, let second else { return first ?? second }
    return choose(first, second)
  }

  fileprivate mutating func write(forming candle: Candle, _ zone: MarketZone) {
    object { minute in
      minute.member("openedAt") { $0.moment(candle.openedAt, in: zone) }
      minute.member("open") { $0.decimal(candle.open) }
      minute.member("high") { $0.decimal(candle.high) }
      minute.member("low") { $0.decimal(candle.low) }
      minute.member("close") { $0.decimal(candle.close) }
      minute.member("volume") { $0.decimal(candle.volume) }
    }
  }
}
