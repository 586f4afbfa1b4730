import Market
import Postgres

/// Quotes: COPY into a staging table, then a MERGE that touches only rows that differ. Measured
/// against UPDATE FROM, ON CONFLICT and unnest (MEASURED): the only one that writes nothing when
/// nothing changed and is also the quickest when everything did.
extension WriterSession {
  /// Up to that many rows the planner is told so, and probes the key instead of hashing the table.
  private static let fewRows = 200

  private static let merge = Statement(name: "merge_quotes", sql: QuoteColumns.merge(limit: nil))
  private static let mergeFew = Statement(
    name: "merge_few_quotes", sql: QuoteColumns.merge(limit: fewRows))

  /// The places of the rows this session did not write itself, word for word. A sweep in which
  /// nothing changed so opens no transaction: even one that merges nothing logs 230 bytes, for the
  /// locks under which the staging tables are emptied. The fence vouches that nobody else wrote.
  func unstored(_ quotes: [QuoteRow]) -> [Int] {
    quotes.indices.filter { !isStored(quotes[$0]) }
  }

  private func isStored(_ row: borrowing QuoteRow) -> Bool {
    guard let entry = registry.entries[.init(row.quote.symbol, .live)],
      entry.id < written.count
    else { return false }
    let isRenamed = row.name != nil && row.name != entry.row.name
    return !isRenamed && Self.isSame(written[Int(entry.id)], row)
  }

  private static func isSame(_ known: borrowing QuoteRow?, _ row: borrowing QuoteRow) -> Bool {
    switch known {
    case .some(let known):
      known.quote.secondOfDay == row.quote.secondOfDay && known.quote == row.quote
        && known.forming == row.forming && known.bookState == row.bookState
    case .none: false
    }
  }

  func remember(_ commit: SortedCommit) {
    let missing = Int(registry.idMax) + 1 - written.count
    if missing > 0 { written.append(contentsOf: repeatElement(nil, count: missing)) }
    for place in commit.quotesToWrite {
      written[Int(id(of: commit.base.quotes[place].quote.symbol))] = commit.base.quotes[place]
    }
  }

  func writeQuotes(_ commit: SortedCommit, _ commitContext: inout CommitContext) throws(StoreError)
  {
    if commit.quotesToWrite.isEmpty { return }
    let quotes = commit.base.quotes
    let order = commit.quotesToWrite.map { (id: id(of: quotes[$0].quote.symbol), place: $0) }
      .sorted { $0.id < $1.id }
    // Sent while it is encoded: the server takes in one piece as the next is being made.
    try connection.beginCopy(
      "copy quote_stage from stdin (format binary)", context: Context.commit)
    buffer.beginCopy()
    for (id, place) in order {
      buffer.quoteRow(quotes[place], id: id)
      try connection.sendWhenLarge(&buffer, context: Context.commit)
    }
    buffer.endCopy()
    _ = try connection.endCopy(&buffer, context: Context.commit)
    var parameters = WireParameters()
    parameters.add { $0.int64(commitContext.seq) }
    let statement = order.count <= Self.fewRows ? Self.mergeFew : Self.merge
    commitContext.receipt.quotes += try connection.run(
      statement, parameters, context: Context.commit
    )
    .affectedRows
  }
}

enum QuoteColumns {
  /// As in `quote_stage`, in the order `quoteRow` writes them.
  static let staged = [
    "quoted_at", "received_at", "candle_opened_at", "instrument_id", "trading_day", "status",
    "trading", "candle_flags", "candle_source", "open", "previous_close", "last", "high", "low",
    "bid", "ask", "volume", "turnover", "after_hours_volume", "after_hours_turnover",
    "candle_open", "candle_high", "candle_low", "candle_close", "candle_volume",
    "candle_turnover", "bids", "asks", "book_state",
  ]

  /// The arrival time alone is no difference. The rest is compared in the order in which quotes
  /// usually differ; the comparison stops at the first that does.
  private static let compared = staged.filter { $0 != "received_at" && $0 != "instrument_id" }

  static func merge(limit: Int?) -> String {
    func list(_ columns: [String], _ form: (String) -> String) -> String {
      columns.map(form).joined(separator: ", ")
    }
    let written = staged.filter { $0 != "instrument_id" }
    return """
      merge into quote q
      using (select * from quote_stage\(limit.map { " limit \($0)" } ?? "")) s
      on q.instrument_id = s.instrument_id
      when matched
        and (\(list(compared) { "q.\($0)" })) is distinct from (\(list(compared) { "s.\($0)" }))
      then update set changed_seq = $1::bigint, \(list(written) { "\($0) = s.\($0)" })
      when not matched
      then insert (changed_seq, \(list(staged) { $0 }))
        values ($1::bigint, \(list(staged) { "s.\($0)" }))
      """
  }
}

extension WireBuffer {
  fileprivate mutating func quoteRow(_ row: QuoteRow, id: Int32) {
    let quote = row.quote
    beginRow(fields: Int16(QuoteColumns.staged.count))
    timestamp(quote.at)
    timestamp(row.receivedAt)
    if let forming = row.forming { timestamp(forming.openedAt) } else { null() }
    int32(id)
    date(quote.tradingDay)
    int16(Int16(quote.status.rawValue))
    int16(Int16(quote.trading.rawValue))
    if let forming = row.forming {
      int16(forming.flags.rawValue)
      int16(forming.source.rawValue)
    } else {
      null()
      null()
    }
    dayFields(quote)
    formingFields(row.forming)
    book(quote.bids)
    book(quote.asks)
    bytes(row.bookState)
  }

  private mutating func dayFields(_ quote: Quote) {
    numeric(quote.open)
    numeric(quote.previousClose)
    numeric(quote.last)
    numeric(quote.high)
    numeric(quote.low)
    numeric(quote.bid)
    numeric(quote.ask)
    numeric(quote.volume)
    numeric(quote.turnover)
    if let afterHours = quote.afterHours {
      numeric(afterHours.volume)
      numeric(afterHours.turnover)
    } else {
      null()
      null()
    }
  }

  private mutating func formingFields(_ forming: Candle?) {
    guard let forming else {
      for _ in 0..<6 { null() }
      return
    }
    numeric(forming.open)
    numeric(forming.high)
    numeric(forming.low)
    numeric(forming.close)
    numeric(forming.volume)
    optional(forming.turnover) { $0.numeric($1) }
  }

  /// `price:volume price:volume …`, best level first, without the empty levels at the end.
  private mutating func book(_ book: Quote.Book) {
    var levels = book.count
    while levels > 0, book[levels - 1] == .empty { levels -= 1 }
    let lengthAt = count
    count += 4
    for index in 0..<levels {
      if index > 0 { byte(UInt8(ascii: " ")) }
      decimalText(book[index].price)
      byte(UInt8(ascii: ":"))
      decimalText(book[index].volume)
    }
    patchLength(at: lengthAt)
  }

  private mutating func byte(_ byte: UInt8) { store(byte) }

  private mutating func decimalText(_ value: ExactDecimal) {
    count += value.write(to: UnsafeMutableRawBufferPointer(rebasing: memory[count...]))
  }
}
