/// Mairui's list of instruments: `[{"dm":"000001.SZ","mc":"平安银行","jys":"SZ"}, …]`.
///
/// Two shapes are served, the code with its exchange behind it and, earlier, without
/// (docs/sources/mairui.md#lists). Code and exchange make the symbol; the name is text that changes
/// from day to day and is kept as it comes, but for what `NameText` takes out. A row whose two
/// exchanges disagree is refused: it is not known which stock it is about.

import Market

enum MairuiList {
  /// The rows in the order of the answer, and which of them were refused.
  struct Page {
    var listed: [ListedInstrument] = []
    var refused: [RefusedRow] = []
    var dropped: [DroppedMember] = []

    var count: Int { listed.count + refused.count }
  }

  static func decode(
    _ body: UnsafeRawBufferPointer, status: Int
  ) throws(FeedRefusal) -> InstrumentList {
    let page = try page(body, status: status)
    return InstrumentList(listed: page.listed, refused: page.refused, dropped: page.dropped)
  }

  /// - Throws: also where no row is one of a list: the answer is to something else.
  static func page(_ body: UnsafeRawBufferPointer, status: Int) throws(FeedRefusal) -> Page {
    if let refusal = MairuiRefusal.classify(body, status: status) { throw refusal }
    let page: Page
    do throws(JSONFault) {
      page = try read(body)
    } catch {
      throw FeedRefusal(error)
    }
    if page.count == 0 { throw FeedRefusal(.noData, "the list is empty") }
    if page.listed.isEmpty {
      throw FeedRefusal(.malformed, "none of \(page.count) rows is a listed instrument")
    }
    return page
  }

  private static func read(_ body: UnsafeRawBufferPointer) throws(JSONFault) -> Page {
    var reader = try JSONReader(body.trimmed)
    var page = Page()
    try reader.openArray()
    while try reader.nextElement() {
      let kind = try reader.peek()
      let start = reader.offset
      if kind == .object {
        var row = MairuiRow()
        try row.read(&reader)
        page.add(row, payload: reader.text(from: start))
      } else {
        try reader.skip()
        page.refuse(.malformed("an object expected"), of: nil, payload: reader.text(from: start))
      }
    }
    try reader.finish()
    return page
  }
}

extension MairuiList.Page {
  fileprivate mutating func add(_ row: MairuiRow, payload: UnsafeRawBufferPointer) {
    var row = row
    do throws(RowFault) {
      listed.append(try row.instrument())
      dropped += row.dropped
    } catch {
      refuse(error, of: row.symbolAsFarAsKnown, payload: payload)
    }
  }

  fileprivate mutating func refuse(
    _ fault: RowFault, of symbol: Symbol?, payload: UnsafeRawBufferPointer
  ) {
    refused.append(RefusedRow(count, of: symbol, because: fault, payload: payload))
  }
}

/// One row, its three texts as they came.
private struct MairuiRow {
  private var code: JSONString?
  private var name: JSONString?
  private var exchange: JSONValue?
  /// What stood beside the row and could not be read.
  private(set) var dropped: [DroppedMember] = []

  mutating func read(_ reader: inout JSONReader) throws(JSONFault) {
    try reader.openObject()
    while let key = try reader.nextKey() {
      let value = try reader.readValue()
      switch key {
      case "dm": code = value.string
      case "mc": name = value.string
      case "jys": exchange = MairuiRow.isAbsent(value) ? nil : value
      default: break
      }
    }
  }

  /// Code and exchange make the row; a name it lacks is kept as it was known.
  mutating func instrument() throws(RowFault) -> ListedInstrument {
    let (digits, suffix) = try codeAndSuffix()
    let symbol = suffix.flatMap { Symbol($0.prefix + digits) }
    let stated = try statedExchange(of: symbol)
    guard let exchange = suffix ?? stated else { throw .malformed("jys: an exchange expected") }
    if let stated, stated != exchange {
      throw RowFault(.inconsistent, detail: "dm and jys name different exchanges")
    }
    guard let symbol = Symbol(exchange.prefix + digits) else {
      throw .malformed("dm: six digits expected")
    }
    let given = name
    let name = dropped.value(of: .name, in: symbol) { () throws(RowFault) in
      guard let given else { throw .malformed("mc: a name expected") }
      return NameText.clean(given.text)
    }
    return ListedInstrument(symbol: symbol, name: name ?? "", exchange: exchange)
  }

  private static func isAbsent(_ value: JSONValue) -> Bool {
    if case .null = value { return true }
    return value.string?.bytes.isEmpty == true
  }

  /// - Parameter symbol: where the code names the exchange, which then needs no second naming.
  private mutating func statedExchange(of symbol: Symbol?) throws(RowFault) -> Exchange? {
    guard let exchange else { return nil }
    let read = { () throws(RowFault) -> Exchange in
      guard let text = exchange.string else { throw .malformed("jys: an exchange expected") }
      return try MairuiRow.exchange(named: text.text, field: "jys")
    }
    guard let symbol else { return try read() }
    return dropped.value(of: .exchange, in: symbol, read: read)
  }

  /// The code as it came, for the record of a refused row.
  var symbolAsFarAsKnown: Symbol? { code.flatMap { Symbol(bytes: $0.bytes) } }

  private func codeAndSuffix() throws(RowFault) -> (digits: String, suffix: Exchange?) {
    guard let code else { throw .malformed("dm: a code expected") }
    let text = code.text
    let point = text.lastIndex(of: ".")
    let digits = String(text[..<(point ?? text.endIndex)])
    guard digits.utf8.count == 6, digits.utf8.allSatisfy({ (48...57).contains($0) }) else {
      throw .malformed("dm: six digits expected")
    }
    guard let point else { return (digits, nil) }
    let suffix = String(text[text.index(after: point)...])
    return (digits, try MairuiRow.exchange(named: suffix, field: "dm"))
  }

  /// `SSE` and its like were never seen in an answer; they are the same exchanges elsewhere.
  private static func exchange(named name: String, field: String) throws(RowFault) -> Exchange {
    switch name.uppercased() {
    case "SH", "SSE", "SHSE": return .shanghai
    case "SZ", "SZSE": return .shenzhen
    case "BJ", "BSE": return .beijing
    default: throw .malformed("\(field): an exchange expected")
    }
  }
}
