import Market

@testable import Feeds

/// What golden files hold of live quotes: one JSON object a record, in the order of the body, with
/// everything that the decoder said and nothing else.
struct QuotePrinter: QuoteVisitor {
  private(set) var lines: [String] = []
  private let names = GB18030Decoder()
  private let showsLimits: Bool

  /// - Parameter showsLimits: for a source that states legal prices or rounds volumes.
  init(showsLimits: Bool) { self.showsLimits = showsLimits }

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
    if showsLimits { addLimits(of: quote, to: &json) }
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
    lines.append(RefusedRow.json(row.symbol, reason: row.reason, detail: row.detail))
  }

  mutating func dropped(_ member: DroppedMember) { lines.append(member.json) }

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

  private func addLimits(of quote: Quote, to json: inout JSONLine) {
    let band: PriceBand? = if case .band(let band) = quote.limits { band } else { nil }
    json.add("limit_up", value: band?.upper.description)
    json.add("limit_down", value: band?.lower.description)
    json.add("volume_exact", isTrue: quote.rounding.volume == 0)
  }
}

extension QuoteStatus {
  /// The word for JSON.
  var name: String {
    switch self {
    case .normal: "normal"
    case .haltedOneHour: "halted_one_hour"
    case .halted: "halted"
    case .haltedAllDay: "halted_all_day"
    case .haltedTemporarily: "halted_temporarily"
    case .haltedHalfDay: "halted_half_day"
    case .paused: "paused"
    case .noRecord: "no_record"
    case .notListed: "not_listed"
    case .delisted: "delisted"
    case .unknown: "unknown"
    }
  }
}
