import Market
import Postgres

/// The smaller tables: one statement each, its rows bound as one array a column (`unnest`), which
/// under a few hundred rows beats staging (MEASURED).
extension WriterSession {
  func writeLedger(_ commit: SortedCommit, _ commitContext: inout CommitContext) throws(StoreError)
  {
    try supersedeGaps(commit.base, &commitContext)
    try writeGaps(commit.base, &commitContext)
    try writeCertificates(commit.base, &commitContext)
    try amendRepairedDays(commit.base, &commitContext)
    try writeRejections(commit.base, &commitContext)
    try writeOverview(commit.base, &commitContext)
    try writeHealth(commit.base, &commitContext)
    commitContext.receipt.events += commit.base.events.count
  }

  private static let addInstruments = Statement(
    name: "add_instruments",
    sql: """
      insert into instrument (id, symbol, exchange, kind, board, name, source, first_seen)
      select r.*, $8::timestamptz
      from unnest(
        $1::int[], $2::text[], $3::smallint[], $4::smallint[], $5::smallint[], $6::text[],
        $7::smallint[]) r
      """)

  private static let updateInstruments = Statement(
    name: "update_instruments",
    sql: """
      update instrument i
      set exchange = r.exchange, kind = r.kind, board = r.board, name = r.name
      from unnest(
          $1::int[], $2::text[], $3::smallint[], $4::smallint[], $5::smallint[], $6::text[])
        r (id, symbol, exchange, kind, board, name)
      where i.id = r.id
      """)

  func writeInstruments(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    let (added, updated) = registry.differences(in: commit)
    if !added.isEmpty { try add(added, commit.knownAt, &commitContext) }
    if !updated.isEmpty { try update(updated, &commitContext) }
  }

  func add(
    _ entries: [InstrumentRegistry.Entry], _ knownAt: Timestamp,
    _ commitContext: inout CommitContext
  ) throws(StoreError) {
    var parameters = instrumentParameters(entries)
    parameters.add { $0.array(entries, type: .int2) { $0.int16($1.row.source.rawValue) } }
    parameters.add { $0.timestamp(knownAt) }
    try connection.run(Self.addInstruments, parameters, context: Context.instruments)
    for entry in entries { registry.insert(entry) }
    commitContext.receipt.instruments += entries.count
  }

  func update(
    _ entries: [InstrumentRegistry.Entry], _ commitContext: inout CommitContext
  ) throws(StoreError) {
    try connection.run(
      Self.updateInstruments, instrumentParameters(entries), context: Context.instruments)
    for entry in entries { registry.insert(entry) }
    commitContext.receipt.instruments += entries.count
  }

  private func instrumentParameters(_ entries: [InstrumentRegistry.Entry]) -> WireParameters {
    var parameters = WireParameters()
    parameters.add { $0.array(entries, type: .int4) { $0.int32($1.id) } }
    parameters.add { $0.array(entries, type: .text) { $0.bytes($1.row.symbol.bytes) } }
    parameters.add {
      $0.array(entries, type: .int2) { $0.optionalInt16($1.row.exchange?.rawValue) }
    }
    parameters.add { $0.array(entries, type: .int2) { $0.optionalInt16($1.row.kind?.rawValue) } }
    parameters.add { $0.array(entries, type: .int2) { $0.optionalInt16($1.row.board?.rawValue) } }
    parameters.add { $0.array(entries, type: .text) { $0.optionalText($1.row.name) } }
    return parameters
  }

  private static let addGaps = Statement(
    name: "add_gaps",
    sql: """
      insert into gap
        (instrument_id, trading_day, from_at, to_at, volume, turnover, cause, known_from)
      select r.*, $8::timestamptz
      from unnest(
        $1::int[], $2::date[], $3::timestamptz[], $4::timestamptz[], $5::numeric[],
        $6::numeric[], $7::smallint[]) r
      returning id
      """)

  /// A neighbouring gap took them in, or a correction took back what they held. The values name the
  /// row: the book knows no numbers.
  private static let closeSuperseded = Statement(
    name: "supersede_gaps",
    sql: """
      with r as (
        select *
        from unnest(
            $1::int[], $2::date[], $3::timestamptz[], $4::timestamptz[], $5::numeric[],
            $6::numeric[], $7::smallint[])
          r (instrument_id, trading_day, from_at, to_at, volume, turnover, cause)
      ),
      chosen as (
        select max(g.id) as id
        from r
        join gap g
          on (g.instrument_id, g.trading_day, g.from_at, g.to_at, g.volume, g.turnover, g.cause)
          = (r.instrument_id, r.trading_day, r.from_at, r.to_at, r.volume, r.turnover, r.cause)
        where g.known_to is null
        group by r.instrument_id, r.trading_day, r.from_at, r.to_at, r.volume, r.turnover, r.cause
      )
      update gap g
      set known_to = greatest($8::timestamptz, g.known_from), closed_by = 'superseded'
      from chosen c
      where g.id = c.id
      returning g.id
      """)

  func supersedeGaps(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    guard let parameters = gapParameters(commit.closedGaps, commit, commitContext) else { return }
    for row in try connection.run(Self.closeSuperseded, parameters, context: Context.commit).rows {
      var row = row
      commitContext.closedGaps.append(try row.int64())
      commitContext.receipt.supersededGaps += 1
    }
  }

  func writeGaps(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    guard let parameters = gapParameters(commit.gaps, commit, commitContext) else { return }
    for row in try connection.run(Self.addGaps, parameters, context: Context.commit).rows {
      var row = row
      commitContext.gaps.append(try row.int64())
    }
    commitContext.receipt.gaps = commitContext.gaps.count
  }

  /// nil where every gap is of a day that was repaired, whose account is the tables'.
  private func gapParameters(
    _ gaps: [Gap], _ commit: Commit, _ commitContext: CommitContext
  ) -> WireParameters? {
    let rows = gaps.map { (id: id(of: $0.symbol), gap: $0) }
      .filter {
        !commitContext.repaired.contains(DayKey(instrument: $0.id, day: $0.gap.tradingDay))
      }
      .sorted { ($0.id, $0.gap.from, $0.gap.to) < ($1.id, $1.gap.from, $1.gap.to) }
    if rows.isEmpty { return nil }
    var parameters = WireParameters()
    parameters.add { $0.array(rows, type: .int4) { $0.int32($1.id) } }
    parameters.add { $0.array(rows, type: .date) { $0.date($1.gap.tradingDay) } }
    parameters.add { $0.array(rows, type: .timestamptz) { $0.timestamp($1.gap.from) } }
    parameters.add { $0.array(rows, type: .timestamptz) { $0.timestamp($1.gap.to) } }
    parameters.add { $0.array(rows, type: .numeric) { $0.numeric($1.gap.volume) } }
    parameters.add { $0.array(rows, type: .numeric) { $0.numeric($1.gap.turnover) } }
    parameters.add { $0.array(rows, type: .int2) { $0.int16($1.gap.cause.rawValue) } }
    parameters.add { $0.timestamp(commit.knownAt) }
    return parameters
  }

  private static let addRejections = Statement(
    name: "add_rejections",
    sql: """
      insert into rejected (received_at, trading_day, source, symbol, reason, detail, payload)
      select *
      from unnest(
        $1::timestamptz[], $2::date[], $3::smallint[], $4::text[], $5::text[], $6::text[],
        $7::bytea[])
      on conflict (trading_day, source, symbol, reason, payload_md5) do nothing
      """)

  func writeRejections(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    let rows = commit.rejections
    if rows.isEmpty { return }
    var parameters = WireParameters()
    parameters.add { $0.array(rows, type: .timestamptz) { $0.timestamp($1.receivedAt) } }
    parameters.add { $0.array(rows, type: .date) { $0.date($1.receivedAt.shanghaiDay) } }
    parameters.add { $0.array(rows, type: .int2) { $0.int16($1.source.rawValue) } }
    parameters.add { $0.array(rows, type: .text) { $0.bytes($1.symbol?.bytes ?? []) } }
    parameters.add { $0.array(rows, type: .text) { $0.text($1.reason.rawValue) } }
    // A detail may quote the row it is about, and text holds no NUL.
    parameters.add {
      $0.array(rows, type: .text) { $0.bytes($1.detail.utf8.filter { $0 != 0 }) }
    }
    parameters.add { $0.array(rows, type: .bytea) { $0.bytes($1.payload) } }
    commitContext.receipt.rejections += try connection.run(
      Self.addRejections, parameters, context: Context.commit
    ).affectedRows
  }
}
