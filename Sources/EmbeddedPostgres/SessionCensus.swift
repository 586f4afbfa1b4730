import Market
import Postgres

/// How the connections of the private cluster stand, as its superuser sees them: PostgreSQL 15
/// reserves connections for no one else, so only the superuser can still come in when they are out.
package struct SessionCensus: Sendable, Hashable {
  /// Everybody's session but the superuser's and the daemon's own role's.
  package struct Reader: Sendable, Hashable {
    package var process: Int32
    package var role: String
    package var application: String
    package var connectedAt: Timestamp
    /// When its statement began; nil before the first.
    package var statementAt: Timestamp?
    /// It waits for its client to take what it sends.
    package var isWriting: Bool
    /// Its transaction has a number: it changes something. Each savepoint in which it does so has a
    /// number too, and with it an entry of the lock table of all.
    package var hasTransactionID: Bool
  }

  /// Connections that are left for others than the superuser.
  package var free: Int
  /// Youngest first.
  package var readers: [Reader]
}

/// Takes the census, and ends sessions, over one connection that is made again when it is lost.
/// Blocking, but for no longer than `responseSecondsMax`; it belongs to one thread.
package final class ReaderSessions {
  private let url: String
  private var connection: PostgresConnection?

  private static let context = "sessions"
  /// A server that is stopped, or has no memory left, must not hold up who looks after it.
  private static let responseSecondsMax = 5

  /// Nothing is opened yet.
  package init(_ server: EmbeddedServer) { url = server.adminConnectionString() }

  /// - Throws: `connectionLost`, `transient`.
  package func census() throws(StoreError) -> SessionCensus {
    var census = SessionCensus(free: 0, readers: [])
    for fields in try run(Self.read) {
      census.free = fields[0].flatMap { Int($0) } ?? 0
      guard let process = fields[1].flatMap({ Int32($0) }) else { continue }
      census.readers.append(
        SessionCensus.Reader(
          process: process, role: fields[2] ?? "", application: fields[3] ?? "",
          connectedAt: Self.moment(fields[4]) ?? Timestamp(seconds: 0),
          statementAt: Self.moment(fields[5]), isWriting: fields[6] == "t",
          hasTransactionID: fields[7] == "t"))
    }
    return census
  }

  /// - Returns: whether it was there to be ended; another session may have its number by now.
  /// - Throws: as `census`.
  package func end(_ reader: SessionCensus.Reader) throws(StoreError) -> Bool {
    let ended = try run(
      """
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where pid = \(reader.process)
        and (extract(epoch from backend_start) * 1000000)::bigint
          = \(reader.connectedAt.microseconds)
      """)
    return ended == [["t"]]
  }

  package func disconnect() { connection = nil }

  private func run(_ sql: String) throws(StoreError) -> [[String?]] {
    let open: PostgresConnection
    if let connection {
      open = connection
    } else {
      open = try PostgresConnection(url: url, application: "candled supervisor")
    }
    connection = nil
    var looks = 0
    let rows = try open.execute(sql, context: Self.context, lookingEvery: 1_000) {
      () throws(StoreError) in
      looks += 1
      guard looks >= Self.responseSecondsMax else { return }
      throw StoreError(
        .connectionLost, message: "PostgreSQL does not respond within \(Self.responseSecondsMax) s",
        context: Self.context)
    }.textRows
    connection = open
    return rows
  }

  private static func moment(_ text: String?) -> Timestamp? {
    text.flatMap { Int64($0) }.map { Timestamp(microseconds: $0) }
  }

  /// `reserved_connections` is PostgreSQL 16's.
  private static let read = """
    select s.free, a.pid, a.usename, a.application_name,
      (extract(epoch from a.backend_start) * 1000000)::bigint,
      (extract(epoch from a.query_start) * 1000000)::bigint,
      a.is_writing, a.has_transaction_id
    from (
      select current_setting('max_connections')::integer
        - current_setting('superuser_reserved_connections')::integer
        - coalesce(current_setting('reserved_connections', true), '0')::integer
        - count(*) as free
      from pg_stat_activity
      where backend_type = 'client backend'
    ) s
    left join (
      select a.pid, a.usename, a.application_name, a.backend_start, a.query_start,
        a.state = 'active' and coalesce(a.wait_event = 'ClientWrite', false) as is_writing,
        -- The gateway's role has tables of its own to write.
        a.backend_xid is not null
          and not exists (
            select
            from pg_roles app
            where app.rolname = '\(DatabaseRole.app)'
              and pg_has_role(r.oid, app.oid, 'member')) as has_transaction_id
      from pg_stat_activity a
      join pg_roles r on r.oid = a.usesysid
      where a.backend_type = 'client backend'
        and \(DatabaseRole.isReader)
    ) a on true
    order by a.backend_start desc
    """
}
