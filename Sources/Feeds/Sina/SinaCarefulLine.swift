/// The full way through a line: every rule in order, and a reason when one is broken.
///
/// It is the authority; `SinaPlainLine` only saves most lines the trip. Rules are checked from the
/// outside in (a line at all, closed, enough fields, date and time where they belong, numbers,
/// numbers that fit each other), so that a line cut short or shifted is called malformed and not
/// by the nonsense its fields then hold.

import Market

struct SinaCarefulLine {
  let line: UnsafeRawBufferPointer
  private let securities: QuotedSecurityTable
  private(set) var symbol: Symbol?
  /// What stood beside the row and could not be read.
  private(set) var dropped: [DroppedMember] = []

  enum Content {
    case quote(Quote, name: UnsafeRawBufferPointer)
    case overview(SinaFamily, fields: [UnsafeRawBufferPointer])
    case unknown
  }

  /// - Parameter line: without its line end.
  init(_ line: UnsafeRawBufferPointer, securities: QuotedSecurityTable) {
    (self.line, self.securities) = (line, securities)
  }

  mutating func read() throws(RowFault) -> Content {
    let (symbolBytes, content) = try frame()
    guard let symbol else { throw .malformed("the symbol contains an invalid byte") }
    if content.isEmpty { return .unknown }
    let fields = content.parts(separatedBy: UInt8(ascii: ","))
      .map { content.slice($0.lowerBound, to: $0.upperBound) }
    switch SinaFamily(symbolBytes) {
    case .full: return .quote(try quote(symbol, from: fields), name: fields[0])
    case .companion: throw .malformed("a companion line carries no quote")
    case nil: throw .malformed("candled does not read symbols of this kind")
    case .some(let family): return .overview(family, fields: fields)
    }
  }

  /// Takes off `var hq_str_`, the symbol, `="` and `";`.
  private mutating func frame() throws(RowFault) -> (
    symbol: UnsafeRawBufferPointer, content: UnsafeRawBufferPointer
  ) {
    guard line.starts(with: SinaGrammar.lineStart) else {
      throw .malformed("`var hq_str_` expected")
    }
    let symbolStart = SinaGrammar.lineStart.count
    guard let symbolEnd = line.offset(of: SinaGrammar.opening, from: symbolStart) else {
      throw .malformed("the line is cut off before its fields")
    }
    let symbolBytes = line.slice(symbolStart, to: symbolEnd)
    symbol = Symbol(bytes: symbolBytes)
    let contentStart = symbolEnd + SinaGrammar.opening.count
    let contentEnd = line.count - SinaGrammar.closing.count
    guard contentEnd >= contentStart, line.starts(with: SinaGrammar.closing, at: contentEnd) else {
      throw .malformed("the line is cut off: the closing `\";` is missing")
    }
    let content = line.slice(contentStart, to: contentEnd)
    // A name may hold a stray quotation mark (easyquotation #51), the rest of a line never does.
    if let comma = content.offset(of: UInt8(ascii: ",")),
      content.offset(of: UInt8(ascii: "\""), from: comma) != nil
    {
      throw .malformed("a quotation mark inside: two lines run together")
    }
    return (symbolBytes, content)
  }
}

extension SinaCarefulLine {
  private typealias Field = UnsafeRawBufferPointer

  private mutating func quote(
    _ symbol: Symbol, from fields: [UnsafeRawBufferPointer]
  ) throws(RowFault) -> Quote {
    guard fields.count >= SinaGrammar.fullFieldsMin else {
      throw .malformed(
        "\(fields.count) fields, at least \(SinaGrammar.fullFieldsMin) expected")
    }
    guard let day = TradingDay(ascii: fields[30]) else {
      throw .malformed("date: YYYY-MM-DD expected, found `\(RowFault.excerpt(fields[30]))`")
    }
    guard fields[31].count == SinaClock.timeBytes,
      let second = SinaClock.secondOfDay(fields[31])
    else {
      throw .malformed("time: HH:MM:SS expected, found `\(RowFault.excerpt(fields[31]))`")
    }
    var quote = Quote(symbol: symbol, tradingDay: day, secondOfDay: second)
    try readNumbers(fields, into: &quote)
    if fields.count > 32 { quote.status = SinaCarefulLine.status(fields[32]) }
    if fields.count > 33 {
      let read = dropped.value(of: .afterHours, in: symbol) { () throws(RowFault) in
        try SinaCarefulLine.afterHours(fields[33])
      }
      quote.afterHours = read ?? nil
    }
    let security = securities[symbol.low]
    if security.contains(.countsLots) { quote.volume = try quote.volume.shares(named: "volume") }
    if security.contains(.convertible) { quote.countPiecesOfBonds() }
    if let broken = QuoteInconsistency.first(in: &quote, of: security) {
      throw RowFault(broken, of: quote)
    }
    return quote
  }

  private mutating func readNumbers(
    _ fields: [UnsafeRawBufferPointer], into quote: inout Quote
  ) throws(RowFault) {
    quote.open = try ExactDecimal(field: fields[1], named: "open")
    quote.previousClose = try ExactDecimal(field: fields[2], named: "previous close")
    quote.last = try ExactDecimal(field: fields[3], named: "last")
    quote.high = try ExactDecimal(field: fields[4], named: "high")
    quote.low = try ExactDecimal(field: fields[5], named: "low")
    quote.bid = try ExactDecimal(field: fields[6], named: "bid")
    quote.ask = try ExactDecimal(field: fields[7], named: "ask")
    quote.volume = try ExactDecimal(countIn: fields[8], named: "volume")
    quote.turnover = try ExactDecimal(field: fields[9], named: "turnover")
    quote.bids = try side("bid", of: quote.symbol, in: fields, from: 10)
    quote.asks = try side("ask", of: quote.symbol, in: fields, from: 20)
  }

  private mutating func side(
    _ name: String, of symbol: Symbol, in fields: [UnsafeRawBufferPointer], from first: Int
  ) throws(RowFault) -> Quote.Book {
    try dropped.book(of: symbol) { (level) throws(RowFault) in
      let volume = try ExactDecimal(
        countIn: fields[first + 2 * level], named: "\(name) volume \(level + 1)")
      return BookLevel(
        price: try ExactDecimal(
          field: fields[first + 2 * level + 1], named: "\(name) price \(level + 1)"),
        volume: volume)
    }
  }

  private static func status(_ text: UnsafeRawBufferPointer) -> QuoteStatus {
    guard text.count == 2 else { return text.isEmpty ? .normal : .unknown }
    return QuoteStatus(sinaCode: UInt16(text[0]) | UInt16(text[1]) << 8)
  }

  /// `D|shares|money`; anything that does not begin so (a BSE tail) is none.
  private static func afterHours(
    _ text: UnsafeRawBufferPointer
  ) throws(RowFault) -> AfterHours? {
    guard text.starts(with: Array("D|".utf8)) else { return nil }
    let parts = text.parts(separatedBy: UInt8(ascii: "|"))
    guard parts.count >= 3 else { throw .malformed("after-hours trailer: D|shares|money expected") }
    return AfterHours(
      volume: try ExactDecimal(
        countIn: text.slice(parts[1].lowerBound, to: parts[1].upperBound),
        named: "after-hours volume"),
      turnover: try ExactDecimal(
        field: text.slice(parts[2].lowerBound, to: parts[2].upperBound),
        named: "after-hours turnover"))
  }
}
