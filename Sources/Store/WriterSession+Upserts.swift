import Market
import Postgres

/// Rows that replace their predecessor: certificates, the market overview, source health. Each
/// leaves an equal row alone, so that saying the same again writes nothing.
extension WriterSession {
  private static let writeCertificates = Statement(
    name: "write_audits",
    sql: """
      insert into day_audit as a
        (instrument_id, trading_day, exchange_volume, exchange_turnover, minute_volume,
        minute_turnover, gap_volume, gap_turnover, after_hours_volume, after_hours_turnover,
        minutes_traded, minutes_untraded, minutes_missing, known_from)
      select r.*, $14::timestamptz
      from unnest(
        $1::int[], $2::date[], $3::numeric[], $4::numeric[], $5::numeric[], $6::numeric[],
        $7::numeric[], $8::numeric[], $9::numeric[], $10::numeric[], $11::smallint[],
        $12::smallint[], $13::smallint[]) r
      on conflict (trading_day, instrument_id) do update
      set
        exchange_volume = excluded.exchange_volume,
        exchange_turnover = excluded.exchange_turnover,
        minute_volume = excluded.minute_volume,
        minute_turnover = excluded.minute_turnover,
        gap_volume = excluded.gap_volume,
        gap_turnover = excluded.gap_turnover,
        after_hours_volume = excluded.after_hours_volume,
        after_hours_turnover = excluded.after_hours_turnover,
        minutes_traded = excluded.minutes_traded,
        minutes_untraded = excluded.minutes_untraded,
        minutes_missing = excluded.minutes_missing,
        known_from = excluded.known_from
      where (a.exchange_volume, a.exchange_turnover, a.minute_volume, a.minute_turnover,
          a.gap_volume, a.gap_turnover, a.after_hours_volume, a.after_hours_turnover,
          a.minutes_traded, a.minutes_untraded, a.minutes_missing)
        is distinct from (excluded.exchange_volume, excluded.exchange_turnover,
          excluded.minute_volume, excluded.minute_turnover, excluded.gap_volume,
          excluded.gap_turnover, excluded.after_hours_volume, excluded.after_hours_turnover,
          excluded.minutes_traded, excluded.minutes_untraded, excluded.minutes_missing)
      """)

  func writeCertificates(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError)
  {
    let rows = sortedCertificates(commit).filter {
      !commitContext.repaired.contains(DayKey(instrument: $0.id, day: $0.certificate.tradingDay))
    }
    if rows.isEmpty { return }
    var parameters = WireParameters()
    parameters.add { $0.array(rows, type: .int4) { $0.int32($1.id) } }
    parameters.add { $0.array(rows, type: .date) { $0.date($1.certificate.tradingDay) } }
    let optional: [KeyPath<DayCertificate, ExactDecimal?>] = [\.exchangeVolume, \.exchangeTurnover]
    for field in optional {
      parameters.add {
        $0.array(rows, type: .numeric) { $0.optionalNumeric($1.certificate[keyPath: field]) }
      }
    }
    let sums: [KeyPath<DayCertificate, ExactDecimal>] = [
      \.minuteVolume, \.minuteTurnover, \.gapVolume, \.gapTurnover, \.afterHoursVolume,
      \.afterHoursTurnover,
    ]
    for field in sums {
      parameters.add {
        $0.array(rows, type: .numeric) { $0.numeric($1.certificate[keyPath: field]) }
      }
    }
    let counts: [KeyPath<DayCertificate, Int16>] = [
      \.minutesTraded, \.minutesUntraded, \.minutesMissing,
    ]
    for field in counts {
      parameters.add { $0.array(rows, type: .int2) { $0.int16($1.certificate[keyPath: field]) } }
    }
    parameters.add { $0.timestamp(commit.knownAt) }
    let written = try connection.run(
      Self.writeCertificates, parameters, context: Context.commit
    ).affectedRows
    if written == 0 { return }
    commitContext.receipt.certificates += written
    commitContext.certificates += rows.map {
      DayKey(instrument: $0.id, day: $0.certificate.tradingDay)
    }
  }

  /// By day and id, one a key.
  func sortedCertificates(_ commit: Commit) -> [(id: Int32, certificate: DayCertificate)] {
    struct Key: Hashable {
      let id: Int32
      let day: TradingDay
    }
    return commit.certificates.map { (id: id(of: $0.symbol), certificate: $0) }
      .lastOfEach { Key(id: $0.id, day: $0.certificate.tradingDay) }
      .sorted { ($0.certificate.tradingDay, $0.id) < ($1.certificate.tradingDay, $1.id) }
  }

  private static let writeOverview = Statement(
    name: "write_overview",
    sql: """
      insert into overview as o (symbol, name, last, change, percent_change, at)
      select *
      from unnest(
        $1::text[], $2::text[], $3::numeric[], $4::numeric[], $5::numeric[], $6::timestamptz[])
      on conflict (symbol) do update
      set
        name = coalesce(excluded.name, o.name),
        last = excluded.last,
        change = excluded.change,
        percent_change = excluded.percent_change,
        at = excluded.at
      where (o.name, o.last, o.change, o.percent_change, o.at)
        is distinct from (coalesce(excluded.name, o.name), excluded.last, excluded.change,
          excluded.percent_change, excluded.at)
      """)

  func writeOverview(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    let rows = commit.overview.lastOfEach(\.symbol).sorted { $0.symbol < $1.symbol }
    if rows.isEmpty { return }
    var parameters = WireParameters()
    parameters.add { $0.array(rows, type: .text) { $0.text($1.symbol) } }
    parameters.add { $0.array(rows, type: .text) { $0.optionalText($1.name) } }
    parameters.add { $0.array(rows, type: .numeric) { $0.numeric($1.last) } }
    parameters.add { $0.array(rows, type: .numeric) { $0.numeric($1.change) } }
    parameters.add { $0.array(rows, type: .numeric) { $0.numeric($1.percentChange) } }
    parameters.add { $0.array(rows, type: .timestamptz) { $0.timestamp($1.at) } }
    commitContext.receipt.overview += try connection.run(
      Self.writeOverview, parameters, context: Context.commit
    ).affectedRows
  }

  private static let writeHealth = Statement(
    name: "write_health",
    sql: """
      insert into source_health as h
        (source, endpoint, state, since, last_success_at, requests, failures, detail, updated_at)
      select *
      from unnest(
        $1::smallint[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[],
        $6::bigint[], $7::bigint[], $8::text[], $9::timestamptz[])
      on conflict (source, endpoint) do update
      set
        state = excluded.state,
        since = excluded.since,
        last_success_at = excluded.last_success_at,
        requests = excluded.requests,
        failures = excluded.failures,
        detail = excluded.detail,
        updated_at = excluded.updated_at
      where (h.state, h.since, h.last_success_at, h.requests, h.failures, h.detail)
        is distinct from (excluded.state, excluded.since, excluded.last_success_at,
          excluded.requests, excluded.failures, excluded.detail)
      """)

  func writeHealth(_ commit: Commit, _ commitContext: inout CommitContext) throws(StoreError) {
    struct Key: Hashable {
      let source: Source
      let endpoint: String
    }
    let rows = commit.health.lastOfEach { Key(source: $0.source, endpoint: $0.endpoint) }
      .sorted { ($0.source.rawValue, $0.endpoint) < ($1.source.rawValue, $1.endpoint) }
    if rows.isEmpty { return }
    var parameters = WireParameters()
    parameters.add { $0.array(rows, type: .int2) { $0.int16($1.source.rawValue) } }
    parameters.add { $0.array(rows, type: .text) { $0.text($1.endpoint) } }
    parameters.add { $0.array(rows, type: .text) { $0.text($1.state.rawValue) } }
    parameters.add { $0.array(rows, type: .timestamptz) { $0.timestamp($1.since) } }
    parameters.add { $0.array(rows, type: .timestamptz) { $0.optionalTimestamp($1.lastSuccessAt) } }
    parameters.add { $0.array(rows, type: .int8) { $0.int64($1.requests) } }
    parameters.add { $0.array(rows, type: .int8) { $0.int64($1.failures) } }
    parameters.add { $0.array(rows, type: .text) { $0.text($1.detail) } }
    parameters.add {
      $0.array(rows, type: .timestamptz) { $0.timestamp($1.updatedAt ?? commit.knownAt) }
    }
    commitContext.receipt.health += try connection.run(
      Self.writeHealth, parameters, context: Context.commit
    ).affectedRows
  }
}
