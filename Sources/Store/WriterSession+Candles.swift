import Market
import Postgres

/// Final candles: COPY straight into `candle`, the quickest way there is into a table with a key.
/// Revisions, and batches that turned out to clash with stored keys, go through a staging table;
/// there equal rows are left alone and different ones keep their old values in `candle_revision`.
extension WriterSession {
  static let copyCandles = """
    copy candle (\(CandleColumns.stored.joined(separator: ", "))) from stdin (format binary)
    """
  private static let copyStage = "copy candle_stage from stdin (format binary)"

  /// Recorded for a final candle that was delivered again with other values.
  private static let rewrittenCause: Int16 = 100

  func writeCandles(
    _ commit: SortedCommit, stages: Bool, _ commitContext: inout CommitContext
  ) throws(StoreError) {
    let knownAt = commit.base.knownAt
    let candles = keyed(commit.base.candles, commitContext.repaired) { $0 }
    if stages {
      try stage(
        candles.map {
          StagedCandle(key: $0.key, candle: $0.row, cause: Self.rewrittenCause, knownAt: knownAt)
        }, &commitContext)
    } else if !candles.isEmpty {
      buffer.beginCopy()
      for (key, row) in candles {
        buffer.candleRow(row, key: key, knownAt: knownAt, cause: nil)
      }
      buffer.endCopy()
      commitContext.receipt.candles += try connection.copy(
        Self.copyCandles, &buffer, context: Context.candles)
      commitContext.candles += candles.map(\.key)
    }
    let revisions = keyed(commit.base.revisions, commitContext.repaired) { $0.candle }
    try stage(
      revisions.map {
        StagedCandle(
          key: $0.key, candle: $0.row.candle, cause: $0.row.cause.rawValue, knownAt: knownAt)
      }, &commitContext)
  }

  /// In key order, the last of each key; without the minutes of repaired days.
  private func keyed<Row>(
    _ rows: [Row], _ repaired: Set<DayKey>, _ candle: (Row) -> Candle
  ) -> [(key: CandleKey, row: Row)] {
    rows.filter { repaired.isEmpty || !isRepaired(candle($0), repaired) }.map { row in
      let candle = candle(row)
      let key = CandleKey(
        instrument: id(of: candle.symbol, candle.source), timeframe: candle.timeframe.rawValue,
        openedAt: candle.openedAt)
      return (key: key, row: row)
    }
    .lastOfEach(\.key)
    .sorted { $0.key < $1.key }
  }

  private func isRepaired(_ candle: Candle, _ repaired: Set<DayKey>) -> Bool {
    candle.timeframe == .minute1
      && repaired.contains(
        DayKey(instrument: id(of: candle.symbol, candle.source), day: candle.tradingDay))
  }

  /// Inserts new candles and revises those that differ. A key at most once.
  func stage(_ rows: [StagedCandle], _ commitContext: inout CommitContext) throws(StoreError) {
    guard let first = rows.map(\.key.openedAt).min(), let last = rows.map(\.key.openedAt).max()
    else { return }
    // A second batch of one transaction must not find the first one's rows.
    try connection.execute("delete from candle_stage", context: Context.commit)
    buffer.beginCopy()
    try connection.beginCopy(Self.copyStage, context: Context.commit)
    for row in rows {
      buffer.candleRow(row.candle, key: row.key, knownAt: row.knownAt, cause: row.cause)
      try connection.sendWhenLarge(&buffer, context: Context.commit)
    }
    buffer.endCopy()
    _ = try connection.endCopy(&buffer, context: Context.commit)
    var parameters = WireParameters()
    parameters.add { $0.timestamp(first) }
    parameters.add { $0.timestamp(last) }
    if rows.contains(where: \.mayContradict) { try contradict(parameters, &commitContext) }
    let inserted = try keys(connection.run(CandleColumns.insert, context: Context.commit))
    let revised = try keys(
      connection.run(CandleColumns.revise, parameters, context: Context.commit))
    commitContext.candles += inserted
    commitContext.receipt.candles += inserted.count
    commitContext.revisions += revised
    commitContext.receipt.revisions += revised.count
  }

  private func keys(_ response: PostgresResult) throws(StoreError) -> [CandleKey] {
    var keys: [CandleKey] = []
    for row in response.rows {
      var row = row
      keys.append(
        CandleKey(
          instrument: try row.int32(), timeframe: try row.int16(), openedAt: try row.timestamp()))
    }
    return keys.sorted()
  }
}

/// A candle on its way through the staging table, with the reason for a revision it may become.
struct StagedCandle {
  var key: CandleKey
  var candle: Candle
  var cause: Int16
  var knownAt: Timestamp
}

enum CandleColumns {
  static let key = ["instrument_id", "timeframe", "opened_at"]

  /// What makes two candles of one key differ.
  private static let values = [
    "closed_at", "trading_day", "flags", "source", "open", "high", "low", "close", "volume",
    "turnover", "trades", "vwap",
  ]

  /// As in `candle` and `candle_stage`, in the order `candleRow` writes them; `revision` has a
  /// default.
  static let stored = [
    "opened_at", "closed_at", "known_from", "instrument_id", "trading_day", "timeframe", "flags",
    "source", "open", "high", "low", "close", "volume", "turnover", "trades", "vwap",
  ]

  private static func list(_ columns: [String], of table: String) -> String {
    columns.map { "\(table).\($0)" }.joined(separator: ", ")
  }

  static let insert = Statement(
    name: "insert_candles",
    sql: """
      insert into candle (\(stored.joined(separator: ", ")))
      select \(stored.joined(separator: ", "))
      from candle_stage
      order by instrument_id, timeframe, opened_at
      on conflict (\(key.joined(separator: ", "))) do nothing
      returning \(key.joined(separator: ", "))
      """)

  /// Both halves see the rows as they were before the statement. `$1` and `$2` bound
  /// `opened_at`, so that only the partitions concerned are looked at.
  static let revise = Statement(
    name: "revise_candles",
    sql: """
      with differing as (
        select \(list(stored, of: "c")), c.revision,
          greatest(s.known_from, c.known_from) as known_to, s.cause
        from candle_stage s
        join candle c on (\(list(key, of: "c"))) = (\(list(key, of: "s")))
        where c.opened_at between $1::timestamptz and $2::timestamptz
          and (\(list(values, of: "c"))) is distinct from (\(list(values, of: "s")))
      ),
      kept as (
        insert into candle_revision
          (\(stored.joined(separator: ", ")), revision, known_to, cause)
        select \(stored.joined(separator: ", ")), revision, known_to, cause
        from differing
      )
      update candle c
      set
        known_from = greatest(s.known_from, c.known_from),
        revision = c.revision + 1,
        \(values.map { "\($0) = s.\($0)" }.joined(separator: ",\n  "))
      from candle_stage s
      where (\(list(key, of: "c"))) = (\(list(key, of: "s")))
        and c.opened_at between $1::timestamptz and $2::timestamptz
        and (\(list(values, of: "c"))) is distinct from (\(list(values, of: "s")))
      returning \(list(key, of: "c"))
      """)
}

extension WireBuffer {
  /// `cause` only in rows for the staging table.
  mutating func candleRow(
    _ candle: Candle, key: CandleKey, knownAt: Timestamp, cause: Int16?
  ) {
    beginRow(fields: Int16(CandleColumns.stored.count + (cause == nil ? 0 : 1)))
    timestamp(candle.openedAt)
    timestamp(candle.closedAt)
    timestamp(knownAt)
    int32(key.instrument)
    date(candle.tradingDay)
    int16(key.timeframe)
    int16(candle.flags.rawValue)
    int16(candle.source.rawValue)
    numeric(candle.open)
    numeric(candle.high)
    numeric(candle.low)
    numeric(candle.close)
    numeric(candle.volume)
    optional(candle.turnover) { $0.numeric($1) }
    optional(candle.trades) { $0.int64($1) }
    optional(candle.vwap) { $0.numeric($1) }
    if let cause { int16(cause) }
  }
}
