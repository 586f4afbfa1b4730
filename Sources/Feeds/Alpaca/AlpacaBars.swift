/// A page of Alpaca's bars, in any of the shapes it has been served
/// (docs/sources/alpaca.md#shapes):
///
///     {"bars":{"AAPL":[{…},…],"MSFT":[…]},"next_page_token":…}      many symbols
///     {"bars":[{…},…],"symbol":"AAPL","next_page_token":…}          one
///     {"bars":{"AAPL":{…}}}                                         the latest of each
///
/// No bars may be `{}`, `[]`, `null` or nothing. A symbol without bars has no key and that is no
/// fault. Keys come in any order, some bars without `n` and `vw`.

import Market

struct AlpacaBars {
  private let source: Source
  private let timeframe: Timeframe
  /// nil: every symbol is welcome.
  private let requested: Set<Symbol>?
  private var page = CandlePage(candles: [], refused: [])
  private var clock = NewYorkClock()

  init(source: Source, timeframe: Timeframe, requested: [Symbol]?) {
    self.source = source
    self.timeframe = timeframe
    self.requested = requested.map(Set.init)
  }

  /// - Parameter only: the symbol of a page that has bars of one and does not say whose.
  static func decode(
    _ body: UnsafeRawBufferPointer, status: Int, source: Source, timeframe: Timeframe,
    requested: [Symbol]?, only: Symbol? = nil
  ) throws(FeedRefusal) -> CandlePage {
    if let refusal = AlpacaRefusal.classify(body, status: status) { throw refusal }
    var bars = AlpacaBars(source: source, timeframe: timeframe, requested: requested)
    do throws(JSONFault) {
      try bars.read(body.trimmed, only: only)
    } catch {
      throw FeedRefusal(error)
    }
    return bars.page
  }

  private mutating func read(
    _ text: UnsafeRawBufferPointer, only: Symbol?
  ) throws(JSONFault) {
    var reader = try JSONReader(text)
    var single: JSONReader?
    var symbol = only
    var isPage = false
    try reader.openObject()
    while let key = try reader.nextKey() {
      switch key {
      case "bars":
        isPage = true
        if try reader.peek() == .array {
          // Whose they are may stand behind them.
          single = reader
          try reader.skip()
        } else {
          try readSymbols(&reader)
        }
      case "symbol":
        isPage = true
        symbol = try reader.readValue().string.flatMap { Symbol(bytes: $0.bytes) }
      case "next_page_token":
        isPage = true
        page.nextPageToken = try AlpacaBars.readToken(&reader)
      default: try reader.skip()
      }
    }
    try reader.finish()
    if !isPage { throw JSONFault(reason: .expected("a page of bars"), offset: 0) }
    if var single { try readBars(&single, of: symbol) }
  }

  private static func readToken(_ reader: inout JSONReader) throws(JSONFault) -> String? {
    let start = reader.offset
    switch try reader.readValue() {
    case .null: return nil
    case .string(let token) where token.bytes.count <= AlpacaBarsQuery.pageTokenBytesMax:
      return token.bytes.isEmpty ? nil : token.text
    default: throw JSONFault(reason: .expected("a page token"), offset: start)
    }
  }

  private mutating func readSymbols(_ reader: inout JSONReader) throws(JSONFault) {
    if try reader.peek() == .null { return try reader.readNull() }
    try reader.openObject()
    while let key = try reader.nextKey() {
      let symbol = key.hasEscapes ? Symbol(key.text) : Symbol(bytes: key.bytes)
      switch try reader.peek() {
      case .array: try readBars(&reader, of: symbol)
      case .null: try reader.readNull()
      default: try readBar(&reader, of: symbol)
      }
    }
  }

  private mutating func readBars(
    _ reader: inout JSONReader, of symbol: Symbol?
  ) throws(JSONFault) {
    try reader.openArray()
    while try reader.nextElement() { try readBar(&reader, of: symbol) }
  }

  private mutating func readBar(
    _ reader: inout JSONReader, of symbol: Symbol?
  ) throws(JSONFault) {
    let kind = try reader.peek()
    let start = reader.offset
    var bar = AlpacaBar()
    if kind == .object { try bar.read(&reader) } else { try reader.skip() }
    do throws(RowFault) {
      guard kind == .object else { throw .malformed("an object expected") }
      guard let symbol else { throw .malformed("a symbol expected") }
      if let requested, !requested.contains(symbol) {
        throw RowFault(.unrequested, detail: "the symbol was not requested")
      }
      page.candles.append(
        try bar.candle(of: symbol, timeframe: timeframe, source: source, clock: &clock))
      page.dropped += bar.dropped
    } catch {
      page.refused.append(
        RefusedRow(
          page.candles.count + page.refused.count, of: symbol, because: error,
          payload: reader.text(from: start)))
    }
  }
}
