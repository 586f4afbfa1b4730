import Market
import Postgres

/// Reading `quote` back: what a restart needs to tell a new snapshot from one it has seen.
extension WriterSession {
  private static let readQuotes = Statement(
    name: "read_quotes",
    sql: """
      select i.symbol, i.name, q.received_at, q.book_state, q.quoted_at, \(SnapshotColumns.list)
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
    try readSnapshot(into: &quote)
    return StoredState.InstrumentState(
      quote: quote, name: name, receivedAt: receivedAt, bookState: bookState)
  }
}
