import Market
import Platform
import Postgres

/// The connection that puts months in order: each call is a statement, and a transaction, of its
/// own. Blocking; `Reclustering` owns it.
final class ReclusteringSession {
  private let connection: PostgresConnection
  private static let context = "recluster"

  struct Month: Equatable {
    var firstDay: TradingDay
    /// `2026-07`.
    var name: String { String("\(firstDay)".prefix(7)) }
  }

  /// - Throws: `connectionLost`, `schemaMismatch`, `badAddress`, `operatorNeeded`.
  init(url: String, gate: ConnectGate?) throws(StoreError) {
    connection = try gate.pass(.writer) { () throws(StoreError) in
      try PostgresConnection(url: url, application: "candled recluster")
    }
    try SchemaVersion.candled.require(connection)
    try connection.execute(
      """
      set statement_timeout = '\(Self.stepHoursMax)h';
      set idle_session_timeout = '\(Self.idleMinutesMax)min'
      """, context: Self.context)
  }

  /// A daemon that is frozen keeps the lock no longer; the pauses for a lock are of some minutes.
  private static let idleMinutesMax = 15

  /// An index of the largest month on the slowest disk.
  private static let stepHoursMax = 1

  private static let lock = Statement(
    name: "lock_reclustering",
    sql: "select pg_try_advisory_lock(\(lockNumber))")

  /// Any number that others do not use: the schema's name in ASCII.
  private static let lockNumber: Int64 = 0x63_61_6E_64_6C_65_64

  /// Whether nobody else puts months in order, until this session ends. A reader could take the
  /// lock: then candles stay where they are.
  func isAlone() throws(StoreError) -> Bool {
    var row = try connection.run(Self.lock, context: Self.context).row(0)
    return try row.bool()
  }

  private static let closed = Statement(
    name: "closed_months",
    sql: """
      select m.month
      from candle_month m
      join pg_class c on c.oid = to_regclass(to_char(m.month, '"candle_"YYYY"_"MM'))
      where m.month + interval '1 month' <= $1::date
        and (
          m.ordered_at is null
          or m.copied is not null
          or c.reltuples > m.rows * 1.1)
      order by m.copied is null, m.month desc
      """)

  /// Those not in order, or grown by more than a tenth since: one that was begun first, then the
  /// newest.
  func months(closedBy day: TradingDay) throws(StoreError) -> [Month] {
    var parameters = WireParameters()
    parameters.add { $0.date(day) }
    return try connection.read(Self.closed, with: parameters, context: Self.context) {
      row throws(StoreError) in Month(firstDay: try row.day())
    }
  }

  private static let step = Statement(
    name: "recluster_month", sql: "select step, moved from recluster_month($1::date)")

  func step(of month: Month) throws(StoreError) -> (step: String, moved: Int64) {
    var row = try run(Self.step, for: month)
    return (try row.text(), try row.int64())
  }

  private static let swap = Statement(name: "swap_month", sql: "select swap_month($1::date)")

  /// - Returns: false if candles were written meanwhile.
  func swap(_ month: Month) throws(StoreError) -> Bool {
    var row = try run(Self.swap, for: month)
    return try row.bool()
  }

  private static let count = Statement(
    name: "candles_of_month", sql: "select rows from candle_month where month = $1::date")

  func candles(in month: Month) throws(StoreError) -> Int64 {
    var row = try run(Self.count, for: month)
    return try row.int64()
  }

  private static let running = Statement(
    name: "running_transactions",
    sql: """
      select l.virtualtransaction, l.pid
      from pg_locks l
      join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'virtualxid'
        and l.virtualxid = l.virtualtransaction
        and l.pid <> pg_backend_pid()
        and a.datname = current_database()
        and a.usesysid is not null
      """)

  /// Those of all sessions of this database but the server's own, with their processes. Who has a
  /// snapshot has a transaction.
  func transactions() throws(StoreError) -> [String: Int32] {
    let found = try connection.read(Self.running, context: Self.context) {
      row throws(StoreError) in (try row.text(), try row.int32())
    }
    return Dictionary(found) { first, _ in first }
  }

  private func run(_ statement: Statement, for month: Month) throws(StoreError) -> PostgresRow {
    var parameters = WireParameters()
    parameters.add { $0.date(month.firstDay) }
    return try connection.run(statement, with: parameters, context: Self.context).row(0)
  }
}

// MARK: - Space

extension ReclusteringSession {
  /// What of the database's disk a month takes while there are two of it, and what is free.
  struct Space: Equatable {
    var monthBytes: Int64
    var neededBytes: Int64
    var folder: String?
    /// nil where it is not known.
    var freeBytes: Int64?

    /// Why it is not begun; nil if it may be.
    func refusal(of month: Month) -> String? {
      guard let folder, let freeBytes else {
        return "closed months of candles are not put in key order: it is not known how much of the "
          + "database's disk is free; set store.data_directory to a folder on that disk"
      }
      guard freeBytes < neededBytes else { return nil }
      return "the candles of \(month.name) are not put in key order: that takes "
        + "\(neededBytes.megabytes) of \(folder) for a while, and \(freeBytes.megabytes) are free"
    }
  }

  /// What is copied already is not needed again. The write-ahead log takes as much as it may.
  private static let space = Statement(
    name: "space_of_month",
    sql: """
      select
        pg_total_relation_size(to_regclass(t.name)),
        coalesce(pg_total_relation_size(to_regclass(t.name || '_ordered')), 0),
        pg_size_bytes(current_setting('max_wal_size')),
        (
          select s.setting
          from pg_settings s
          where s.name = 'data_directory'
            and (inet_server_addr() is null or host(inet_server_addr()) in ('127.0.0.1', '::1')))
      from to_char($1::date, '"candle_"YYYY"_"MM') t (name)
      """)

  func space(for month: Month, folder: String?) throws(StoreError) -> Space {
    var row = try run(Self.space, for: month)
    let (monthBytes, copiedBytes, logBytes) = (try row.int64(), try row.int64(), try row.int64())
    let named = try row.optionalText()
    let folder = folder ?? named
    return Space(
      monthBytes: monthBytes, neededBytes: monthBytes * 13 / 10 - copiedBytes + logBytes,
      folder: folder, freeBytes: folder.flatMap { Folder.freeBytes(of: $0) })
  }
}
