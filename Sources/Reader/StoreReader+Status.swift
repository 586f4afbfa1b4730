import Market
import Postgres

/// How the database stands, and what it knows of instruments and markets.
extension StoreReader {
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

  private static let readPlace = Statement(
    name: "query_place",
    sql: """
      select
        case
          when pg_is_in_recovery() then 'standby'
          when is_replica() then 'logical_replica'
          else 'primary'
        end,
        case
          when not pg_is_in_recovery() then (
            select round(
              extract(epoch from clock_timestamp() - max(s.latest_end_time))::numeric, 3)
            from pg_stat_subscription s
            where is_replica())
          when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
          else round(
            extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::numeric, 3)
        end
      """)

  private func place() throws(StoreError) -> StoreStatus.Place {
    var row = try connection.run(Self.readPlace, context: "status").row(0)
    return StoreStatus.Place(
      role: try row.text(), lag: try row.optionalNumeric(),
      replicas: try ReplicaLink.all(of: connection))
  }

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

  func health() throws(StoreError) -> [SourceHealthRow] {
    try read(Self.readHealth) { (row) throws(StoreError) in try row.health() }
  }

  /// Whether a daemon leads: its lease has not expired by the server's clock.
  /// - Throws: `connectionLost`, `malformed`.
  package func isLed() throws(StoreError) -> Bool {
    try read(Self.readIsLed) { (row) throws(StoreError) in try row.bool() }.first ?? false
  }

  private static let readIsLed = Statement(
    name: "query_is_led", sql: "select exists (select from leaders where state = 'leads')")

  /// - Throws: `connectionLost`, `malformed`.
  package func status() throws(StoreError) -> StoreStatus {
    let health = try health()
    let leader = try read(Self.readLeader) { (row) throws(StoreError) in
      StoredLeader(
        term: try row.int64(), holder: try row.text(), host: try row.text(),
        acquiredAt: try row.timestamp(), state: try row.text())
    }.first
    let response = try connection.run(Self.readStatus, context: "status")
    guard response.rowCount == 1 else { throw Self.noFeed(context: "status") }
    var row = response.row(0)
    let feed = StoreStatus.Feed(
      position: JournalPosition(try row.int64()), knownAt: try row.optionalTimestamp(),
      epoch: try row.int64(), lastSeq: try row.int64(), lastCommitAt: try row.optionalTimestamp(),
      lastCommitAge: try row.optionalNumeric())
    let instruments = try row.int64()
    let day = StoreStatus.Day(
      tradingDay: try row.optionalDay(), quotes: try row.int64(), candles: try row.int64(),
      gaps: try row.int64(), rejections: try row.int64())
    let certified = StoreStatus.Certified(
      day: try row.optionalDay(), certificates: try row.int64(), residuals: try row.int64())
    return StoreStatus(
      place: try place(), feed: feed, instruments: instruments, day: day, certified: certified,
      databaseBytes: try row.int64(), notificationQueue: try row.numeric(), health: health,
      leader: leader)
  }
}

// MARK: - Instruments and sessions

extension StoreReader {
  private static let readInstruments = Statement(
    name: "query_instruments",
    sql: """
      select symbol, name, exchange, kind, board, source, first_seen
      from instruments
      where $1::text is null
        or position(lower($1::text) in lower(symbol)) > 0
        or position(lower($1::text) in lower(name)) > 0
      order by symbol, source
      """)

  /// Series of instruments, by symbol.
  /// - Parameter part: what the symbol or the name must contain, in any case; nil for all.
  package func instruments(like part: String? = nil) throws(StoreError) -> [InstrumentRecord] {
    let parameters = WireParameters(.text(part))
    return try read(Self.readInstruments, with: parameters) { (row) throws(StoreError) in
      InstrumentRecord(
        symbol: try row.symbol(), name: try row.optionalText(), exchange: try row.optionalText(),
        kind: try row.optionalText(), board: try row.optionalText(), source: try row.text(),
        firstSeen: try row.timestamp())
    }
  }

  private static let readLinks = Statement(
    name: "query_links",
    sql: """
      select from_symbol, to_symbol, day, kind, verdict, ratio, cash, said_by, known_from, known_to
      from links
      where $1::text is null
        or $1::text in (from_symbol, to_symbol)
      order by day, from_symbol, to_symbol, known_from
      """)

  /// What became of instruments, also what is ended.
  /// - Parameter symbol: nil for all.
  package func links(of symbol: Symbol? = nil) throws(StoreError) -> [LinkRecord] {
    let parameters = WireParameters(.text(symbol?.description))
    return try read(Self.readLinks, with: parameters) { (row) throws(StoreError) in
      LinkRecord(
        link: try row.instrumentLink(), knownFrom: try row.timestamp(),
        knownTo: try row.optionalTimestamp())
    }
  }

  /// When markets trade, as far as the daemon has learnt.
  package func sessions() throws(StoreError) -> [MarketSession] {
    try read(MarketSession.readAll) { (row) throws(StoreError) in
      try row.marketSession()
    }
  }

  /// The mainland's trading days: beyond the table of the program those that the daemon has learnt,
  /// the next year's once they are announced.
  package func learntCalendar() throws(StoreError) -> TradingCalendar {
    TradingCalendar.shanghai.extended(byStored: try sessions())
  }
}

extension PostgresRow {
  fileprivate mutating func health() throws(StoreError) -> SourceHealthRow {
    let source = try source()
    let endpoint = try text()
    guard let state = SourceHealthRow.State(rawValue: try text()) else { throw malformed() }
    return SourceHealthRow(
      source: source, endpoint: endpoint, state: state, since: try timestamp(),
      lastSuccessAt: try optionalTimestamp(), requests: try int64(), failures: try int64(),
      detail: try text())
  }
}
