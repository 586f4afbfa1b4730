import Market
import Postgres

/// How the database stands, in two statements.
extension Queries {
  private static let readStatus = Statement(
    name: "query_status",
    sql: """
      select p.position, nullif(p.known_from, '-infinity'), p.epoch, p.last_seq, c.committed_at,
        round(extract(epoch from clock_timestamp() - c.committed_at)::numeric, 3),
        (select count(*) from feed_instruments),
        d.day,
        (select count(*) from feed_quotes where trading_day = d.day),
        (select count(*) from feed_candles
          where trading_day = d.day
            and opened_at between d.day - interval '1 day' and d.day + interval '1 day'),
        (select count(*) from feed_gaps where trading_day = d.day),
        (select count(*) from feed_rejections where trading_day = d.day),
        a.day,
        (select count(*) from feed_audits where trading_day = a.day),
        (select count(*) from feed_audits where trading_day = a.day and not balanced),
        pg_database_size(current_database()),
        trim_scale(round(pg_notification_queue_usage()::numeric, 6))
      from feed_place p
      left join feed_changes c on c.seq = p.last_seq
      cross join (select max(trading_day) as day from feed_quotes) d
      cross join (select max(trading_day) as day from feed_audits) a
      """)

  private static let readHealth = Statement(
    name: "query_health",
    sql: """
      select source, endpoint, state, since, last_success_at, requests, failures, detail
      from feed_health
      order by source, endpoint
      """)

  private static let readLeader = Statement(
    name: "query_leader",
    sql: """
      select term, holder, host, acquired_at, state
      from leaders
      order by term desc
      limit 1
      """)

  /// - Throws: `connectionLost`, `malformed`.
  package func status() throws(StoreError) -> StoreStatus {
    let health = try read(Self.readHealth, WireParameters()) { (row) throws(StoreError) in
      try row.health()
    }
    let leader = try read(Self.readLeader, WireParameters()) { (row) throws(StoreError) in
      StoredLeader(
        term: try row.int64(), holder: try row.text(), host: try row.text(),
        acquiredAt: try row.timestamp(), state: try row.text())
    }.first
    var row = try connection.run(Self.readStatus, context: "status").row(0)
    return StoreStatus(
      position: JournalPosition(try row.int64()), knownAt: try row.optionalTimestamp(),
      epoch: try row.int64(), lastSeq: try row.int64(), lastCommitAt: try row.optionalTimestamp(),
      lastCommitAge: try row.optionalNumeric(), instruments: try row.int64(),
      tradingDay: try row.optionalDay(), quotes: try row.int64(), candles: try row.int64(),
      gaps: try row.int64(), rejections: try row.int64(), certifiedDay: try row.optionalDay(),
      certificates: try row.int64(), residuals: try row.int64(),
      databaseBytes: try row.int64(), notificationQueue: try row.numeric(), health: health,
      leader: leader)
  }
}

extension PostgresRow {
  fileprivate mutating func health() throws(StoreError) -> SourceHealthRow {
    let source = Source(rawValue: try int16())
    let endpoint = try text()
    guard let state = SourceHealthRow.State(rawValue: try text()) else { throw malformed() }
    return SourceHealthRow(
      source: source, endpoint: endpoint, state: state, since: try timestamp(),
      lastSuccessAt: try optionalTimestamp(), requests: try int64(), failures: try int64(),
      detail: try text())
  }
}
