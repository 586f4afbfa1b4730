import Market
import Postgres

/// What a repair leaves behind beside candles and gaps: the day's new certificate, and what could
/// not be decided.
extension WriterSession {
  private static let certify = Statement(
    name: "certify_repair",
    sql: """
      insert into day_audit as a
        (instrument_id, trading_day, exchange_volume, exchange_turnover, minute_volume,
        minute_turnover, gap_volume, gap_turnover, after_hours_volume, after_hours_turnover,
        minutes_traded, minutes_untraded, minutes_missing, known_from, repaired_at)
      values ($1::int, $2::date, $3::numeric, $4::numeric, $5::numeric, $6::numeric, $7::numeric,
        $8::numeric, $9::numeric, $10::numeric, $11::smallint, $12::smallint, $13::smallint,
        $14::timestamptz, $14::timestamptz)
      on conflict (trading_day, instrument_id) do update
      set
        exchange_volume = excluded.exchange_volume,
        exchange_turnover = excluded.exchange_turnover,
        minute_volume = excluded.minute_volume,
        minute_turnover = excluded.minute_turnover,
        gap_volume = excluded.gap_volume,
        gap_turnover = excluded.gap_turnover,
        minutes_traded = excluded.minutes_traded,
        minutes_untraded = excluded.minutes_untraded,
        minutes_missing = excluded.minutes_missing,
        known_from = excluded.known_from,
        repaired_at = excluded.repaired_at
      where a.repaired_at is null
        or (a.exchange_volume, a.exchange_turnover, a.minute_volume, a.minute_turnover,
            a.gap_volume, a.gap_turnover, a.minutes_traded, a.minutes_untraded, a.minutes_missing)
          is distinct from (excluded.exchange_volume, excluded.exchange_turnover,
            excluded.minute_volume, excluded.minute_turnover, excluded.gap_volume,
            excluded.gap_turnover, excluded.minutes_traded, excluded.minutes_untraded,
            excluded.minutes_missing)
      """)

  func certify(
    _ certificate: DayCertificate, _ key: DayKey, _ at: Timestamp,
    _ commitContext: inout CommitContext
  ) throws(StoreError) {
    var parameters = WireParameters()
    parameters.add { $0.int32(key.instrument) }
    parameters.add { $0.date(key.day) }
    parameters.add { $0.optionalNumeric(certificate.exchangeVolume) }
    parameters.add { $0.optionalNumeric(certificate.exchangeTurnover) }
    for sum in [
      certificate.minuteVolume, certificate.minuteTurnover, certificate.gapVolume,
      certificate.gapTurnover,
      certificate.afterHoursVolume, certificate.afterHoursTurnover,
    ] {
      parameters.add { $0.numeric(sum) }
    }
    for count in [
      certificate.minutesTraded, certificate.minutesUntraded, certificate.minutesMissing,
    ] {
      parameters.add { $0.int16(count) }
    }
    parameters.add { $0.timestamp(at) }
    let written = try connection.run(Self.certify, parameters, context: Context.commit)
      .affectedRows
    if written == 0 { return }
    commitContext.receipt.certificates += written
    commitContext.certificates.append(key)
  }

  private static let resolve = Statement(
    name: "resolve_disagreements",
    sql: """
      update disagreement d
      set resolved_at = greatest($4::timestamptz, d.known_from)
      where d.instrument_id = $1::int
        and d.trading_day = $2::date
        and d.their_source = $3::smallint
        and d.resolved_at is null
        and (d.timeframe, d.opened_at, d.field) not in (
          select *
          from unnest($5::smallint[], $6::timestamptz[], $7::text[]))
      """)

  private static let disagree = Statement(
    name: "write_disagreements",
    sql: """
      insert into disagreement as d
        (instrument_id, trading_day, their_source, known_from, timeframe, opened_at, field, ours,
        theirs, our_source)
      select $1::int, $2::date, $3::smallint, $4::timestamptz, r.*
      from unnest(
        $5::smallint[], $6::timestamptz[], $7::text[], $8::numeric[], $9::numeric[],
        $10::smallint[]) r
      on conflict (instrument_id, timeframe, opened_at, field) where resolved_at is null do update
      set ours = excluded.ours, theirs = excluded.theirs
      where (d.ours, d.theirs) is distinct from (excluded.ours, excluded.theirs)
      """)

  /// Where they are all there are of the day, open ones that are not among them are resolved.
  func record(
    _ disagreements: [Disagreement], areAll: Bool, _ key: DayKey, _ at: Timestamp,
    _ commitContext: inout CommitContext
  ) throws(StoreError) {
    struct Key: Hashable {
      let timeframe: Timeframe
      let openedAt: Timestamp
      let field: Disagreement.Field
    }
    let rows = disagreements.lastOfEach {
      Key(timeframe: $0.timeframe, openedAt: $0.openedAt, field: $0.field)
    }
    func parameters() -> WireParameters {
      var parameters = WireParameters()
      parameters.add { $0.int32(key.instrument) }
      parameters.add { $0.date(key.day) }
      parameters.add { $0.int16(Source.live.rawValue) }
      parameters.add { $0.timestamp(at) }
      parameters.add { $0.array(rows, type: .int2) { $0.int16($1.timeframe.rawValue) } }
      parameters.add { $0.array(rows, type: .timestamptz) { $0.timestamp($1.openedAt) } }
      parameters.add { $0.array(rows, type: .text) { $0.text($1.field.rawValue) } }
      return parameters
    }
    if areAll {
      commitContext.receipt.disagreements += try connection.run(
        Self.resolve, parameters(), context: Context.commit
      ).affectedRows
    }
    if rows.isEmpty { return }
    var values = parameters()
    values.add { $0.array(rows, type: .numeric) { $0.optionalNumeric($1.ours) } }
    values.add { $0.array(rows, type: .numeric) { $0.optionalNumeric($1.theirs) } }
    values.add { $0.array(rows, type: .int2) { $0.int16($1.ourSource.rawValue) } }
    commitContext.receipt.disagreements += try connection.run(
      Self.disagree, values, context: Context.commit
    ).affectedRows
  }
}
