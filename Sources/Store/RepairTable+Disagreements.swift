import Candles
import Commits
import Market
import Postgres

/// What a repair could not decide.
extension RepairTable {
  private static let resolve = Statement(
    name: "resolve_disagreements",
    sql: """
      update disagreement d
      set resolved_at = greatest($4::timestamptz, d.known_from)
      where d.instrument_id = $1::int
        and d.trading_day = $2::date
        and d.their_source = $3::smallint
        and d.resolved_at is null
        and d.field <> 'trades'
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
  /// - Parameter source: whose bars they are about.
  func record(
    _ disagreements: [Disagreement], areAll: Bool, of key: DayKey, with source: Source,
    at moment: Timestamp, in context: inout CommitContext
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
      return WireParameters(
        .int32(key.instrument), .day(key.day), .int16(source.rawValue), .timestamp(moment),
        .array(rows, type: .int2) { $0.int16($1.timeframe.rawValue) },
        .array(rows, type: .timestamptz) { $0.timestamp($1.openedAt) },
        .array(rows, type: .text) { $0.text($1.field.rawValue) })
    }
    if areAll {
      context.receipt.repairs.disagreements += try run(Self.resolve, with: parameters())
        .affectedRows
    }
    if rows.isEmpty { return }
    var values = parameters()
    values.add { $0.array(rows, type: .numeric) { $0.optionalNumeric($1.ours) } }
    values.add { $0.array(rows, type: .numeric) { $0.optionalNumeric($1.theirs) } }
    values.add { $0.array(rows, type: .int2) { $0.int16($1.ourSource.rawValue) } }
    context.receipt.repairs.disagreements += try run(Self.disagree, with: values).affectedRows
  }
}
