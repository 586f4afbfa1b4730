/// What `candled decode sina-quotes` prints: one JSON object a record, in the order of the body.
///
/// For support and for tests: everything the decoder said is there, exactly, and nothing else. The
/// keys and words are a contract; the golden files of the tests hold them.

import Market

package enum SinaQuotesJSON {
  /// The lines to print for one response, and whether it was refused as a whole.
  package static func write(
    body: UnsafeRawBufferPointer, status: Int
  ) -> (lines: [String], isRefused: Bool) {
    var decoder = SinaQuoteDecoder()
    var printer = SinaQuotePrinter()
    let outcome = decoder.decode(body, status: status, into: &printer)
    if case .ok = outcome { return (printer.lines, false) }
    var line = JSONLine()
    line.add("outcome", outcome.name)
    return ([line.finished], true)
  }
}

/// Turns each delivered line into JSON.
private struct SinaQuotePrinter: QuoteVisitor {
  private(set) var lines: [String] = []
  private let names = GB18030Decoder()

  mutating func quote(_ quote: Quote, name: RawName, line: UnsafeRawBufferPointer) {
    var json = JSONLine()
    json.add("symbol", quote.symbol.description)
    addKind(of: quote.symbol, to: &json)
    json.add("name", names.text(of: name))
    json.add("open", quote.open)
    json.add("previous_close", quote.previousClose)
    json.add("last", quote.last)
    json.add("high", quote.high)
    json.add("low", quote.low)
    json.add("bid", quote.bid)
    json.add("ask", quote.ask)
    json.add("volume", quote.volume)
    json.add("turnover", quote.turnover)
    json.add("bids", levels(of: quote.bids))
    json.add("asks", levels(of: quote.asks))
    json.add("at", quote.at.description)
    json.add("status", quote.status.name)
    json.add("trading", quote.trading.name)
    addAfterHours(of: quote, to: &json)
    lines.append(json.finished)
  }

  mutating func overview(_ quote: OverviewQuote) {
    var json = JSONLine()
    json.add("symbol", quote.symbol.description)
    json.add("kind", "overview")
    json.add("name", quote.name)
    json.add("last", quote.last)
    json.add("change", quote.change)
    json.add("percent_change", quote.percentChange)
    if let at = quote.at { json.add("at", at.description) } else { json.addNull("at") }
    lines.append(json.finished)
  }

  mutating func unknown(_ symbol: Symbol) {
    var json = JSONLine()
    json.add("symbol", symbol.description)
    json.add("outcome", "unknown_symbol")
    lines.append(json.finished)
  }

  mutating func rejected(_ row: RejectedRow) {
    var json = JSONLine()
    if let symbol = row.symbol {
      json.add("symbol", symbol.description)
    } else {
      json.addNull("symbol")
    }
    json.add("outcome", "rejected")
    json.add("reason", row.reason.rawValue)
    json.add("detail", row.detail)
    lines.append(json.finished)
  }

  private func addKind(of symbol: Symbol, to json: inout JSONLine) {
    guard let instrument = Instrument.classify(symbol) else { return json.addNull("kind") }
    json.add("kind", instrument.kind.name)
  }

  private func levels(of book: Quote.Book) -> [JSONLine] {
    book.indices.map { index in
      var json = JSONLine()
      json.add("price", book[index].price)
      json.add("volume", book[index].volume)
      return json
    }
  }

  private func addAfterHours(of quote: Quote, to json: inout JSONLine) {
    guard let afterHours = quote.afterHours else { return json.addNull("after_hours") }
    var inner = JSONLine()
    inner.add("volume", afterHours.volume)
    inner.add("turnover", afterHours.turnover)
    json.add("after_hours", inner)
  }
}
