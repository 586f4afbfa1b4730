/// Bytes of qt.gtimg.cn in, quotes out.
///
/// One decoder is kept and reused for every response: what it remembers never changes a result. A
/// bad line is delivered as rejected and never takes a neighbour with it. An unknown symbol has no
/// line at all: who asked for it sees that by the symbols of the request.

import Market

package struct TencentQuoteDecoder {
  private var quote: Quote
  private var fields = TencentFields()
  private var clock = TencentClock()
  private let securities: QuotedSecurityTable

  /// - Parameter day: whose rules its lines are read by; nil: today's.
  package init(on day: TradingDay? = nil) {
    securities = QuotedSecurityTable(of: Tencent().name, on: day)
    quote = Quote(
      symbol: Symbol(low: 0, high: 0), tradingDay: TradingDay(daysSince1970: 0), secondOfDay: 0)
  }

  /// Decodes one response and hands its lines to `visitor` in their order. Nothing is handed over
  /// unless the outcome is `ok`.
  /// - Parameters:
  ///   - body: as received, content encoding undone.
  ///   - status: of HTTP.
  package mutating func decode(
    _ body: UnsafeRawBufferPointer, status: Int, into visitor: inout some QuoteVisitor
  ) -> QuoteOutcome {
    if let refusal = TencentRefusal.classify(body, status: status) { return refusal }
    // GBK, but for a UTF-8 answer now and then (docs/sources/tencent.md#requests).
    let charset = NameCharset.detected(in: body)
    let mark = NameCharset.byteOrderMark
    var rest = body.starts(with: mark) ? body.dropping(mark.count) : body
    var lines = 0
    while !rest.isEmpty {
      let line = TencentLine.next(&rest)
      if line.isEmpty { continue }
      lines += 1
      do throws(RowFault) {
        let row = try read(line, charset: charset)
        for member in row.dropped { visitor.dropped(member) }
        visitor.quote(quote, name: RawName(bytes: row.name, charset: charset), line: line)
      } catch {
        visitor.rejected(
          RejectedRow(
            symbol: TencentLine.symbol(in: line), reason: error.reason, detail: error.detail,
            line: line,
            isInOtherUnit: error.isInOtherUnit))
      }
    }
    return .ok(lines: lines)
  }

  private mutating func read(
    _ line: UnsafeRawBufferPointer, charset: NameCharset
  ) throws(RowFault) -> TencentRow {
    let framed = try TencentLine(line)
    fields.split(framed.content, charset: charset)
    quote.symbol = framed.symbol
    var row = TencentRow(fields: fields, security: securities[framed.symbol.low])
    try row.read(into: &quote, clock: &clock)
    return row
  }
}

extension TencentQuoteDecoder: QuoteDecoder {}
