import Market

/// Reading `quote` back: what a restart needs to tell a new snapshot from one it has seen.
extension WriterSession {
  private static let readQuotes = Statement(
    name: "read_quotes",
    sql: """
      select i.symbol, i.name, q.received_at, q.book_state, q.quoted_at, q.status, q.open,
        q.previous_close, q.last, q.high, q.low, q.bid, q.ask, q.volume, q.turnover, q.bids,
        q.asks, q.after_hours_volume, q.after_hours_turnover
      from quote q
      join instrument i on i.id = q.instrument_id
      order by i.id
      """)

  /// Every row, by instrument id.
  func storedQuotes() throws(StoreError) -> [StoredState.InstrumentState] {
    var quotes: [StoredState.InstrumentState] = []
    for row in try connection.run(Self.readQuotes, context: "load").rows {
      var row = row
      quotes.append(try row.storedQuote())
    }
    return quotes
  }
}

extension PostgresRow {
  /// The columns of `readQuotes`, in order.
  fileprivate mutating func storedQuote() throws(StoreError) -> StoredState.InstrumentState {
    let symbol = try symbol()
    let name = try optionalText()
    let receivedAt = try timestamp()
    let bookState = try bytes()
    let at = try timestamp()
    var quote = Quote(
      symbol: symbol, tradingDay: at.shanghaiDay, secondOfDay: Int32(at.shanghaiSecondOfDay))
    quote.status = QuoteStatus(rawValue: UInt8(truncatingIfNeeded: try int16())) ?? .unknown
    quote.open = try numeric()
    quote.previousClose = try numeric()
    quote.last = try numeric()
    quote.high = try numeric()
    quote.low = try numeric()
    quote.bid = try numeric()
    quote.ask = try numeric()
    quote.volume = try numeric()
    quote.turnover = try numeric()
    quote.bids = try book()
    quote.asks = try book()
    if let volume = try optionalNumeric(), let turnover = try optionalNumeric() {
      quote.afterHours = AfterHours(volume: volume, turnover: turnover)
    }
    return StoredState.InstrumentState(
      quote: quote, name: name, receivedAt: receivedAt, bookState: bookState)
  }
}
