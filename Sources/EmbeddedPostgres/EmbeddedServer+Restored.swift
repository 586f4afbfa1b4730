/// What a drill asks of a server: of the one that runs, and of the one that was restored.

extension EmbeddedServer {
  /// nil before the schema was applied.
  func content() throws(EmbeddedServerError) -> BackupDrill.Content? {
    let session = try AdminSession(self, database: Self.databaseName)
    guard try session.run("select to_regclass('candled.feed_sequence')") != [[nil]] else {
      return nil
    }
    let row = try session.run(
      """
      select
        (select last_seq from candled.feed_sequence),
        count(*),
        count(*) filter (where not balanced)
      from candled.day_audit
      """).first ?? []
    let numbers = row.compactMap { $0.flatMap { Int64($0) } }
    guard numbers.count == 3 else { return nil }
    return BackupDrill.Content(
      commit: numbers[0], certificates: numbers[1], residuals: numbers[2])
  }

  /// Ends the segment of the log that is written now.
  /// - Returns: its name.
  func switchedSegment() throws(EmbeddedServerError) -> String? {
    try AdminSession(self).run("select pg_walfile_name(pg_switch_wal() - 1)").first?.first ?? nil
  }

  func isRecovering() throws(EmbeddedServerError) -> Bool {
    try AdminSession(self).run("select pg_is_in_recovery()") != [["f"]]
  }

  /// The digits behind the timeline of the segment that a recovery ended in.
  func recoveredSegment() throws(EmbeddedServerError) -> Substring? {
    let name = try AdminSession(self)
      .run("select pg_walfile_name(pg_last_wal_replay_lsn() - 1)").first?.first
    return name?.map { $0.dropFirst(8) }
  }

  /// Reads all of them: a damaged page ends it.
  func countedRows() throws(EmbeddedServerError) -> (tables: Int, rows: Int64) {
    let lines = try inventory()
    // candled.gap (12,…)
    let counts = lines.compactMap { line in
      line.split(separator: "(").last.flatMap { Int64($0.prefix { $0.isNumber }) }
    }
    return (lines.count, counts.reduce(0, +))
  }

  private static let differencesMax = 12

  /// Days whose certificates are not the sums of their minutes and gaps.
  func differentCertificates() throws(EmbeddedServerError) -> [String] {
    let session = try AdminSession(self, database: Self.databaseName)
    guard try session.run("select to_regclass('candled.day_audit')") != [[nil]] else { return [] }
    let rows = try session.run(
      """
      select format('%s of %s', d.trading_day, i.symbol)
      from candled.day_audit d
      join candled.instrument i on i.id = d.instrument_id
      left join (
        select c.trading_day, c.instrument_id, sum(c.volume) as volume,
          sum(c.turnover) as turnover
        from candled.candle c
        where c.timeframe = 1
        group by c.trading_day, c.instrument_id
      ) m using (trading_day, instrument_id)
      left join (
        select g.trading_day, g.instrument_id, sum(g.volume) as volume,
          sum(g.turnover) as turnover
        from candled.gap g
        where g.known_to is null
        group by g.trading_day, g.instrument_id
      ) g using (trading_day, instrument_id)
      where (d.minute_volume, d.minute_turnover, d.gap_volume, d.gap_turnover)
        <> (
          coalesce(m.volume, 0), coalesce(m.turnover, 0),
          coalesce(g.volume, 0), coalesce(g.turnover, 0))
      order by d.trading_day, i.symbol
      limit \(Self.differencesMax)
      """)
    return rows.compactMap { $0.first ?? nil }
  }
}
