import Candles
import Market
import Postgres

/// Repairs: the day's rows are read, reconciled with its bars, and written back in the transaction
/// that read them. What to believe is `Reconciliation`'s to say; here is only what stands in which
/// table.
extension WriterSession {
  /// A second look counts as one only after the source had time to change its mind: the evening
  /// and the next morning are two occasions, two tries of an evening are not.
  static let confirmSecondsDefault: Int64 = 12 * 3_600
  /// After so many a gap is accepted for good (DESIGN: a hole is permanent after two sightings).
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
  func writeRepairs(_ bars: [BarBatch], _ commitContext: inout CommitContext) throws(StoreError) {
    var batches: [(key: DayKey, batch: BarBatch)] = []
    for batch in bars {
      guard case .repair(let day) = batch.role else { continue }
      batches.append((DayKey(instrument: id(of: batch.symbol, batch.source), day: day), batch))
    }
    for day in Set(batches.map(\.key.day)).sorted() { try lock(day) }
    var repairs: [Repair] = []
    for (key, batch) in batches.lastOfEach(\.key).sorted(by: { $0.key < $1.key }) {
      repairs.append(Repair(key: key, batch: batch, outcome: try outcome(key, batch)))
    }
    try stage(repairs.flatMap(\.rows).sorted { $0.key < $1.key }, &commitContext)
    for repair in repairs { try settle(repair, &commitContext) }
  }

  private func outcome(
    _ key: DayKey, _ batch: BarBatch
  ) throws(StoreError) -> Reconciliation.Outcome {
    let stored = try storedDay(key)
    return Reconciliation(
      symbol: batch.symbol, day: key.day,
      minutes: stored.candles.filter { $0.timeframe == .minute1 }, gaps: stored.gaps,
      certificate: stored.certificate, dayCandle: stored.candles.first { $0.timeframe == .day1 },
      bars: batch.candles, dayBar: batch.dayBar
    ).outcome()
  }

  /// All of it but the candles.
  private func settle(_ repair: Repair, _ commitContext: inout CommitContext) throws(StoreError) {
    let (key, outcome, at) = (repair.key, repair.outcome, repair.batch.receivedAt)
    try close(outcome.closedGaps, at, &commitContext)
    try open(outcome.remainders, key, at, &commitContext)
    try recordChecks(outcome.gapChecks, at, &commitContext)
    if let certificate = outcome.certificate { try certify(certificate, key, at, &commitContext) }
    try record(outcome.disagreements, areAll: outcome.isDayVerified, key, at, &commitContext)
  }
}

// MARK: - Reading

extension WriterSession {
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
      select g.id, i.symbol, g.trading_day, g.from_at, g.to_at, g.volume, g.turnover, g.cause
      from gap g
      join instrument i on i.id = g.instrument_id
      where g.instrument_id = $1::int
        and g.trading_day = $2::date
        and g.known_to is null
      order by g.id
      """)

  private static let readCertificate = Statement(
    name: "read_day_audit",
    sql: """
      select i.symbol, a.trading_day, a.exchange_volume, a.exchange_turnover, a.minute_volume,
        a.minute_turnover, a.gap_volume, a.gap_turnover, a.after_hours_volume,
        a.after_hours_turnover, a.minutes_traded, a.minutes_untraded, a.minutes_missing
      from day_audit a
      join instrument i on i.id = a.instrument_id
      where a.instrument_id = $1::int
        and a.trading_day = $2::date
      """)

  private struct StoredDay {
    var candles: [Candle] = []
    var gaps: [Reconciliation.OpenGap] = []
    var certificate: DayCertificate?
  }

  private func storedDay(_ key: DayKey) throws(StoreError) -> StoredDay {
    var day = StoredDay()
    for row in try rows(Self.readCandles, key) {
      var row = row
      day.candles.append(try row.candle())
    }
    for row in try rows(Self.readGaps, key) {
      var row = row
      day.gaps.append(Reconciliation.OpenGap(id: try row.int64(), gap: try row.gap()))
    }
    for row in try rows(Self.readCertificate, key) {
      var row = row
      day.certificate = try row.certificate()
    }
    return day
  }

  private func rows(
    _ statement: Statement, _ key: DayKey
  ) throws(StoreError) -> some Sequence<PostgresRow> {
    var parameters = WireParameters()
    parameters.add { $0.int32(key.instrument) }
    parameters.add { $0.date(key.day) }
    return try connection.run(statement, parameters, context: Context.commit).rows
  }
}

// MARK: - Gaps

extension WriterSession {
  private static let closeGaps = Statement(
    name: "close_gaps",
    sql: """
      update gap
      set known_to = greatest($2::timestamptz, known_from), closed_by = 'kline'
      where id = any ($1::bigint[])
      """)

  private func close(
    _ gaps: [Int64], _ at: Timestamp, _ commitContext: inout CommitContext
  ) throws(StoreError) {
    if gaps.isEmpty { return }
    var parameters = WireParameters()
    parameters.add { $0.array(gaps, type: .int8) { $0.int64($1) } }
    parameters.add { $0.timestamp(at) }
    commitContext.receipt.closedGaps += try connection.run(
      Self.closeGaps, parameters, context: Context.commit
    ).affectedRows
    commitContext.closedGaps += gaps
  }

  private static let openRemainder = Statement(
    name: "open_remainder",
    sql: """
      insert into gap
        (instrument_id, trading_day, from_at, to_at, volume, turnover, cause, known_from,
        permanent_at, permanent_reason)
      values ($1::int, $2::date, $3::timestamptz, $4::timestamptz, $5::numeric, $6::numeric,
        $7::smallint, $8::timestamptz, $8::timestamptz, 'the bars tell no money')
      returning id
      """)

  private func open(
    _ gaps: [Gap], _ key: DayKey, _ at: Timestamp, _ commitContext: inout CommitContext
  ) throws(StoreError) {
    for gap in gaps {
      var parameters = WireParameters()
      parameters.add { $0.int32(key.instrument) }
      parameters.add { $0.date(key.day) }
      parameters.add { $0.timestamp(gap.from) }
      parameters.add { $0.timestamp(gap.to) }
      parameters.add { $0.numeric(gap.volume) }
      parameters.add { $0.numeric(gap.turnover) }
      parameters.add { $0.int16(gap.cause.rawValue) }
      parameters.add { $0.timestamp(at) }
      var row = try connection.run(Self.openRemainder, parameters, context: Context.commit).row(0)
      commitContext.gaps.append(try row.int64())
    }
    commitContext.receipt.gaps = commitContext.gaps.count
  }

  private static let markPermanentGaps = Statement(
    name: "resign_gaps",
    sql: """
      update gap
      set permanent_at = $2::timestamptz, permanent_reason = 'its source tells of it no more'
      where known_to is null
        and permanent_at is null
        and trading_day < $1::date
      """)

  /// Nobody will look for a hole that is too old, so nobody shall wait for it.
  func markPermanentGaps(_ commit: Commit) throws(StoreError) {
    guard let day = commit.firstDayAvailable else { return }
    var parameters = WireParameters()
    parameters.add { $0.date(day) }
    parameters.add { $0.timestamp(commit.knownAt) }
    try connection.run(Self.markPermanentGaps, parameters, context: Context.commit)
  }

  private static let recordGapChecks = Statement(
    name: "sight_gaps",
    sql: """
      update gap g
      set
        sightings = g.sightings + 1,
        last_sighting_at = $3::timestamptz,
        permanent_at =
          case when g.sightings + 1 >= $4::smallint then $3::timestamptz end,
        permanent_reason = case when g.sightings + 1 >= $4::smallint then r.reason end
      from unnest($1::bigint[], $2::text[]) r (id, reason)
      where g.id = r.id
        and g.permanent_at is null
        and (g.last_sighting_at is null
          or g.last_sighting_at <= $3::timestamptz - make_interval(secs => $5::int))
      """)

  private func recordChecks(
    _ gapChecks: [Reconciliation.GapCheck], _ at: Timestamp, _ commitContext: inout CommitContext
  ) throws(StoreError) {
    if gapChecks.isEmpty { return }
    var parameters = WireParameters()
    parameters.add { $0.array(gapChecks, type: .int8) { $0.int64($1.gap) } }
    parameters.add { $0.array(gapChecks, type: .text) { $0.text($1.reason.rawValue) } }
    parameters.add { $0.timestamp(at) }
    parameters.add { $0.int16(Self.checksMax) }
    parameters.add { $0.int32(confirmSeconds) }
    commitContext.receipt.gapChecks += try connection.run(
      Self.recordGapChecks, parameters, context: Context.commit
    ).affectedRows
  }
}
