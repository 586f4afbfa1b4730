import Commits
import Market
import Postgres

/// Quotes: COPY into a staging table, then a MERGE that touches only rows that differ. Measured
/// against UPDATE FROM, ON CONFLICT and unnest: the only one that writes nothing when nothing
/// changed and is also the quickest when everything did.
struct QuoteTable: TableGroup {
  let session: WriterSession

  /// Up to that many rows the planner is told so, and probes the key instead of hashing the table.
  private static let fewRows = 200

  private static let merge = Statement(name: "merge_quotes", sql: QuoteColumns.merge(limit: nil))
  private static let mergeFew = Statement(
    name: "merge_few_quotes", sql: QuoteColumns.merge(limit: fewRows))

  /// Where a row lies: it is a kilobyte, too much to copy a sweep of them about.
  private struct QuotePlace {
    var id: Int32
    var index: Int
  }

  func write(_ quotes: [QuoteRow], in context: inout CommitContext) throws(StoreError) {
    let rowDescription = { (place: QuotePlace) in quotes[place.index].rowDescription }
    try session.write(places(of: quotes), in: &context, rowDescription: rowDescription) {
      (places, context) throws(StoreError) in
      // A second group of one transaction must not find the first one's rows.
      if context.strategy.isolatesRows {
        try connection.execute("delete from quote_stage", context: CommitStep.commit)
      }
      try stage(places, of: quotes)
      let parameters = WireParameters(.int64(context.seq))
      let statement = places.count <= Self.fewRows ? Self.mergeFew : Self.merge
      context.receipt.quotes += try run(statement, with: parameters).affectedRows
    }
  }

  /// In order of ids; of two rows of one instrument the later, for MERGE refuses a batch that names
  /// a key twice.
  private func places(of quotes: [QuoteRow]) -> [QuotePlace] {
    let order = quotes.indices.map { index in
      QuotePlace(
        id: id(of: quotes[index].quote.symbol, source: quotes[index].source), index: index)
    }
    .sorted { ($0.id, $0.index) < ($1.id, $1.index) }
    return order.indices.filter { $0 + 1 == order.count || order[$0].id != order[$0 + 1].id }
      .map { order[$0] }
  }

  private func stage(_ places: [QuotePlace], of quotes: [QuoteRow]) throws(StoreError) {
    // Sent while it is encoded: the server takes in one piece as the next is being made.
    try connection.beginCopy(
      "copy quote_stage from stdin (format binary)", context: CommitStep.commit)
    session.buffer.beginCopy()
    for place in places {
      // A `let` or a subscript of the array would copy the row.
      quotes.withUnsafeBufferPointer { session.buffer.quoteRow($0[place.index], id: place.id) }
      try connection.sendWhenLarge(&session.buffer, context: CommitStep.commit)
    }
    session.buffer.endCopy()
    _ = try connection.endCopy(&session.buffer, context: CommitStep.commit)
  }

  private static let readQuotes = Statement(
    name: "read_quotes",
    sql: """
      select i.source, coalesce(s.source, i.source), i.name, q.received_at, q.book_state,
        i.symbol, q.trading_day, q.quoted_at, \(SnapshotColumns.list)
      from quote q
      join instrument i on i.id = q.instrument_id
      left join lateral (
        select v.source
        from serving v
        where v.series = i.source
          and v.since <= q.received_at
        order by v.since desc
        limit 1
      ) s on true
      where i.reused_on is null
      order by i.id
      """)

  /// Every row, by instrument id: what a restart needs to tell a new snapshot from one it has seen.
  func stored() throws(StoreError) -> [StoredState.InstrumentState] {
    try connection.read(Self.readQuotes, context: "load") { (row) throws(StoreError) in
      try row.storedQuote()
    }
  }
}

extension PostgresRow {
  /// The columns of `readQuotes`, in order.
  fileprivate mutating func storedQuote() throws(StoreError) -> StoredState.InstrumentState {
    let (source, servedBy, name) = (try source(), try source(), try optionalText())
    let (receivedAt, bookState) = (try timestamp(), try bytes())
    return StoredState.InstrumentState(
      quote: try quote(), source: source, servedBy: servedBy, name: name,
      receivedAt: receivedAt, bookState: bookState)
  }
}
