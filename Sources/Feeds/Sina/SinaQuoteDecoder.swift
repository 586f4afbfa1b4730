/// Bytes of hq.sinajs.cn in, quotes out.
///
/// One decoder is kept and reused for every response of the feed: it remembers the day of the last
/// line and the iconv descriptor, nothing that could change a result. The response is judged first
/// (`QuoteOutcome`), then read line by line; a bad line is delivered as rejected and never takes a
/// neighbour with it. No byte sequence traps, and nothing is allocated for a good line.

import Glibc
import Market

package struct SinaQuoteDecoder {
  private var quote: Quote
  private var dates = SinaDateCache()
  private let securities: QuotedSecurityTable
  private let names: GB18030Decoder
  private let skipsPlainWay: Bool

  /// - Parameter day: whose rules its lines are read by; nil: today's.
  package init(on day: TradingDay? = nil) { self.init(skipsPlainWay: false, on: day) }

  /// - Parameter skipsPlainWay: sends every line the careful way, which must not change a result.
  init(skipsPlainWay: Bool, on day: TradingDay? = nil) {
    securities = QuotedSecurityTable(of: Sina().name, on: day)
    quote = Quote(
      symbol: Symbol(low: 0, high: 0), tradingDay: TradingDay(daysSince1970: 0), secondOfDay: 0)
    names = GB18030Decoder()
    self.skipsPlainWay = skipsPlainWay
  }

  /// Decodes one response and hands its lines to `visitor` in their order. Nothing is handed over
  /// unless the outcome is `ok`.
  /// - Parameters:
  ///   - body: as received, content encoding undone.
  ///   - status: of HTTP; the body has the last word.
  package mutating func decode(
    _ body: UnsafeRawBufferPointer, status: Int, into visitor: inout some QuoteVisitor
  ) -> QuoteOutcome {
    if let refusal = QuoteOutcome.refusal(of: body, status: status) { return refusal }
    guard let base = body.baseAddress else { return .empty }
    let charset = NameCharset.detected(in: body)
    let end = base + body.count
    var position = base
    if body.starts(with: NameCharset.byteOrderMark) {
      position += NameCharset.byteOrderMark.count
    }
    var lines = 0
    while position < end {
      if let plain = plainLine(at: position, end: end) {
        visitor.quote(
          quote, name: RawName(bytes: plain.name, charset: charset), line: plain.line)
        position = plain.next
        lines += 1
      } else {
        position = decodeCarefully(
          at: position, end: end, charset: charset, lines: &lines, into: &visitor)
      }
    }
    return .ok(lines: lines)
  }

  @inline(never)
  private mutating func plainLine(
    at position: UnsafeRawPointer, end: UnsafeRawPointer
  ) -> SinaPlainLine? {
    guard end - position >= SinaPlainLine.windowBytesMin, !skipsPlainWay else { return nil }
    return SinaPlainLine(
      at: position, end: end, securities: securities, dates: &dates, into: &quote)
  }

  /// Reads one line with every rule and returns where the next one begins.
  private mutating func decodeCarefully(
    at position: UnsafeRawPointer, end: UnsafeRawPointer, charset: NameCharset,
    lines: inout Int, into visitor: inout some QuoteVisitor
  ) -> UnsafeRawPointer {
    let rest = UnsafeRawBufferPointer(start: position, count: end - position)
    let lineEnd = rest.offset(of: UInt8(ascii: "\n")) ?? rest.count
    var line = rest.slice(0, to: lineEnd)
    var next = position + min(lineEnd + 1, rest.count)
    // Where bytes went missing, the next line begins inside this one.
    if let resumed = line.offset(of: SinaGrammar.lineStart, from: 1) {
      line = line.slice(0, to: resumed)
      next = position + resumed
    } else if line.last == UInt8(ascii: "\r") {
      line = line.slice(0, to: line.count - 1)
    }
    if line.isEmpty { return next }
    lines += 1
    var careful = SinaCarefulLine(line, securities: securities)
    do throws(RowFault) {
      let content = try careful.read()
      for member in careful.dropped { visitor.dropped(member) }
      try deliver(content, of: careful, charset: charset, to: &visitor)
    } catch {
      visitor.rejected(
        RejectedRow(
          symbol: careful.symbol, reason: error.reason, detail: error.detail, line: line,
          isInOtherUnit: error.isInOtherUnit))
    }
    return next
  }

  private func deliver(
    _ content: SinaCarefulLine.Content, of careful: SinaCarefulLine, charset: NameCharset,
    to visitor: inout some QuoteVisitor
  ) throws(RowFault) {
    guard let symbol = careful.symbol else { return }
    switch content {
    case .quote(let quote, let name):
      visitor.quote(quote, name: RawName(bytes: name, charset: charset), line: careful.line)
    case .overview(let family, let fields):
      let line = SinaOverviewLine(family: family, fields: fields)
      visitor.overview(try line.read(symbol, charset: charset, names: names))
    case .unknown: visitor.unknown(symbol)
    }
  }
}

extension SinaQuoteDecoder: QuoteDecoder {}
