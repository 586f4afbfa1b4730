import Commits
import Market
import Postgres

/// Final candles: COPY straight into `candle`, the quickest way there is into a table with a key.
/// Revisions, and batches that turned out to clash with stored keys, go through a staging table;
/// there equal rows are left alone and different ones keep their old values in `candle_revision`.
struct CandleTable: TableGroup {
  let session: WriterSession

  static let copyCandles = """
    copy candle (\(CandleColumns.stored.joined(separator: ", "))) from stdin (format binary)
    """

  /// Recorded for a final candle that was delivered again with other values.
  private static let rewrittenCause: Int16 = 100

  func write(_ commit: Commit, in context: inout CommitContext) throws(StoreError) {
    try session.write(
      commit.candles, in: &context, rowDescription: { RefusedRow.RowDescription("candle", of: $0) },
      by: add)
    try session.write(
      commit.revisions, in: &context,
      rowDescription: { RefusedRow.RowDescription("revision", of: $0.candle) },
      by: revise)
  }

  private func add(_ rows: [Candle], in context: inout CommitContext) throws(StoreError) {
    let candles = keyed(rows, without: context.repaired) { $0 }
    if candles.isEmpty { return }
    if context.stagesCandles {
      let knownAt = context.knownAt
      let staged = candles.map {
        StagedCandle(key: $0.key, candle: $0.row, cause: Self.rewrittenCause, knownAt: knownAt)
      }
      return try stage(staged, in: &context)
    }
    session.buffer.beginCopy()
    for (key, row) in candles {
      session.buffer.candleRow(row, key: key, knownAt: context.knownAt, cause: nil)
    }
    session.buffer.endCopy()
    context.receipt.candles += try connection.copy(
      Self.copyCandles, from: &session.buffer, context: CommitStep.candles)
    context.keys.candles += candles.map(\.key)
  }

  private func revise(_ rows: [Revision], in context: inout CommitContext) throws(StoreError) {
    let knownAt = context.knownAt
    let revisions = keyed(rows, without: context.repaired) { $0.candle }
    try stage(
      revisions.map {
        StagedCandle(
          key: $0.key, candle: $0.row.candle, cause: $0.row.cause.rawValue, knownAt: knownAt)
      }, in: &context)
  }

  /// In key order, the last of each key; without the minutes of repaired days.
  private func keyed<Row>(
    _ rows: [Row], without repaired: Set<DayKey>, candle: (Row) -> Candle
  ) -> [(key: CandleKey, row: Row)] {
    rows.filter { repaired.isEmpty || !isRepaired(candle($0), of: repaired) }.map { row in
      let candle = candle(row)
      let key = CandleKey(
        instrument: id(of: candle.symbol, source: candle.source),
        timeframe: candle.timeframe.rawValue,
        openedAt: candle.openedAt)
      return (key: key, row: row)
    }
    .lastOfEach(\.key)
    .sorted { $0.key < $1.key }
  }

  private func isRepaired(_ candle: Candle, of repaired: Set<DayKey>) -> Bool {
    candle.timeframe == .minute1
      && repaired.contains(
        DayKey(instrument: id(of: candle.symbol, source: candle.source), day: candle.tradingDay))
  }
}
