import Commits
import Market
import Postgres

/// The last of a commit's rows, once it is known which of them the database took: those it refused
/// go to `rejected`, and certificates have what is stored, not what was meant to be.
extension CertificateTable {
  func settle(_ commit: Commit, in context: inout CommitContext) throws(StoreError) {
    try writeRefused(in: &context)
    var days = Set(commit.certificates.lazy.map(\.tradingDay))
    days.formUnion(context.refused.lazy.map(\.day))
    if !days.isEmpty { try recount(days.sorted(), in: &context) }
    try writeTradingDays(commit, in: &context)
  }

  private static let addRefused = Statement(
    name: "add_refused",
    sql: """
      insert into rejected (received_at, trading_day, source, symbol, reason, detail, payload)
      select $1::timestamptz, r.trading_day, r.source, r.symbol, $2::text, r.detail, r.payload
      from unnest($3::date[], $4::smallint[], $5::text[], $6::text[], $7::bytea[])
        r (trading_day, source, symbol, detail, payload)
      on conflict (trading_day, source, symbol, reason, payload_md5) do nothing
      """)

  private func writeRefused(in context: inout CommitContext) throws(StoreError) {
    let rows = context.refused
    if rows.isEmpty { return }
    context.receipt.refusals.rows = rows.count
    context.receipt.refusals.first = rows[0].detail
    var parameters = WireParameters(
      .timestamp(context.knownAt), .text(RejectionReason.refusedByStore.rawValue),
      .array(rows, type: .date) { $0.date($1.day) },
      .array(rows, type: .int2) { $0.int16($1.source.rawValue) })
    // Text holds no NUL; who refused the row for one must not be refused for telling.
    parameters.add { $0.array(rows, type: .text) { $0.bytes($1.symbol.utf8.filter { $0 != 0 }) } }
    parameters.add { $0.array(rows, type: .text) { $0.bytes($1.detail.utf8.filter { $0 != 0 }) } }
    parameters.add { $0.array(rows, type: .bytea) { $0.bytes($1.payload) } }
    context.receipt.rejections += try run(Self.addRefused, with: parameters).affectedRows
  }

  /// The book's account of a day knows nothing of rows the database refused. Of such days the sums
  /// are taken from the tables, and the residual says what is missing there.
  private static let recount = Statement(
    name: "recount_refused_days",
    sql: """
      with touched as (
        select distinct r.trading_day, i.id as instrument_id
        from rejected r
        join instrument i on (i.symbol, i.source) = (r.symbol, r.source)
        where r.trading_day = any ($1::date[])
          and r.reason = $2::text
      ),
      sums as (
        select t.instrument_id, t.trading_day, m.*, g.*, d.minutes
        from touched t
        \(DayAccount.sums)
      )
      update day_audit a
      set
        minute_volume = s.minute_volume,
        minute_turnover = s.minute_turnover,
        gap_volume = s.gap_volume,
        gap_turnover = s.gap_turnover,
        minutes_traded = s.traded,
        minutes_untraded = s.untraded,
        minutes_missing = greatest(s.minutes - s.traded - s.untraded, 0),
        known_from = $3::timestamptz
      from sums s
      where a.instrument_id = s.instrument_id
        and a.trading_day = s.trading_day
        and (a.minute_volume, a.minute_turnover, a.gap_volume, a.gap_turnover)
          is distinct from (s.minute_volume, s.minute_turnover, s.gap_volume, s.gap_turnover)
      returning a.instrument_id, a.trading_day
      """)

  private func recount(
    _ days: [TradingDay], in context: inout CommitContext
  ) throws(StoreError) {
    let parameters = WireParameters(
      .days(days), .text(RejectionReason.refusedByStore.rawValue), .timestamp(context.knownAt))
    for var row in try run(Self.recount, with: parameters).rows {
      let key = DayKey(instrument: try row.int32(), day: try row.day())
      if context.keys.certificates.contains(key) { continue }
      context.keys.certificates.append(key)
      context.receipt.certificates += 1
    }
  }

  private static let certifyDays = Statement(
    name: "certify_days",
    sql: """
      insert into trading_day (day, completed_at, instruments, residuals)
      select r.day, $4::timestamptz, r.instruments, greatest(
        r.residuals,
        (select count(*) from day_audit a where a.trading_day = r.day and a.balanced = false))
      from unnest($1::date[], $2::int[], $3::int[]) r (day, instruments, residuals)
      on conflict (day) do update
      set
        completed_at = excluded.completed_at,
        instruments = excluded.instruments,
        residuals = excluded.residuals
      returning day, residuals
      """)

  private func writeTradingDays(
    _ commit: Commit, in context: inout CommitContext
  ) throws(StoreError) {
    var days: [(day: TradingDay, instruments: Int, residuals: Int)] = []
    for case .dayComplete(let day, let instruments, let residuals) in commit.events {
      days.append((day, instruments, residuals))
    }
    let rows = days.lastOfEach(\.day)
    if rows.isEmpty { return }
    let parameters = WireParameters(
      .array(rows, type: .date) { $0.date($1.day) },
      .array(rows, type: .int4) { $0.int32(Int32(clamping: $1.instruments)) },
      .array(rows, type: .int4) { $0.int32(Int32(clamping: $1.residuals)) },
      .timestamp(context.knownAt))
    for var row in try run(Self.certifyDays, with: parameters).rows {
      let day = try row.day()
      context.residuals[day] = Int(try row.int32())
    }
  }
}

extension CommitContext {
  /// The events as the tables bear them out.
  func corrected(_ events: [FeedEvent]) -> [FeedEvent] {
    events.map { event in
      guard case .dayComplete(let day, let instruments, _) = event,
        let residuals = residuals[day]
      else { return event }
      return .dayComplete(day: day, instruments: instruments, residuals: residuals)
    }
  }
}
