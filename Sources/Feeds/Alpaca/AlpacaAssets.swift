/// The American universe, `/v2/assets` of the trading host: one array, unpaged, several MB.
///
/// Assets are more than what has bars: some are not tradable, some of another class, some have
/// symbols that market data refuses with their whole request
/// (docs/sources/alpaca.md#calendar-and-assets). Those are left out.

import Market

enum AlpacaAssets {
  static let route = "/v2/assets"

  static func endpoint(headers: [Endpoint.Header]) -> Endpoint {
    Endpoint(
      route: route, path: "\(route)?status=active&asset_class=us_equity", headers: headers)
  }

  static func decode(
    _ body: UnsafeRawBufferPointer, status: Int
  ) throws(FeedRefusal) -> InstrumentList {
    if let refusal = AlpacaRefusal.classify(body, status: status) { throw refusal }
    var page = Page()
    do throws(JSONFault) {
      var reader = try JSONReader(body.trimmed)
      try reader.openArray()
      while try reader.nextElement() { try page.read(&reader) }
      try reader.finish()
    } catch {
      throw FeedRefusal(error)
    }
    if page.count == 0 { throw FeedRefusal(.noData, "the list is empty") }
    if page.refused.count == page.count {
      throw FeedRefusal(.malformed, "none of \(page.count) rows is a valid asset")
    }
    return InstrumentList(listed: page.listed, refused: page.refused, dropped: page.dropped)
  }

  private struct Page {
    var listed: [ListedInstrument] = []
    var refused: [RefusedRow] = []
    var dropped: [DroppedMember] = []
    var skipped = 0

    var count: Int { listed.count + refused.count + skipped }

    mutating func read(_ reader: inout JSONReader) throws(JSONFault) {
      let kind = try reader.peek()
      let start = reader.offset
      var asset = Asset()
      if kind == .object { try asset.read(&reader) } else { try reader.skip() }
      guard let ticker = asset.symbol else {
        let fault = RowFault.malformed("an asset with `symbol` expected")
        refused.append(
          RefusedRow(count, of: nil, because: fault, payload: reader.text(from: start)))
        return
      }
      guard asset.isOurs, let symbol = Symbol(ticker.text), AlpacaBarsQuery.isRequestable(symbol)
      else {
        skipped += 1
        return
      }
      let name = dropped.value(of: .name, in: symbol) { () throws(RowFault) in
        guard let name = asset.name else { throw .malformed("name: a text expected") }
        return NameText.clean(name.text)
      }
      listed.append(
        ListedInstrument(symbol: symbol, name: name ?? "", exchange: .unitedStates))
    }
  }

  private struct Asset {
    var symbol: JSONString?
    var name: JSONString?
    private var isEquity = false
    private var isTradable = false
    /// The parameter asks for active ones; where the key is there, it must say so.
    private var isActive = true

    var isOurs: Bool { isEquity && isTradable && isActive }

    mutating func read(_ reader: inout JSONReader) throws(JSONFault) {
      try reader.openObject()
      while let key = try reader.nextKey() {
        switch (key, try reader.readValue()) {
        case ("symbol", .string(let text)): symbol = text
        case ("name", .string(let text)): name = text
        case ("class", .string(let text)): isEquity = "us_equity" ~= text
        case ("status", .string(let text)): isActive = "active" ~= text
        case ("tradable", .boolean(let value)): isTradable = value
        default: break
        }
      }
    }
  }
}
