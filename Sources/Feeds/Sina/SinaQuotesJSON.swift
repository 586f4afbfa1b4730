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
    line.add("outcome", value: outcome.name)
    return ([line.finished], true)
  }
}

/// Turns each delivered line into JSON.
private struct SinaQuotePrinter: QuoteVisitor {
  private(set) var lines: [String] = []
  private let names = GB18030Decoder()

  mutating func quote(_ quote: Quote, name: RawName, line: UnsafeRawBufferPointer) {
    var json = JSONLine()
    json.add("symbol", value: quote.symbol.description)
    addKind(of: quote.symbol, to: &json)
    json.add("name", value: names.text(of: name))
    json.add("open", value: quote.open)
    json.add("previous_close", value: quote.previousClose)
    json.add("last", value: quote.last)
    json.add("high", value: quote.high)
    json.add("low", value: quote.low)
    json.add("bid", value: quote.bid)
    json.add("ask", value: quote.ask)
    json.add("volume", value: quote.volume)
    json.add("turnover", value: quote.turnover)
    json.add("bids", value: levels(of: quote.bids))
    json.add("asks", value: levels(of: quote.asks))
    json.add("at", value: quote.at.description)
    json.add("status", value: quote.status.name)
    json.add("trading", value: quote.trading.name)
    addAfterHours(of: quote, to: &json)
    lines.append(json.finished)
  }

  mutating func overview(_ quote: OverviewQuote) {
    var json = JSONLine()
    json.add("symbol", value: quote.symbol.description)
    json.add("kind", value: "overview")
    json.add("name", value: quote.name)
    json.add("last", value: quote.last)
    json.add("change", value: quote.change)
    json.add("percent_change", value: quote.percentChange)
    if let at = quote.at { json.add("at", value: at.description) } else { json.addNull("at") }
    lines.append(json.finished)
  }

  mutating func unknown(_ symbol: Symbol) {
    var json = JSONLine()
    json.add("symbol", value: symbol.description)
    json.add("outcome", value: "unknown_symbol")
    lines.append(json.finished)
  }

  mutating func rejected(_ row: RejectedRow) {
    var json = JSONLine()
    if let symbol = row.symbol {
      json.add("symbol", value: symbol.description)
    } else {
      json.addNull("symbol")
    }
    json.add("outcome", value: "rejected")
    json.add("reason", value: row.reason.rawValue)
    json.add("detail", value: row.detail)
    lines.append(json.finished)
  }

  private func addKind(of symbol: Symbol, to json: inout JSONLine) {
    guard let instrument = Instrument.classify(symbol) else { return json.addNull("kind") }
    json.add("kind", value: instrument.kind.name)
  }

  private func levels(of book: Quote.Book) -> [JSONLine] {
    book.indices.map { index in
      var json = JSONLine()
      json.add("price", value: book[index].price)
      json.add("volume", value: book[index].volume)
      return json
    }
  }

  private func addAfterHours(of quote: Quote, to json: inout JSONLine) {
    guard let afterHours = quote.afterHours else { return json.addNull("after_hours") }
    var inner = JSONLine()
    inner.add("volume", value: afterHours.volume)
    inner.add("turnover", value: afterHours.turnover)
    json.add("after_hours", value: inner)
  }
}
