import Commits
import Market
import Postgres

/// Certificates of conservation, and the lock under which a day's sums are changed.
struct CertificateTable: TableGroup {
  let session: WriterSession

  private static let certificates = table(name: "write_certificates", stamps: ["known_from"])
  /// As a repair leaves it: the fixed-price session stays the book's, and the moment counts even
  /// where nothing differs.
  private static let repaired = table(
    name: "certify_repair", stamps: ["known_from", "repaired_at"], afterHours: .first,
    refreshes: "t.repaired_at is null")

  /// No later certificate takes it back.
  static let reference: [RowTable<Identified<DayCertificate>>.Column] = [
    .numeric("previous_close", role: .kept) { $0.row.reference?.previousClose },
    .numeric("limit_up", role: .kept) { $0.row.reference?.limits.stored?.upper },
    .numeric("limit_down", role: .kept) { $0.row.reference?.limits.stored?.lower },
    .int16("reference_source", role: .kept) { $0.row.reference?.source.rawValue },
  ]

  private static func table(
    name: String, stamps: [String], afterHours: ColumnRole = .value, refreshes: String? = nil
  ) -> RowTable<Identified<DayCertificate>> {
    RowTable(
      "audit", name: name, into: "day_audit",
      columns: [
        .int32("instrument_id", role: .key) { $0.id },
        .day("trading_day", role: .key) { $0.row.tradingDay },
        .numeric("exchange_volume") { $0.row.exchangeVolume },
        .numeric("exchange_turnover") { $0.row.exchangeTurnover },
        .numeric("minute_volume") { $0.row.minuteVolume },
        .numeric("minute_turnover") { $0.row.minuteTurnover },
        .numeric("gap_volume") { $0.row.gapVolume },
        .numeric("gap_turnover") { $0.row.gapTurnover },
        .numeric("after_hours_volume", role: afterHours) { $0.row.afterHoursVolume },
        .numeric("after_hours_turnover", role: afterHours) { $0.row.afterHoursTurnover },
        .int16("minutes_traded") { $0.row.minutesTraded },
        .int16("minutes_untraded") { $0.row.minutesUntraded },
        .int16("minutes_missing") { $0.row.minutesMissing },
        .bool("coarse") { $0.row.isCoarse },
      ] + reference,
      stamps: stamps, conflict: .replaced, refreshes: refreshes, counter: \.certificates,
      origin: \.row.rowDescription.origin)
  }

  func write(
    _ certificates: [DayCertificate], in context: inout CommitContext
  ) throws(StoreError) {
    try session.write(certificates, in: &context, rowDescription: \.rowDescription) {
      (rows, context) throws(StoreError) in
      let rows = sorted(rows)
      let isRepaired = { [repaired = context.repaired] (row: Identified<DayCertificate>) in
        repaired.contains(DayKey(instrument: row.id, day: row.row.tradingDay))
      }
      try write(
        rows.filter { !isRepaired($0) }, to: Self.certificates, at: context.knownAt, in: &context)
      try amend(rows.filter(isRepaired), in: &context)
    }
  }

  /// What a repair made of a day.
  func certify(
    _ certificate: DayCertificate, of key: DayKey, at moment: Timestamp,
    in context: inout CommitContext
  ) throws(StoreError) {
    try write(
      [Identified(id: key.instrument, row: certificate)], to: Self.repaired, at: moment,
      in: &context)
  }

  private func write(
    _ rows: [Identified<DayCertificate>], to table: RowTable<Identified<DayCertificate>>,
    at moment: Timestamp, in context: inout CommitContext
  ) throws(StoreError) {
    if rows.isEmpty { return }
    let written = try run(table.statement, with: table.parameters(rows, stamp: moment))
      .affectedRows
    if written == 0 { return }
    context.receipt.certificates += written
    context.keys.certificates += rows.map { DayKey(instrument: $0.id, day: $0.row.tradingDay) }
  }

  /// By day and id, one a key.
  private func sorted(_ certificates: [DayCertificate]) -> [Identified<DayCertificate>] {
    certificates.map { Identified(id: id(of: $0.symbol, source: $0.source), row: $0) }
      .lastOfEach { DayKey(instrument: $0.id, day: $0.row.tradingDay) }
      .sorted { ($0.row.tradingDay, $0.id) < ($1.row.tradingDay, $1.id) }
  }
}

// MARK: - Locks

extension CertificateTable {
  private static let lockDay = Statement(
    name: "lock_day",
    sql: """
      select day
      from day_lock
      where day = $1::date
      for update
      """)

  private static let addDay = Statement(
    name: "add_day_lock",
    sql: """
      insert into day_lock (day)
      values ($1::date)
      on conflict (day) do nothing
      """)

  /// Until the transaction ends: whoever repairs or certifies minutes of a day waits for the one
  /// who does.
  func lock(_ day: TradingDay) throws(StoreError) {
    let parameters = WireParameters(.day(day))
    if try run(Self.lockDay, with: parameters).rowCount == 1 { return }
    // Waits for who adds it at the same time, whose row is there to be locked afterwards.
    try run(Self.addDay, with: parameters)
    try run(Self.lockDay, with: parameters)
  }
}
