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

  init(_ candle: PublishedCandle) {
    self = .bar(
      openedAt: candle.openedAt.value,
      prices: [candle.open, candle.high, candle.low, candle.close].map(\.value),
      volume: candle.volume.value, trades: nil, average: candle.vwap?.value)
  }

  /// The day that is not over; nil before the first trade.
  init?(today stock: PublishedStock, opensAt: Timestamp) {
    let prices = [stock.openPrice, stock.highPrice, stock.lowPrice, stock.currentPrice]
      .compactMap { $0?.value }
    guard prices.count == 4, let volume = stock.volume?.value else { return nil }
    let turnover = stock.kind == InstrumentKind.index.name ? nil : stock.turnover?.value
    self = .bar(
      openedAt: opensAt, prices: prices, volume: volume, trades: nil,
      average: .averagePrice(turnover: turnover, volume: volume))
  }

  /// Of the first level of the book; nil where there is no book. A side without orders is 0.
  init?(quote stock: PublishedStock) {
    guard let at = stock.quotedAt?.value, let bids = stock.bids, let asks = stock.asks,
      !(bids.isEmpty && asks.isEmpty)
    else { return nil }
    func number(_ value: PublishedDecimal?) -> Value { .number(value?.value ?? .zero) }
    self.init([
      Field("t", .moment(at)), Field("ax", .text("")), Field("ap", number(asks.first?.price)),
      Field("as", number(asks.first?.volume)), Field("bx", .text("")),
      Field("bp", number(bids.first?.price)), Field("bs", number(bids.first?.volume)),
      Field("c", .texts([])), Field("z", .text("")),
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
