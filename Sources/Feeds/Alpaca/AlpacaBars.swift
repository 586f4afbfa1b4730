/// A page of Alpaca's bars (docs/sources/alpaca.md#shapes):
///
///     {"bars":{"AAPL":[{…},…],"MSFT":[…]},"next_page_token":…}
///
/// No bars may be `{}`, `null` or nothing. A symbol without bars has no key and that is no fault.
/// Keys come in any order, some bars without `n` and `vw`.

import Market

struct AlpacaBars {
  private let source: Source
  private let timeframe: Timeframe
  private let requested: Set<Symbol>
  private var page = CandlePage(candles: [], refused: [])
  private var clock = NewYorkClock()

  private init(source: Source, timeframe: Timeframe, requested: [Symbol]) {
    self.source = source
    self.timeframe = timeframe
    self.requested = Set(requested)
  }

  static func decode(
    _ body: UnsafeRawBufferPointer, status: Int, source: Source, timeframe: Timeframe,
    requested: [Symbol]
  ) throws(FeedRefusal) -> CandlePage {
    if let refusal = AlpacaRefusal.classify(body, status: status) { throw refusal }
    var bars = AlpacaBars(source: source, timeframe: timeframe, requested: requested)
    do throws(JSONFault) {
      try bars.read(body.trimmed)
    } catch {
      throw FeedRefusal(error)
    }
    return bars.page
  }

  private mutating func read(_ text: UnsafeRawBufferPointer) throws(JSONFault) {
    var reader = try JSONReader(text)
    var isPage = false
    try reader.openObject()
    while let key = try reader.nextKey() {
      switch key {
      case "bars":
        isPage = true
        try readSymbols(&reader)
      case "next_page_token":
        isPage = true
        page.nextPageToken = try AlpacaBars.readToken(&reader)
      default: try reader.skip()
      }
    }
    try reader.finish()
    if !isPage { throw JSONFault(reason: .expected("a page of bars"), offset: 0) }
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
      if try reader.peek() == .null {
        try reader.readNull()
        continue
      }
      try reader.openArray()
      while try reader.nextElement() { try readBar(&reader, of: symbol) }
    }
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
      if !requested.contains(symbol) {
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
