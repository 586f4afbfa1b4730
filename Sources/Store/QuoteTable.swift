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

  /// The places of the rows this session did not write itself, word for word. A sweep in which
  /// nothing changed so opens no transaction: even one that merges nothing logs 230 bytes, for the
  /// locks under which the staging tables are emptied. The fence guarantees that no other session
  /// wrote.
  func unstored(_ quotes: [QuoteRow]) -> [Int] {
    quotes.indices.filter { !isStored(quotes[$0]) }
  }

  private func isStored(_ row: borrowing QuoteRow) -> Bool {
    guard let entry = session.registry.entries[row.series],
      entry.id < session.written.count
    else { return false }
    let isRenamed = row.name != nil && row.name != entry.row.name
    return !isRenamed && Self.isSame(session.written[Int(entry.id)], as: row)
  }

  private static func isSame(_ known: borrowing QuoteRow?, as row: borrowing QuoteRow) -> Bool {
    switch known {
    case .some(let known):
      known.quote.secondOfDay == row.quote.secondOfDay && known.quote == row.quote
        && known.forming == row.forming && known.bookState == row.bookState
    case .none: false
    }
  }

  func remember(_ commit: SortedCommit) {
    let missing = Int(session.registry.idMax) + 1 - session.written.count
    if missing > 0 { session.written.append(contentsOf: repeatElement(nil, count: missing)) }
    for place in commit.quotesToWrite {
      session.written[Int(id(of: commit.base.quotes[place]))] = commit.base.quotes[place]
    }
  }

  func write(_ commit: SortedCommit, in context: inout CommitContext) throws(StoreError) {
    let quotes = commit.base.quotes
    let rowDescription = { (place: Int) in quotes[place].rowDescription }
    try session.write(commit.quotesToWrite, in: &context, rowDescription: rowDescription) {
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

  private func id(of row: borrowing QuoteRow) -> Int32 {
    id(of: row.quote.symbol, source: row.source)
  }

  private func stage(_ places: [Int], of quotes: [QuoteRow]) throws(StoreError) {
    let order = places.map { (id: id(of: quotes[$0]), place: $0) }
      .sorted { $0.id < $1.id }
    // Sent while it is encoded: the server takes in one piece as the next is being made.
    try connection.beginCopy(
      "copy quote_stage from stdin (format binary)", context: CommitStep.commit)
    session.buffer.beginCopy()
    for (id, place) in order {
      session.buffer.quoteRow(quotes[place], id: id)
      try connection.sendWhenLarge(&session.buffer, context: CommitStep.commit)
    }
    session.buffer.endCopy()
    _ = try connection.endCopy(&session.buffer, context: CommitStep.commit)
  }

  private static let readQuotes = Statement(
    name: "read_quotes",
    sql: """
      select i.source, i.name, q.received_at, q.book_state, i.symbol, q.trading_day, q.quoted_at,
        \(SnapshotColumns.list)
      from quote q
      join instrument i on i.id = q.instrument_id
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
    let (source, name) = (try source(), try optionalText())
    let (receivedAt, bookState) = (try timestamp(), try bytes())
    return StoredState.InstrumentState(
      quote: try quote(), source: source, name: name, receivedAt: receivedAt,
      bookState: bookState)
  }
}
