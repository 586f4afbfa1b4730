/// A bar or a quote as Alpaca has it, once for REST and for both encodings of the stream.

import Market
import Reader

struct AlpacaMessage: Sendable {
  enum Value: Sendable {
    case null
    case text(String)
    case integer(Int64)
    /// A literal with its scale in JSON.
    case number(ExactDecimal)
    case moment(Timestamp)
    case texts([String])

    static func optional(_ value: ExactDecimal?) -> Value { value.map(number) ?? .null }
  }

  struct Field: Sendable {
    let name: String
    let value: Value

    init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }
  }

  let fields: [Field]

  init(_ fields: [Field]) { self.fields = fields }

  /// Clients want every member, also those that are null.
  static func bar(
    openedAt: Timestamp, prices: [ExactDecimal], volume: ExactDecimal, trades: Int64?,
    average: ExactDecimal?
  ) -> AlpacaMessage {
    AlpacaMessage(
      [Field("t", .moment(openedAt))]
        + zip(["o", "h", "l", "c"], prices).map { Field($0, .number($1)) } + [
          Field("v", .number(volume)), Field("n", trades.map(Value.integer) ?? .null),
          Field("vw", .optional(average)),
        ])
  }

  /// nil on days for which no adjustment factor is known: there is no price.
  init?(_ candle: CandleRecord) {
    let prices = [candle.open, candle.high, candle.low, candle.close].compactMap(\.self)
    guard prices.count == 4 else { return nil }
    self = .bar(
      openedAt: candle.openedAt, prices: prices, volume: candle.volume, trades: candle.trades,
      average: candle.vwap)
  }

  init(_ candle: CandleFigures) {
    self = .bar(
      openedAt: candle.openedAt, prices: [candle.open, candle.high, candle.low, candle.close],
      volume: candle.volume, trades: nil, average: candle.averagePrice)
  }

  /// The day that is not over; nil before the first trade.
  init?(today figures: StockFigures, of series: SeriesRecord, opensAt: Timestamp) {
    let prices = [figures.open, figures.high, figures.low, figures.price].compactMap(\.self)
    guard prices.count == 4 else { return nil }
    let turnover = series.kind == InstrumentKind.index.name ? nil : figures.turnover
    self = .bar(
      openedAt: opensAt, prices: prices, volume: figures.volume, trades: nil,
      average: .averagePrice(turnover: turnover, volume: figures.volume))
  }

  /// Of the first level of the book; nil where there is no book. A side without orders is 0.
  init?(quote: Quote) {
    let hasBids = Quote.depth(of: quote.bids) > 0
    let hasAsks = Quote.depth(of: quote.asks) > 0
    guard hasBids || hasAsks else { return nil }
    let bid = hasBids ? quote.bids[0] : .empty
    let ask = hasAsks ? quote.asks[0] : .empty
    self.init([
      Field("t", .moment(quote.at)), Field("ax", .text("")), Field("ap", .number(ask.price)),
      Field("as", .number(ask.volume)), Field("bx", .text("")), Field("bp", .number(bid.price)),
      Field("bs", .number(bid.volume)), Field("c", .texts([])), Field("z", .text("")),
    ])
  }

  /// As it comes in the stream.
  func named(_ type: String, symbol: String) -> AlpacaMessage {
    AlpacaMessage([Field("T", .text(type)), Field("S", .text(symbol))] + fields)
  }

  var json: [UInt8] {
    var text = JSONWriter()
    text.write(self)
    return text.bytes
  }

  var packed: [UInt8] {
    var writer = MessagePackWriter()
    writer.map(count: fields.count)
    for field in fields {
      writer.string(field.name)
      writer.write(field.value)
    }
    return writer.bytes
  }
}

extension JSONWriter {
  mutating func write(_ message: AlpacaMessage) {
    object { object in
      for field in message.fields { object.member(named: field.name) { $0.write(field.value) } }
    }
  }

  private mutating func write(_ value: AlpacaMessage.Value) {
    switch value {
    case .null: null()
    case .text(let text): string(text)
    case .integer(let number): integer(number)
    case .number(let value): number(value)
    case .moment(let moment): string(Self.utc(moment))
    case .texts(let texts): strings(texts)
    }
  }

  /// `2026-07-06T01:31:00Z`
  private static func utc(_ moment: Timestamp) -> String {
    MarketZone.utc.text(of: moment).replacing("+00:00", with: "Z")
  }
}

extension MessagePackWriter {
  fileprivate mutating func write(_ value: AlpacaMessage.Value) {
    switch value {
    case .null: null()
    case .text(let text): string(text)
    case .integer(let number): integer(number)
    case .number(let value): number(value)
    case .moment(let value): moment(value)
    case .texts(let texts):
      array(count: texts.count)
      for text in texts { string(text) }
    }
  }
}
