import Candles
import Commits
import Market
import Postgres

/// Repairs: the day's rows are read, reconciled with its bars, and written back in the transaction
/// that read them. What holds is decided by `Reconciliation`; here is only what stands in which
/// table.
struct RepairTable: TableGroup {
  let session: WriterSession

  /// A second look counts as one only after the source had time to change its mind: the evening
  /// and the next morning are two occasions, two tries of an evening are not.
  static let confirmSecondsDefault: Int64 = 12 * 3_600
  /// After so many checks a gap is permanent.
  static let checksMax: Int16 = 2

  /// A day on its way back to the tables.
  private struct Repair {
    var key: DayKey
    var batch: BarBatch
    var outcome: Reconciliation.Outcome

    var rows: [StagedCandle] {
      (outcome.candles + outcome.revisions.map(\.candle)).map { candle in
        StagedCandle(
          key: CandleKey(
            instrument: key.instrument, timeframe: candle.timeframe.rawValue,
            openedAt: candle.openedAt),
          candle: candle, cause: RevisionCause.kline.rawValue, knownAt: batch.receivedAt)
      }
    }
  }

  /// No day of an instrument depends on another. Their candles are staged together, for each
  /// staging looks through all that is stored of the days concerned: one by one, a night's repairs
  /// that came at once held the writer up for minutes.
  func write(_ bars: [BarBatch], in context: inout CommitContext) throws(StoreError) {
    // A day is repaired as a whole or not at all.
    try session.write(
      bars.filter { $0.role != .deliver }, in: &context, rowDescription: \.rowDescription,
      by: repair)
  }

  private func repair(_ bars: [BarBatch], in context: inout CommitContext) throws(StoreError) {
    var batches: [(key: DayKey, batch: BarBatch)] = []
    for batch in bars {
      guard case .repair(let day) = batch.role else { continue }
      batches.append(
        (DayKey(instrument: id(of: batch.symbol, source: batch.source), day: day), batch))
    }
    for day in Set(batches.map(\.key.day)).sorted() { try session.certificates.lock(day) }
    var repairs: [Repair] = []
    for (key, batch) in batches.lastOfEach(\.key).sorted(by: { $0.key < $1.key }) {
      repairs.append(Repair(key: key, batch: batch, outcome: try outcome(of: batch, on: key)))
    }
    try session.candles.stage(repairs.flatMap(\.rows).sorted { $0.key < $1.key }, in: &context)
    for repair in repairs { try settle(repair, in: &context) }
  }

  private func outcome(
    of batch: BarBatch, on key: DayKey
  ) throws(StoreError) -> Reconciliation.Outcome {
    let stored = try storedDay(key)
    return Reconciliation(
      symbol: batch.symbol, day: key.day,
      minutes: stored.candles.filter { $0.timeframe == .minute1 }, gaps: stored.gaps,
      certificate: stored.certificate, dayCandle: stored.candles.first { $0.timeframe == .day1 },
      bars: batch.candles, hours: .mainlandChina(on: key.day), source: batch.source
    ).outcome()
  }

  /// All of it but the candles.
  private func settle(_ repair: Repair, in context: inout CommitContext) throws(StoreError) {
    let (key, outcome, moment) = (repair.key, repair.outcome, repair.batch.receivedAt)
    try close(outcome.closedGaps, at: moment, in: &context)
    try open(outcome.remainders, of: key, at: moment, in: &context)
    try recordChecks(outcome.gapChecks, at: moment, in: &context)
    if let certificate = outcome.certificate {
      try session.certificates.certify(certificate, of: key, at: moment, in: &context)
    }
    try record(
      outcome.disagreements, areAll: outcome.isDayVerified, of: key, with: repair.batch.source,
      at: moment, in: &context)
  }
}

// MARK: - Reading

extension RepairTable {
  private static let readCandles = Statement(
    name: "read_day_candles",
    sql: """
      select i.symbol, c.timeframe, c.trading_day, c.opened_at, c.closed_at, c.open, c.high, c.low,
        c.close, c.volume, c.turnover, c.trades, c.vwap, c.flags, c.source
      from candle c
      join instrument i on i.id = c.instrument_id
      where c.instrument_id = $1::int
        and c.timeframe in (1, 240)
        and c.opened_at between $2::date - interval '1 day' and $2::date + interval '1 day'
        and c.trading_day = $2::date
      """)

  private static let readGaps = Statement(
    name: "read_open_gaps",
    sql: """
      select g.id, i.symbol, g.trading_day, g.from_at, g.to_at, g.volume, g.turnover, g.cause,
        i.source
      from gap g
      join instrument i on i.id = g.instrument_id
      where g.instrument_id = $1::int
        and g.trading_day = $2::date
        and g.known_to is null
      order by g.id
      """)

  private static let readCertificate = Statement(
    name: "read_certificate",
    sql: """
      select i.symbol, a.trading_day, \(CertificateColumns.list), i.source
      from day_audit a
      join instrument i on i.id = a.instrument_id
      where a.instrument_id = $1::int
        and a.trading_day = $2::date
      """)

  private struct StoredDay {
    let candles: [Candle]
    let gaps: [Reconciliation.OpenGap]
    let certificate: DayCertificate?
  }

  private func storedDay(_ key: DayKey) throws(StoreError) -> StoredDay {
    StoredDay(
      candles: try read(Self.readCandles, of: key) { (row) throws(StoreError) in
        try row.candle()
      },
      gaps: try read(Self.readGaps, of: key) { (row) throws(StoreError) in
        Reconciliation.OpenGap(id: try row.int64(), gap: try row.gap())
      },
      certificate: try read(Self.readCertificate, of: key) { (row) throws(StoreError) in
        try row.certificate()
      }.first)
  }

  private func read<Value>(
    _ statement: Statement, of key: DayKey,
    decode: (inout PostgresRow) throws(StoreError) -> Value
  ) throws(StoreError) -> [Value] {
    let parameters = WireParameters(.int32(key.instrument), .day(key.day))
    return try connection.read(
      statement, with: parameters, context: CommitStep.commit, decode: decode)
  }
}
