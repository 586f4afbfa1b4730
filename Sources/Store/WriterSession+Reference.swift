import Market
import Postgres

/// What sources say of instruments, days and keys, and how far a plan has come. Each leaves an
/// equal row alone, so that saying the same again writes nothing.
extension WriterSession {
  func writeReference(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    try writeMarks(commit, &commitContext)
    try writeFactors(commit, &commitContext)
    try writeLists(commit, &commitContext)
    try writeSessions(commit, &commitContext)
    try writeKeyUsage(commit, &commitContext)
    try writeWatermarks(commit, &commitContext)
  }

  private static let markInstruments = Statement(
    name: "mark_instruments",
    sql: """
      update instrument i
      set delisted_at = r.delisted_at, missed_lists = r.missed_lists, listed_part = r.listed_part
      from unnest($1::int[], $2::date[], $3::smallint[], $4::text[])
        r (id, delisted_at, missed_lists, listed_part)
      where i.id = r.id
        and (i.delisted_at, i.missed_lists, i.listed_part)
          is distinct from (r.delisted_at, r.missed_lists, r.listed_part)
      """)

  func writeMarks(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    let rows = commit.instrumentMarks.map { (id: id(of: $0.symbol, $0.source), marks: $0) }
      .lastOfEach(\.id)
      .sorted { $0.id < $1.id }
    if rows.isEmpty { return }
    var parameters = WireParameters()
    parameters.add { $0.array(rows, type: .int4) { $0.int32($1.id) } }
    parameters.add {
      $0.array(rows, type: .date) { $0.optional($1.marks.delistedAt) { $0.date($1) } }
    }
    parameters.add { $0.array(rows, type: .int2) { $0.int16($1.marks.missedLists) } }
    parameters.add { $0.array(rows, type: .text) { $0.optionalText($1.marks.listedPart) } }
    commitContext.receipt.instrumentMarks += try connection.run(
      Self.markInstruments, parameters, context: Context.commit
    ).affectedRows
  }

  /// What is believed no more ends, a factor that changed included …
  private static let endFactors = Statement(
    name: "end_factors",
    sql: """
      with told as (
        select *
        from unnest($1::int[], $2::smallint[], $3::date[], $4::numeric[])
          r (instrument_id, kind, from_day, factor)
      )
      update adjustment_factor a
      set known_to = greatest($5::timestamptz, a.known_from)
      where a.known_to is null
        and (a.instrument_id, a.kind) in (select instrument_id, kind from told)
        and (a.instrument_id, a.kind, a.from_day, a.factor) not in (select * from told)
      """)

  /// … before what is new begins: the index of current factors is checked row by row.
  private static let addFactors = Statement(
    name: "add_factors",
    sql: """
      insert into adjustment_factor (instrument_id, kind, from_day, factor, known_from)
      select t.*, $5::timestamptz
      from unnest($1::int[], $2::smallint[], $3::date[], $4::numeric[])
        t (instrument_id, kind, from_day, factor)
      where not exists (
        select
        from adjustment_factor a
        where a.known_to is null
          and (a.instrument_id, a.kind, a.from_day, a.factor)
            = (t.instrument_id, t.kind, t.from_day, t.factor))
      on conflict (instrument_id, kind, from_day, known_from) do update
      set factor = excluded.factor, known_to = null
      """)

  private struct FactorKey: Hashable {
    var id: Int32
    var kind: Int16
    var day: TradingDay
  }

  func writeFactors(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    var incoming: [(key: FactorKey, factor: ExactDecimal)] = []
    for batch in commit.factors {
      for factor in batch.factors {
        let key = FactorKey(
          id: id(of: factor.symbol, batch.source), kind: factor.kind.rawValue, day: factor.from)
        incoming.append((key, factor.factor))
      }
    }
    let rows = incoming.lastOfEach(\.key)
    if rows.isEmpty { return }
    for statement in [Self.endFactors, Self.addFactors] {
      var parameters = WireParameters()
      parameters.add { $0.array(rows, type: .int4) { $0.int32($1.key.id) } }
      parameters.add { $0.array(rows, type: .int2) { $0.int16($1.key.kind) } }
      parameters.add { $0.array(rows, type: .date) { $0.date($1.key.day) } }
      parameters.add { $0.array(rows, type: .numeric) { $0.numeric($1.factor) } }
      parameters.add { $0.timestamp(commit.knownAt) }
      commitContext.receipt.factors += try connection.run(
        statement, parameters, context: Context.commit
      )
      .affectedRows
    }
  }

  private static let addLists = Statement(
    name: "add_lists",
    sql: """
      insert into instrument_list
        (source, part, judged_at, rows, content_hash, verdict, detail)
      select *
      from unnest(
        $1::smallint[], $2::text[], $3::timestamptz[], $4::int[], $5::bigint[], $6::text[],
        $7::text[])
      """)

  func writeLists(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    let rows = commit.lists
    if rows.isEmpty { return }
    var parameters = WireParameters()
    parameters.add { $0.array(rows, type: .int2) { $0.int16($1.source.rawValue) } }
    parameters.add { $0.array(rows, type: .text) { $0.text($1.part) } }
    parameters.add { $0.array(rows, type: .timestamptz) { $0.timestamp($1.decidedAt) } }
    parameters.add { $0.array(rows, type: .int4) { $0.int32(Int32(clamping: $1.rows)) } }
    parameters.add {
      $0.array(rows, type: .int8) { $0.int64(Int64(bitPattern: $1.contentHash)) }
    }
    parameters.add { $0.array(rows, type: .text) { $0.text($1.verdict.rawValue) } }
    parameters.add { $0.array(rows, type: .text) { $0.text($1.detail) } }
    commitContext.receipt.lists += try connection.run(
      Self.addLists, parameters, context: Context.commit
    ).affectedRows
  }

  private static let writeSessions = Statement(
    name: "write_sessions",
    sql: """
      insert into market_session as m (exchange, day, opens, closes)
      select *
      from unnest($1::smallint[], $2::date[], $3::timestamptz[], $4::timestamptz[])
      on conflict (exchange, day) do update
      set opens = excluded.opens, closes = excluded.closes
      where (m.opens, m.closes) is distinct from (excluded.opens, excluded.closes)
      """)

  func writeSessions(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    struct Key: Hashable {
      let exchange: Exchange
      let day: TradingDay
    }
    let rows = commit.sessions.lastOfEach { Key(exchange: $0.exchange, day: $0.day) }
    if rows.isEmpty { return }
    var parameters = WireParameters()
    parameters.add { $0.array(rows, type: .int2) { $0.int16($1.exchange.rawValue) } }
    parameters.add { $0.array(rows, type: .date) { $0.date($1.day) } }
    parameters.add { $0.array(rows, type: .timestamptz) { $0.timestamp($1.opens) } }
    parameters.add { $0.array(rows, type: .timestamptz) { $0.timestamp($1.closes) } }
    commitContext.receipt.sessions += try connection.run(
      Self.writeSessions, parameters, context: Context.commit
    ).affectedRows
  }
}
