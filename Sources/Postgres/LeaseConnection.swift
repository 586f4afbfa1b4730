import Market

/// The connection that asks for the lease and renews it, apart from the writer's, so that a slow
/// commit never costs the lead. Blocking; it belongs to one thread.
///
/// Time is the server's clock alone: two machines need not agree on theirs. Whoever restarts takes
/// its own lease up at once, for its journal's lock admits one process; everybody else waits until
/// it has run out. That a holder which has run out is renewed if nobody came is harmless: nobody
/// wrote in between.
package final class LeaseConnection {
  private let url: String
  private let holder: String
  private let host: String
  private let milliseconds: Int64
  private let gate: ConnectGate?
  private var connection: PostgresConnection?

  /// As `StoreWriter` reports itself to the server.
  package static let writerApplication = "candled writer"
  private static let context = "lease"
  private static let evictionMillisecondsMax: Int32 = 1_000

  /// Nothing is opened yet.
  /// - Parameters:
  ///   - holder: the identity of the journal.
  ///   - host: the machine; the same identity on two machines is a copied folder, and waits.
  ///   - milliseconds: the lease's length.
  ///   - gate: what a daemon's connections pass.
  package init(
    url: String, holder: String, host: String, milliseconds: Int64, gate: ConnectGate? = nil
  ) {
    self.url = url
    self.holder = holder
    self.host = host
    self.milliseconds = milliseconds
    self.gate = gate
  }

  /// Asks for the lease. Nobody leads on a replica.
  /// - Throws: `connectionLost`, `transient`, `operatorNeeded`, `schemaMismatch`, `badAddress`,
  ///   `refused`.
  package func take() throws(StoreError) -> LeaseAttempt {
    try asking { (connection) throws(StoreError) in
      var row = try connection.run(Self.read, context: Self.context).row(0)
      let found = try row.lease()
      let isOwn = found.holder == holder && found.host == host
      guard isOwn || found.isExpired else { return .held(found) }
      guard let term = try acquire(connection) else {
        var row = try connection.run(Self.read, context: Self.context).row(0)
        return .held(try row.lease())
      }
      // What earlier writers left open would hold up the rows they touched.
      evictWriters(connection)
      return .taken(
        Lease(term: term, holder: holder, milliseconds: milliseconds), before: found)
    }
  }

  /// - Throws: `leaseLost` if another term has begun; else as `take`, and it may be tried again.
  package func renew(_ lease: Lease) throws(StoreError) {
    try asking { (connection) throws(StoreError) in
      let parameters = WireParameters(
        .int64(lease.term), .text(lease.holder), .int64(lease.milliseconds * 1_000))
      guard try connection.run(Self.extend, with: parameters, context: Self.context).rowCount == 0
      else { return }
      var row = try connection.run(Self.read, context: Self.context).row(0)
      throw StoreError.leaseLost(lease.term, to: try row.lease().term, context: Self.context)
    }
  }

  /// Lets the others take it at once. Does nothing if it is another's already.
  package func release(_ lease: Lease) throws(StoreError) {
    try asking { (connection) throws(StoreError) in
      let parameters = WireParameters(.int64(lease.term), .text(lease.holder), .int64(0))
      try connection.run(Self.extend, with: parameters, context: Self.context)
    }
  }

  /// The next call connects again.
  package func disconnect() { connection = nil }

  private func asking<Response>(
    _ body: (PostgresConnection) throws(StoreError) -> Response
  ) throws(StoreError) -> Response {
    let connection: PostgresConnection
    if let open = self.connection { connection = open } else { connection = try connect() }
    self.connection = connection
    do throws(StoreError) {
      return try body(connection)
    } catch {
      if error.code == .connectionLost { self.connection = nil }
      throw error
    }
  }

  /// Whatever hangs must be given up before the lease runs out.
  private func connect() throws(StoreError) -> PostgresConnection {
    let connection = try gate.pass(.lease) { () throws(StoreError) in
      try PostgresConnection(
        url: url, application: "candled lease", unacknowledgedMilliseconds: Int(milliseconds / 3))
    }
    try SchemaVersion.candled.require(connection)
    try ReplicaCheck.requirePrimary(connection)
    try connection.execute(
      "set statement_timeout = \(milliseconds / 3); set lock_timeout = \(milliseconds / 6)",
      context: "connect")
    return connection
  }
}

// MARK: - SQL

extension LeaseConnection {
  /// As `PostgresRow.lease` reads them.
  static let columns = """
    l.term, l.holder, l.host,
      case
        when l.expires_at = '-infinity' then 0
        else (extract(epoch from l.expires_at - clock_timestamp()) * 1000000)::bigint
      end
    """

  private static let read = Statement(
    name: "read_lease",
    sql: """
      select \(columns)
      from lease l
      """)

  /// The clock is read once the row is locked, and again if it had to be waited for.
  private static let takeOver = Statement(
    name: "take_lease",
    sql: """
      with taken as (
        update lease
        set term = term + 1, holder = $1::text, host = $2::text, acquired_at = clock_timestamp(),
          expires_at = clock_timestamp() + $3::bigint * interval '1 microsecond'
        where (holder = $1::text and host = $2::text)
          or expires_at <= clock_timestamp()
        returning term, holder, host, acquired_at
      )
      insert into lease_term (term, holder, host, acquired_at)
      select term, holder, host, acquired_at
      from taken
      returning term
      """)

  private static let extend = Statement(
    name: "extend_lease",
    sql: """
      update lease
      set expires_at = clock_timestamp() + $3::bigint * interval '1 microsecond'
      where term = $1::bigint
        and holder = $2::text
      returning term
      """)

  private static let evict = Statement(
    name: "evict_writers",
    sql: """
      select count(pg_terminate_backend(pid, $1::int))
      from pg_stat_activity
      where datname = current_database()
        and usename = current_user
        and application_name = '\(writerApplication)'
      """)

  /// A new term waits for commits of the old one that are under way. One whose daemon was stopped
  /// between its last statement and its commit would be waited for until that daemon goes on: its
  /// session is ended.
  /// - Returns: nil if somebody else was quicker.
  private func acquire(_ connection: PostgresConnection) throws(StoreError) -> Int64? {
    do throws(StoreError) {
      return try attempt(connection)
    } catch  where error.sqlState == StoreError.lockNotAvailable {
      evictWriters(connection)
      return try attempt(connection)
    }
  }

  private func attempt(_ connection: PostgresConnection) throws(StoreError) -> Int64? {
    let parameters = WireParameters(.text(holder), .text(host), .int64(milliseconds * 1_000))
    let response = try connection.run(Self.takeOver, with: parameters, context: Self.context)
    guard response.rowCount == 1 else { return nil }
    var row = response.row(0)
    return try row.int64()
  }

  /// Only our own role's, and only politely: the fence does not need it. A writer that is no
  /// fossil connects again and is told that its term is over.
  private func evictWriters(_ connection: PostgresConnection) {
    let parameters = WireParameters(.int32(Self.evictionMillisecondsMax))
    _ = try? connection.run(Self.evict, with: parameters, context: Self.context)
  }
}

extension StoreError {
  package static func leaseLost(_ term: Int64, to later: Int64, context: String) -> StoreError {
    StoreError(
      .leaseLost,
      message: "term \(term) is over, the database is in term \(later): another daemon leads",
      context: context)
  }
}
