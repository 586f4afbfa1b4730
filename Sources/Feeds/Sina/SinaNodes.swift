/// Sina's lists of instruments, page by page.
///
/// A list is read by its count: first how many there are, then pages of 80 sorted by symbol. The
/// end is an empty array; `null` is a page that was throttled away, so whoever took it for the end
/// would strike half the market off the list (docs/sources/sina.md#lists). The page also carries
/// prices without a date; they are not read.

import Market

/// A list Sina keeps. `aShares` lacks the depositary receipts (sh689009), which `star` has.
package enum SinaNode: String, Sendable, CaseIterable {
  case aShares = "hs_a"
  case star = "kcb"
  case beijing = "hs_bjs"

  /// Rows of a full page: what Sina's own page asks for; much larger ones are not reliable.
  package static let pageRows = 80
}

enum SinaNodes {
  static func countEndpoint(of node: SinaNode) -> Endpoint {
    let method = "\(service).getHQNodeStockCount"
    return Endpoint(
      route: "\(method)?node=\(node.rawValue)", path: "\(method)?node=\(node.rawValue)",
      headers: SinaHistory.headers)
  }

  /// - Precondition: `page` counts from 1.
  static func pageEndpoint(of node: SinaNode, page: Int) -> Endpoint {
    precondition(page >= 1, "pages count from 1")
    let method = "\(service).getHQNodeData"
    let order = "num=\(SinaNode.pageRows)&sort=symbol&asc=1&node=\(node.rawValue)"
    return Endpoint(
      route: "\(method)?node=\(node.rawValue)", path: "\(method)?page=\(page)&\(order)",
      headers: SinaHistory.headers)
  }

  private static let service = "/quotes_service/api/json_v2.php/Market_Center"

  /// No list is empty, and none is ten times the market.
  private static let counts: ClosedRange<Int64> = 1...60_000

  /// How many instruments a list holds, of `"5316"`.
  static func decodeCount(
    _ body: UnsafeRawBufferPointer, status: Int
  ) throws(FeedRefusal) -> Int {
    if let refusal = SinaRefusal.classify(body, status: status) { throw refusal }
    let script = SinaScript(body)
    let value: JSONValue
    let reader: JSONReader
    do throws(JSONFault) {
      (value, reader) = try SinaNodes.value(of: script.json)
    } catch {
      throw FeedRefusal(error)
    }
    try script.finish(reader)
    if case .null = value { throw SinaRefusal.null }
    guard let text = value.string?.bytes ?? value.number?.bytes,
      let count = try? ExactDecimal(parsing: text), count.scale == 0
    else { throw FeedRefusal(.malformed, "a count expected") }
    guard counts.contains(count.units) else {
      throw FeedRefusal(.implausible, "the list has an impossible size: \(count)")
    }
    return Int(count.units)
  }

  private static func value(
    of json: UnsafeRawBufferPointer
  ) throws(JSONFault) -> (JSONValue, JSONReader) {
    var reader = try JSONReader(json)
    return (try reader.readValue(), reader)
  }

  /// The rows of one page; none of them behind the last page.
  static func decodePage(
    _ body: UnsafeRawBufferPointer, status: Int
  ) throws(FeedRefusal) -> InstrumentList {
    if let refusal = SinaRefusal.classify(body, status: status) { throw refusal }
    var listed: [ListedInstrument] = []
    var refused: [RefusedRow] = []
    var dropped: [DroppedMember] = []
    try SinaRows.read(body) { (reader: inout JSONReader, place) throws(JSONFault) in
      let start = reader.offset
      var row = try SinaNodeRow(&reader)
      do throws(RowFault) {
        listed.append(try row.instrument())
        dropped += row.dropped
      } catch {
        refused.append(
          RefusedRow(place, of: row.symbol, because: error, payload: reader.text(from: start)))
      }
    }
    if listed.isEmpty, let first = refused.first {
      throw FeedRefusal(.malformed, "no row is a listed instrument: \(first.detail)")
    }
    return InstrumentList(listed: listed, refused: refused, dropped: dropped)
  }
}

private struct SinaNodeRow {
  /// The row's symbol, if it could be read.
  private(set) var symbol: Symbol?
  private var code: JSONValue?
  private var name: JSONValue?
  /// What stood beside the row and could not be read.
  private(set) var dropped: [DroppedMember] = []

  /// Reads the next value of `reader` whole, whatever it is.
  init(_ reader: inout JSONReader) throws(JSONFault) {
    guard try reader.peek() == .object else {
      try reader.skip()
      return
    }
    try reader.openObject()
    while let key = try reader.nextKey() {
      switch key {
      case "symbol":
        symbol = try reader.readValue().string.flatMap { Symbol(bytes: $0.bytes) }
      case "code": code = try reader.readValue()
      case "name": name = try reader.readValue()
      default: try reader.skip()
      }
    }
  }

  /// The symbol makes the row; a name it lacks is kept as it was known.
  mutating func instrument() throws(RowFault) -> ListedInstrument {
    guard let symbol, SinaHistory.isRequestable(symbol),
      let exchange = Exchange(prefixOf: symbol.description)
    else { throw .malformed("symbol: sh, sz or bj and six digits expected") }
    if let code, code.string?.text != String(symbol.description.dropFirst(2)) {
      throw .malformed("code: differs from the symbol")
    }
    let row = self
    let name = dropped.value(of: .name, in: symbol) { () throws(RowFault) in
      try row.readableName()
    }
    return ListedInstrument(symbol: symbol, name: name ?? "", exchange: exchange)
  }

  private func readableName() throws(RowFault) -> String {
    let text = NameText.clean(name?.string?.text ?? "")
    guard text.contains(where: { !$0.isWhitespace }) else { throw .malformed("name: missing") }
    return text
  }
}
