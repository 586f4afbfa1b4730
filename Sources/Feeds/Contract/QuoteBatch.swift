/// The rows of one answer, laid out before any is judged: the newest stamp among them dates all of
/// them, and is known only at the end. Reused between answers; rows remember places in the body,
/// never pointers into it.

import Market

package struct QuoteBatch: QuoteVisitor {
  package private(set) var quotes: [BatchQuote] = []
  package private(set) var overview: [OverviewQuote] = []
  package private(set) var unknown: [Symbol] = []
  package private(set) var refused: [BatchRefusal] = []
  package private(set) var dropped: [DroppedMember] = []
  private var base: Int = 0

  package init() {}

  package mutating func begin(body: UnsafeRawBufferPointer) {
    quotes.removeAll(keepingCapacity: true)
    overview.removeAll(keepingCapacity: true)
    unknown.removeAll(keepingCapacity: true)
    refused.removeAll(keepingCapacity: true)
    dropped.removeAll(keepingCapacity: true)
    base = Int(bitPattern: body.baseAddress)
  }

  package mutating func quote(_ quote: Quote, name: RawName, line: UnsafeRawBufferPointer) {
    quotes.append(
      BatchQuote(
        quote: quote, name: place(of: name.bytes), charset: name.charset, line: place(of: line)))
  }

  package mutating func overview(_ quote: OverviewQuote) { overview.append(quote) }

  package mutating func unknown(_ symbol: Symbol) { unknown.append(symbol) }

  package mutating func rejected(_ row: RejectedRow) {
    refused.append(
      BatchRefusal(
        symbol: row.symbol, reason: row.reason, detail: row.detail, line: place(of: row.line),
        isInOtherUnit: row.isInOtherUnit))
  }

  package mutating func dropped(_ member: DroppedMember) { dropped.append(member) }

  /// Whether the source has changed a unit: of more than a hundredth of a board's rows the money
  /// fits the volume in another unit alone. The volumes of the other rows, which prove nothing, are
  /// not to be trusted either.
  package var isInOtherUnits: Bool {
    let odd = refused.filter(\.isInOtherUnit).compactMap { $0.symbol.flatMap(Instrument.classify) }
    if odd.count < Self.oddRowsMin { return false }
    let read = quotes.compactMap { Instrument.classify($0.quote.symbol) }
    return Dictionary(grouping: odd, by: Self.board).contains { board, rows in
      let all = rows.count + read.count { Self.board(of: $0) == board }
      return rows.count >= Self.oddRowsMin && rows.count * 100 > all
    }
  }

  /// One or two rows may be damaged so by chance.
  private static let oddRowsMin = 3

  private static func board(of instrument: Instrument) -> [Int16] {
    [instrument.exchange.rawValue, instrument.kind.rawValue, instrument.board.rawValue]
  }

  private func place(of bytes: UnsafeRawBufferPointer) -> Range<Int> {
    let start = Int(bitPattern: bytes.baseAddress) - base
    return start..<start + bytes.count
  }
}

package struct BatchQuote {
  package var quote: Quote
  package var name: Range<Int>
  package var charset: NameCharset
  package var line: Range<Int>

  package func refused(_ reason: RejectionReason, detail: String) -> BatchRefusal {
    BatchRefusal(symbol: quote.symbol, reason: reason, detail: detail, line: line)
  }
}

/// A row that does not count, and why.
package struct BatchRefusal {
  package var symbol: Symbol?
  package var reason: RejectionReason
  package var detail: String
  package var line: Range<Int>
  package var isInOtherUnit: Bool

  package init(
    symbol: Symbol?, reason: RejectionReason, detail: String, line: Range<Int>,
    isInOtherUnit: Bool = false
  ) {
    self.isInOtherUnit = isInOtherUnit
    self.symbol = symbol
    self.reason = reason
    self.detail = detail
    self.line = line
  }
}
