import Market

/// Who is in the way of a session that waits for a lock. It must be asked while it waits, from
/// another session: afterwards nothing is known of it.
final class Blockers {
  private let process: Int32
  private let url: String
  private var connection: PostgresConnection?
  private var found: [[String?]] = []
  private var endedProcesses: Set<String> = []
  /// For people: readers whose session was ended.
  private(set) var ended: [String] = []

  /// Nothing is opened yet.
  init(of process: Int32, url: String) {
    self.process = process
    self.url = url
  }

  /// Remembers those in the way now; that they cannot be asked for is no fault.
  /// - Parameter endingReaders: ends the sessions of readers, which takes a superuser.
  func look(endingReaders: Bool) {
    do throws(StoreError) {
      let asking: PostgresConnection
      if let connection {
        asking = connection
      } else {
        asking = try PostgresConnection(url: url, application: "candled schema")
      }
      connection = asking
      let rows = try asking.execute(
        blockersQuery(endingReaders: endingReaders), context: "schema apply"
      ).textRows
      if !rows.isEmpty { found = rows }
      for row in rows where row[2] == "t" {
        guard let process = row[0], let sentence = row[1] else { continue }
        if endedProcesses.insert(process).inserted { ended.append(sentence) }
      }
    } catch {
      connection = nil
    }
  }

  /// Their numbers.
  var processes: [String?] { found.map { $0.first ?? nil } }

  /// For people: who it was, and what to do.
  var sentence: String {
    guard !found.isEmpty else { return "another session holds a lock on the schema" }
    return found.compactMap { $0[1] }.joined(separator: "; ")
      + ": end its transaction there, or run select pg_terminate_backend(PID)"
  }

  /// What another role is doing is hidden from who is no superuser; its number and name are not.
  private func blockersQuery(endingReaders: Bool) -> String {
    """
    select a.pid, format(
      'session %s (%s%s%s) blocks the schema',
      a.pid,
      coalesce(a.usename, a.backend_type),
      coalesce(', ' || nullif(a.application_name, ''), ''),
      case
        when a.xact_start is not null then
          format(
            ', %s, in a transaction for %s s',
            a.state,
            extract(epoch from clock_timestamp() - a.xact_start)::bigint)
        else ''
      end),
      case
        when \(endingReaders ? DatabaseRole.isReader : "false") then pg_terminate_backend(a.pid)
      end
    from pg_stat_activity a
    left join pg_roles r on r.oid = a.usesysid
    where a.pid = any (pg_blocking_pids(\(process)))
    order by a.pid
    """
  }
}
