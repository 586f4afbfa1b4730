import Market

/// The smaller tables: one statement each, its rows bound as one array a column (`unnest`), which
/// under a few hundred rows beats staging (MEASURED).
extension WriterSession {
  func writeLedger(_ commit: SortedCommit, _ draft: inout Draft) throws(StoreError) {
    try writeGaps(commit.base, &draft)
    try writeAudits(commit.base, &draft)
    try amendRepairedDays(commit.base, &draft)
    try writeRejections(commit.base, &draft)
    try writeOverview(commit.base, &draft)
    try writeHealth(commit.base, &draft)
    try writeTradingDays(commit.base)
    draft.receipt.events = commit.base.events.count
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

  func writeInstruments(_ commit: Commit, _ draft: inout Draft) throws(StoreError) {
    let (added, updated) = registry.differences(in: commit)
    if !added.isEmpty {
      var parameters = instrumentParameters(added)
      parameters.add { $0.array(added, type: .int2) { $0.int16($1.row.source.rawValue) } }
      parameters.add { $0.timestamp(commit.knownAt) }
      try connection.run(Self.addInstruments, parameters, context: Context.instruments)
    }
    if !updated.isEmpty {
      let parameters = instrumentParameters(updated)
      try connection.run(Self.updateInstruments, parameters, context: Context.instruments)
    }
    for entry in added + updated { registry.insert(entry) }
    draft.receipt.instruments = added.count + updated.count
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

  private func writeGaps(_ commit: Commit, _ draft: inout Draft) throws(StoreError) {
    if commit.gaps.isEmpty { return }
    let rows = commit.gaps.map { (id: id(of: $0.symbol), gap: $0) }
      .filter { !draft.repaired.contains(DayKey(instrument: $0.id, day: $0.gap.tradingDay)) }
      .sorted { ($0.id, $0.gap.from, $0.gap.to) < ($1.id, $1.gap.from, $1.gap.to) }
    if rows.isEmpty { return }
    var parameters = WireParameters()
    parameters.add { $0.array(rows, type: .int4) { $0.int32($1.id) } }
    parameters.add { $0.array(rows, type: .date) { $0.date($1.gap.tradingDay) } }
    parameters.add { $0.array(rows, type: .timestamptz) { $0.timestamp($1.gap.from) } }
    parameters.add { $0.array(rows, type: .timestamptz) { $0.timestamp($1.gap.to) } }
    parameters.add { $0.array(rows, type: .numeric) { $0.numeric($1.gap.volume) } }
    parameters.add { $0.array(rows, type: .numeric) { $0.numeric($1.gap.turnover) } }
    parameters.add { $0.array(rows, type: .int2) { $0.int16($1.gap.cause.rawValue) } }
    parameters.add { $0.timestamp(commit.knownAt) }
    for row in try connection.run(Self.addGaps, parameters, context: Context.commit).rows {
      var row = row
      draft.gaps.append(try row.int64())
    }
    draft.receipt.gaps = draft.gaps.count
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

  private func writeRejections(_ commit: Commit, _ draft: inout Draft) throws(StoreError) {
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
    draft.receipt.rejections = try connection.run(
      Self.addRejections, parameters, context: Context.commit
    ).affectedRows
  }

  private static let certifyDays = Statement(
    name: "certify_days",
    sql: """
      insert into trading_day (day, completed_at, instruments, residuals)
      select r.day, $4::timestamptz, r.instruments, r.residuals
      from unnest($1::date[], $2::int[], $3::int[]) r (day, instruments, residuals)
      on conflict (day) do update
      set
        completed_at = excluded.completed_at,
        instruments = excluded.instruments,
        residuals = excluded.residuals
      """)

  private func writeTradingDays(_ commit: Commit) throws(StoreError) {
    var days: [(day: TradingDay, instruments: Int, residuals: Int)] = []
    for case .dayComplete(let day, let instruments, let residuals) in commit.events {
      days.append((day, instruments, residuals))
    }
    let rows = days.lastOfEach(\.day)
    if rows.isEmpty { return }
    var parameters = WireParameters()
    parameters.add { $0.array(rows, type: .date) { $0.date($1.day) } }
    parameters.add { $0.array(rows, type: .int4) { $0.int32(Int32(clamping: $1.instruments)) } }
    parameters.add { $0.array(rows, type: .int4) { $0.int32(Int32(clamping: $1.residuals)) } }
    parameters.add { $0.timestamp(commit.knownAt) }
    try connection.run(Self.certifyDays, parameters, context: Context.commit)
  }
}

extension WireBuffer {
  mutating func optionalInt16(_ value: Int16?) {
    if let value { int16(value) } else { null() }
  }

  mutating func optionalText(_ value: String?) {
    if let value { text(value) } else { null() }
  }

  mutating func optionalNumeric(_ value: ExactDecimal?) {
    if let value { numeric(value) } else { null() }
  }

  mutating func optionalTimestamp(_ value: Timestamp?) {
    if let value { timestamp(value) } else { null() }
  }
}
