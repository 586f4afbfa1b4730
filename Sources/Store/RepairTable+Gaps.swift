import Candles
import Commits
import Market
import Postgres

/// The gaps of a repaired day: closed, opened for what is left, counted, given up.
extension RepairTable {
  private static let closeGaps = Statement(
    name: "close_gaps",
    sql: """
      update gap
      set known_to = greatest($2::timestamptz, known_from), closed_by = 'kline'
      where id = any ($1::bigint[])
      """)

  func close(
    _ gaps: [Int64], at moment: Timestamp, in context: inout CommitContext
  ) throws(StoreError) {
    if gaps.isEmpty { return }
    let parameters = WireParameters(.int64s(gaps), .timestamp(moment))
    context.receipt.repairs.closedGaps += try run(Self.closeGaps, with: parameters).affectedRows
    context.keys.closedGaps += gaps
  }

  private static let openRemainder = Statement(
    name: "open_remainder",
    sql: """
      insert into gap
        (instrument_id, trading_day, from_at, to_at, volume, turnover, cause, known_from,
        permanent_at, permanent_reason)
      values ($1::int, $2::date, $3::timestamptz, $4::timestamptz, $5::numeric, $6::numeric,
        $7::smallint, $8::timestamptz, $8::timestamptz, 'the bars have no turnover')
      returning id
      """)

  func open(
    _ gaps: [Gap], of key: DayKey, at moment: Timestamp, in context: inout CommitContext
  ) throws(StoreError) {
    for gap in gaps {
      let parameters = WireParameters(
        .int32(key.instrument), .day(key.day), .timestamp(gap.from), .timestamp(gap.to),
        .numeric(gap.volume), .numeric(gap.turnover), .int16(gap.cause.rawValue),
        .timestamp(moment))
      var row = try run(Self.openRemainder, with: parameters).row(0)
      context.keys.gaps.append(try row.int64())
    }
    context.receipt.gaps = context.keys.gaps.count
  }

  private static let markPermanentGaps = Statement(
    name: "mark_permanent_gaps",
    sql: """
      update gap
      set permanent_at = $2::timestamptz, permanent_reason = 'its source no longer has bars for it'
      where known_to is null
        and permanent_at is null
        and trading_day < $1::date
      """)

  /// Nobody will look for a hole that is too old, so nobody shall wait for it.
  func markPermanentGaps(_ commit: Commit) throws(StoreError) {
    guard let day = commit.reference.firstDayAvailable else { return }
    let parameters = WireParameters(.day(day), .timestamp(commit.knownAt))
    try run(Self.markPermanentGaps, with: parameters)
  }

  private static let recordGapChecks = Statement(
    name: "record_gap_checks",
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

  func recordChecks(
    _ gapChecks: [Reconciliation.GapCheck], at moment: Timestamp, in context: inout CommitContext
  ) throws(StoreError) {
    if gapChecks.isEmpty { return }
    let parameters = WireParameters(
      .array(gapChecks, type: .int8) { $0.int64($1.gap) },
      .array(gapChecks, type: .text) { $0.text($1.reason.rawValue) }, .timestamp(moment),
      .int16(Self.checksMax), .int32(session.confirmSeconds))
    context.receipt.repairs.gapChecks += try run(Self.recordGapChecks, with: parameters)
      .affectedRows
  }
}
