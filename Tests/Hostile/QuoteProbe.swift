import Feeds
import Market

/// Whose answers with live quotes are decoded.
package enum QuoteDialect: String, Sendable, Hashable {
  /// `hq.sinajs.cn`.
  case sina = "quotes"
  /// `qt.gtimg.cn`.
  case tencent = "tencent-quotes"
}

/// What holds for every line that may reach a candle: the rules of one snapshot, each row's bytes
/// where the body has them, and a name that can be read.
struct QuoteProbe: QuoteVisitor {
  private var verdict = Probe.Verdict("ok")
  private let body: UnsafeRawBufferPointer
  private let names = GB18030Decoder()
  private var cache = NameCache()
  private var unknown = 0

  private init(_ body: UnsafeRawBufferPointer) { self.body = body }

  static func classify(
    _ body: UnsafeRawBufferPointer, status: Int, as dialect: QuoteDialect
  ) -> Probe.Verdict {
    var probe = QuoteProbe(body)
    let outcome = probe.decode(body, status: status, as: dialect)
    let lines = probe.verdict.rows + probe.verdict.refusedRows
    probe.verdict.word = outcome.name
    if case .ok(let lineCount) = outcome {
      probe.verdict.expect(lineCount == lines, "\(lineCount) lines are told of \(lines)")
    } else {
      probe.verdict.expect(lines == 0, "\(lines) lines of a refusal")
    }
    return probe.verdict
  }

  private mutating func decode(
    _ body: UnsafeRawBufferPointer, status: Int, as dialect: QuoteDialect
  ) -> QuoteOutcome {
    switch dialect {
    case .sina:
      var decoder = SinaQuoteDecoder()
      return decoder.decode(body, status: status, into: &self)
    case .tencent:
      var decoder = TencentQuoteDecoder()
      return decoder.decode(body, status: status, into: &self)
    }
  }

  mutating func quote(_ quote: Quote, name: RawName, line: UnsafeRawBufferPointer) {
    verdict.rows += 1
    let symbol = quote.symbol.description
    verdict.expect(isInside(line) && isInside(name.bytes), "\(symbol): bytes from elsewhere")
    cache.update(at: 0, raw: name)
    let isRemembered = cache.name(at: 0) == names.text(of: name)
    verdict.expect(isRemembered, "\(symbol): two names of the same bytes")
    verdict.expect(
      (0..<86_400).contains(quote.secondOfDay), "\(symbol): second \(quote.secondOfDay)")
    verdict.expect((1...9999).contains(quote.tradingDay.civil.year), "\(symbol): no year")
    checkNumbers(quote, symbol)
    guard quote.high.isPositive else { return }
    let range = (min(quote.low, quote.high)...quote.high)
    verdict.expect(quote.low <= quote.high && quote.low.isPositive, "\(symbol): no range")
    verdict.expect(range.contains(quote.last), "\(symbol): last outside the day")
    verdict.expect(
      quote.open.isZero || range.contains(quote.open), "\(symbol): open outside the day")
  }

  private mutating func checkNumbers(_ quote: Quote, _ symbol: String) {
    let levels = quote.bids.indices.flatMap { [quote.bids[$0], quote.asks[$0]] }
    let numbers =
      [
        quote.open, quote.previousClose, quote.last, quote.high, quote.low, quote.bid, quote.ask,
        quote.volume, quote.turnover, quote.afterHours?.volume, quote.afterHours?.turnover,
      ].compactMap(\.self) + levels.flatMap { [$0.price, $0.volume] }
    verdict.expect(numbers.allSatisfy { !$0.isNegative }, "\(symbol): a number below zero")
    verdict.expect(
      quote.volume.rounded(places: 0) == quote.volume, "\(symbol): a part of a share")
  }

  mutating func overview(_ quote: OverviewQuote) {
    verdict.rows += 1
    verdict.expect(!quote.symbol.bytes.isEmpty, "an overview of nothing")
  }

  mutating func unknown(_ symbol: Symbol) {
    verdict.rows += 1
    unknown += 1
  }

  mutating func rejected(_ row: RejectedRow) {
    verdict.refusedRows += 1
    verdict.expect(isInside(row.line), "a refused line from elsewhere")
    verdict.expect(!row.detail.isEmpty, "a line refused for nothing")
  }

  private func isInside(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress else { return true }
    guard let base = body.baseAddress else { return false }
    return start >= base && start + bytes.count <= base + body.count
  }
}
