import Commits
import Market
import Postgres

/// Readings of days. One that differs from what stands ends that, and both stay.
extension ReferenceTable {
  private static let given = """
    with given as (
      select *
      from unnest(
        $1::smallint[], $2::date[], $3::timestamptz[], $4::timestamptz[], $5::smallint[])
        r (exchange, day, opens, closes, grade)
    )
    """

  private static let endSessions = Statement(
    name: "end_sessions",
    sql: """
      \(given)
      update market_session s
      set known_to = greatest($6::timestamptz, s.known_from)
      from given g
      where s.exchange = g.exchange
        and s.day = g.day
        and s.known_to is null
        and (s.opens, s.closes, s.grade) is distinct from (g.opens, g.closes, g.grade)
      """)

  private static let addSessions = Statement(
    name: "add_sessions",
    sql: """
      \(given)
      insert into market_session (exchange, day, opens, closes, grade, known_from)
      select g.*, $6::timestamptz
      from given g
      where not exists (
        select
        from market_session s
        where s.exchange = g.exchange
          and s.day = g.day
          and s.known_to is null)
      on conflict (exchange, day, known_from) do update
      set opens = excluded.opens, closes = excluded.closes, grade = excluded.grade, known_to = null
      """)

  func replace(_ sessions: [MarketSession], in context: inout CommitContext) throws(StoreError) {
    let rows = sessions.lastOfEach { "\($0.exchange.rawValue) \($0.day)" }
    _ = try run(Self.endSessions, with: parameters(rows, at: context.knownAt))
    context.receipt.reference += try run(
      Self.addSessions, with: parameters(rows, at: context.knownAt)
    ).affectedRows
  }

  private func parameters(_ rows: [MarketSession], at moment: Timestamp) -> WireParameters {
    WireParameters(
      .array(rows, type: .int2) { $0.int16($1.exchange.rawValue) },
      .array(rows, type: .date) { $0.date($1.day) },
      .array(rows, type: .timestamptz) { $0.timestamp($1.opens) },
      .array(rows, type: .timestamptz) { $0.timestamp($1.closes) },
      .array(rows, type: .int2) { $0.int16($1.grade.rawValue) }, .timestamp(moment))
  }

  /// As a disagreement on the day of the index, which nothing settles by itself.
  private static let addContradiction = Statement(
    name: "add_contradiction",
    sql: """
      insert into disagreement
        (instrument_id, timeframe, opened_at, trading_day, field, ours, theirs, our_source,
        their_source, known_from)
      select i.id, 240, $3::timestamptz, $4::date, 'trades', $5::numeric, 1 - $5::numeric, i.source,
        i.source, $6::timestamptz
      from instrument i
      where i.symbol = $1::text
        and i.source = $2::smallint
      on conflict (instrument_id, timeframe, opened_at, field) where resolved_at is null
        do nothing
      """)

  func record(
    _ contradiction: DayContradiction, in context: inout CommitContext
  ) throws(StoreError) {
    let day = contradiction.day
    let opens = Timestamp(day: day, secondOfDay: TradingHours.mainlandChina(on: day).opens)
    let parameters = WireParameters(
      .text("\(contradiction.symbol)"), .int16(contradiction.source.rawValue), .timestamp(opens),
      .day(day), .numeric(ExactDecimal(contradiction.trades ? 1 : 0)),
      .timestamp(context.knownAt))
    context.receipt.repairs.disagreements += try run(Self.addContradiction, with: parameters)
      .affectedRows
  }
}
