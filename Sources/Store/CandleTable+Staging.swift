import Commits
import Market
import Postgres

/// The staging table, where new candles, equal ones and revisions are separated, and a source's own
/// day is compared with the exchange's.
extension CandleTable {
  private static let copyStage = "copy candle_stage from stdin (format binary)"

  /// Inserts new candles and revises those that differ. A key at most once.
  func stage(_ rows: [StagedCandle], in context: inout CommitContext) throws(StoreError) {
    guard let first = rows.map(\.key.openedAt).min(), let last = rows.map(\.key.openedAt).max()
    else { return }
    // A second batch of one transaction must not find the first one's rows.
    try connection.execute("delete from candle_stage", context: CommitStep.commit)
    session.buffer.beginCopy()
    try connection.beginCopy(Self.copyStage, context: CommitStep.commit)
    for row in rows {
      session.buffer.candleRow(row.candle, key: row.key, knownAt: row.knownAt, cause: row.cause)
      try connection.sendWhenLarge(&session.buffer, context: CommitStep.commit)
    }
    session.buffer.endCopy()
    _ = try connection.endCopy(&session.buffer, context: CommitStep.commit)
    let parameters = WireParameters(.timestamp(first), .timestamp(last))
    if rows.contains(where: \.mayContradict) { try contradict(within: parameters, in: &context) }
    let inserted = try keys(connection.run(CandleColumns.insert, context: CommitStep.commit))
    context.keys.candles += inserted
    context.receipt.candles += inserted.count
    // All are new. Without statistics of the table the rest may read all of it.
    if inserted.count == rows.count { return }
    let revised = try keys(
      connection.run(CandleColumns.revise, with: parameters, context: CommitStep.commit))
    context.keys.revisions += revised
    context.receipt.revisions += revised.count
  }

  private func keys(_ response: PostgresResult) throws(StoreError) -> [CandleKey] {
    var keys: [CandleKey] = []
    for var row in response.rows {
      keys.append(
        CandleKey(
          instrument: try row.int32(), timeframe: try row.int16(), openedAt: try row.timestamp()))
    }
    return keys.sorted()
  }
}

/// A source's own day beside the exchange's: K-lines have days too, without their money. What is
/// certified is not changed by them; what they contradict is said.
extension CandleTable {
  /// Takes bars of certified days out of what is staged. Where a bar has no money and the volume is
  /// the stored one, the stored money stands.
  private static let contradictDays = Statement(
    name: "contradict_days",
    sql: """
      with certified as (
        delete from candle_stage s
        using candle c, day_audit a
        where (c.instrument_id, c.timeframe, c.opened_at)
            = (s.instrument_id, s.timeframe, s.opened_at)
          and c.opened_at between $1::timestamptz and $2::timestamptz
          and s.timeframe = 240
          and a.instrument_id = c.instrument_id
          and a.trading_day = c.trading_day
          and a.exchange_volume is not null
        returning c.instrument_id, c.opened_at, c.trading_day, c.source, s.source as their_source,
          s.known_from, c.open, c.high, c.low, c.close, c.volume, s.open as their_open,
          s.high as their_high, s.low as their_low, s.close as their_close,
          s.volume as their_volume
      )
      insert into disagreement (
        instrument_id, timeframe, opened_at, trading_day, field, ours, theirs, our_source,
        their_source, known_from)
      select d.instrument_id, 240, d.opened_at, d.trading_day, f.field, f.ours, f.theirs, d.source,
        d.their_source, d.known_from
      from certified d
      cross join lateral (values
        ('open', d.open, d.their_open), ('high', d.high, d.their_high),
        ('low', d.low, d.their_low), ('close', d.close, d.their_close),
        ('volume', d.volume, d.their_volume)) f (field, ours, theirs)
      where f.ours <> f.theirs
      on conflict (instrument_id, timeframe, opened_at, field) where resolved_at is null do nothing
      """)

  private static let keepTurnover = Statement(
    name: "keep_turnover",
    sql: """
      update candle_stage s
      set turnover = c.turnover
      from candle c
      where (c.instrument_id, c.timeframe, c.opened_at)
          = (s.instrument_id, s.timeframe, s.opened_at)
        and c.opened_at between $1::timestamptz and $2::timestamptz
        and s.turnover is null
        and s.volume = c.volume
      """)

  /// - Parameter span: the first and the last `opened_at` of what is staged.
  private func contradict(
    within span: borrowing WireParameters, in context: inout CommitContext
  ) throws(StoreError) {
    let contradicted = try run(Self.contradictDays, with: span)
    context.receipt.repairs.disagreements += contradicted.affectedRows
    try run(Self.keepTurnover, with: span)
  }
}

extension StagedCandle {
  /// A bar without turnover: of a day, or from before its source sent any.
  fileprivate var mayContradict: Bool { candle.turnover == nil }
}
