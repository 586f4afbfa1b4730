/// The databases of the cluster. Everything inside one is the business of the connection and the
/// schema, not of the server.

import Market
import Postgres

extension EmbeddedServer {
  /// Makes the database unless it is there, and takes from readers what could stop its writer.
  /// Names are without quotes.
  /// - Parameter template: the database to copy; it must have no sessions.
  /// - Throws: `startFailed` without a connection, `initFailed` when the server says no.
  package func createDatabase(
    _ name: String, template: String = "template1"
  ) throws(EmbeddedServerError) {
    let session = try AdminSession(self)
    if try !session.run("select datname from pg_database").contains([name]) {
      try session.run("create database \"\(name)\" template \"\(template)\"")
    }
    try protectLocks(in: name)
  }

  /// Locks are the whole server's, so no database may be left out.
  func makeRoles() throws(EmbeddedServerError) {
    try AdminSession(self).run(Self.makeRoles)
    for database in ["postgres", "template1"] { try protectLocks(in: database) }
  }

  private func protectLocks(in database: String) throws(EmbeddedServerError) {
    try AdminSession(self, database: database).run(Self.protectLocks)
  }

  func unprotectLocks() throws(EmbeddedServerError) {
    let databases = try AdminSession(self).run("select datname from pg_database where datallowconn")
    for database in databases.compactMap({ $0[0] }) {
      try AdminSession(self, database: database).run(Self.unprotectLocks)
    }
  }

  /// After a bulk load: until autovacuum comes, plans would be made without statistics.
  /// - Throws: `startFailed` without a connection, `initFailed` when the server says no.
  package func gatherStatistics() throws(EmbeddedServerError) {
    try AdminSession(self, database: Self.databaseName).run("analyze")
  }

  /// What the tables hold, a line a table: its rows, the sums of its exact numbers, how many of its
  /// flags are set and of its other values are there. Candles have a table a month.
  /// - Throws: `startFailed` without a connection, `initFailed` when the server says no.
  func inventory() throws(EmbeddedServerError) -> [String] {
    let session = try AdminSession(self, database: Self.databaseName)
    var lines: [String] = []
    for row in try session.run(Self.countingStatements) {
      guard let name = row[0], let statement = row[1] else { continue }
      lines.append("\(name) \(try session.run(statement).first?.first.flatMap(\.self) ?? "")")
    }
    return lines
  }

  private static let countingStatements = """
    select c.oid::regclass,
      'select row(count(*)' || string_agg(
        format(
          case
            when t.typname in ('int2', 'int4', 'int8', 'numeric') then ', sum(%I)'
            when t.typname = 'bool' then ', count(*) filter (where %I)'
            else ', count(%I)'
          end, a.attname), '' order by a.attnum)
        || ')::text from only ' || c.oid::regclass
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    where c.relkind = 'r' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    group by c.oid
    order by c.oid::regclass::text
    """

  /// Makes the indexes of texts anew where the system sorts otherwise than when they were made.
  /// - Throws: `startFailed` without a connection, `initFailed` when the server says no.
  func renewCollations() throws(EmbeddedServerError) {
    let changed = try AdminSession(self).run(
      """
      select datname
      from pg_database
      where datallowconn and datcollversion <> pg_database_collation_actual_version(oid)
      """)
    for database in changed.compactMap({ $0[0] }) {
      let session = try AdminSession(self, database: database)
      try session.run("reindex database \"\(database)\"")
      try session.run("alter database \"\(database)\" refresh collation version")
    }
  }

  /// The newest day with certificates; nil before the first.
  func lastCertifiedDay() throws(EmbeddedServerError) -> String? {
    try ofCertificates("select max(trading_day)::text from candled.day_audit")
  }

  /// The days after that one, all of them where it is nil, whose certificates all balance.
  func certifiedDays(after day: String?) throws(EmbeddedServerError) -> Int {
    let found = try ofCertificates(
      """
      select count(*)
      from (
        select
        from candled.day_audit
        where trading_day > '\(day ?? "-infinity")'
        group by trading_day
        having bool_and(balanced)
      ) d
      """)
    return found.flatMap { Int($0) } ?? 0
  }

  private func ofCertificates(_ statement: String) throws(EmbeddedServerError) -> String? {
    let session = try AdminSession(self, database: Self.databaseName)
    guard try session.run("select to_regclass('candled.day_audit')") != [[nil]] else { return nil }
    return try session.run(statement).first?.first ?? nil
  }

  /// One short connection, to the database `postgres` unless another is named.
  struct AdminSession {
    private let connection: PostgresConnection
    private let directory: String

    init(_ server: EmbeddedServer, database: String = "postgres") throws(EmbeddedServerError) {
      directory = server.directory
      let url = server.adminConnectionString(database: database) + " connect_timeout=60"
      do throws(StoreError) {
        connection = try PostgresConnection(url: url, application: "candled")
      } catch {
        throw EmbeddedServerError(
          .startFailed, sentence: "The server of \(directory) accepts no connection.",
          log: [error.message])
      }
      // A database is copied, and a whole one analysed, for as long as it takes.
      try run("set statement_timeout = 0")
    }

    @discardableResult
    func run(_ statement: String) throws(EmbeddedServerError) -> [[String?]] {
      do throws(StoreError) {
        return try connection.execute(statement, context: "cluster").textRows
      } catch {
        throw EmbeddedServerError(
          .initFailed, sentence: "The server of \(directory) refused a command on a database.",
          log: [error.message])
      }
    }
  }
}

/// What a drill asks: of the server that runs, and of the one that was restored.
extension EmbeddedServer {
  /// nil before the schema was applied.
  func content() throws(EmbeddedServerError) -> BackupDrill.Content? {
    let session = try AdminSession(self, database: Self.databaseName)
    guard try session.run("select to_regclass('candled.feed_sequence')") != [[nil]] else {
      return nil
    }
    let row =
      try session.run(
        """
        select
          (select last_seq from candled.feed_sequence),
          count(*),
          count(*) filter (where not balanced)
        from candled.day_audit
        """
      ).first ?? []
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
