import Market

/// A replica as its primary sees it: by its replication slot, by its session, or by both. A slot
/// keeps the log that its replica has not taken, also of one that is gone for good: up to
/// `max_slot_wal_keep_size`, and then the slot is lost, and the replica with it.
package struct ReplicaLink: Sendable, Hashable {
  /// Of the slot; without one, the application name of the session.
  package var name: String
  package var isConnected: Bool
  /// Whether there is a slot that is of no use any more.
  package var isLost = false
  /// Of the log, kept for the slot.
  package var keptBytes: Int64?
  /// What a slot may keep; nil: without limit.
  package var limitBytes: Int64?
  /// Of the log, not applied yet; nil while it is not connected, or to who may not see it.
  package var lagBytes: Int64?
  package var lagMicroseconds: Int64?

  /// Enough is left to look after a replica that fell behind.
  package static let alarmPercent: Int64 = 70
  package static let countMax = 8

  /// In a state that somebody should look at.
  package enum Alarm: String, Sendable {
    case lost
    case nearLimit = "near_limit"
    case unlimited
  }

  package var alarm: Alarm? {
    if isLost { return .lost }
    guard let keptBytes else { return nil }
    guard let limitBytes else { return .unlimited }
    return keptBytes >= limitBytes / 100 * Self.alarmPercent ? .nearLimit : nil
  }

  /// For people.
  package var sentence: String {
    if isLost { return "its slot is lost: drop it, and make the replica anew" }
    var parts = [isConnected ? "connected" : "not connected"]
    if let lagBytes { parts.append("\(lagBytes) bytes behind") }
    if let keptBytes {
      let limit = limitBytes.map { "of at most \($0 >> 20)" } ?? "without a limit,"
      parts.append("\(keptBytes >> 20) MiB \(limit) kept for its slot")
    }
    return parts.joined(separator: ", ")
  }
}

extension ReplicaLink {
  private static let readAll = Statement(
    name: "read_replicas",
    sql: """
      with here as (
        select
          case
            when pg_is_in_recovery() then pg_last_wal_replay_lsn()
            else pg_current_wal_lsn()
          end as place
      )
      select coalesce(s.slot_name, nullif(r.application_name, ''), 'replica')::text,
        bool_or(r.pid is not null or coalesce(s.active, false)),
        bool_or(coalesce(s.wal_status = 'lost', false)),
        max(pg_wal_lsn_diff(here.place, s.restart_lsn)::bigint),
        (
          select nullif(setting::bigint, -1) * 1048576
          from pg_settings
          where name = 'max_slot_wal_keep_size'
        ),
        max(pg_wal_lsn_diff(here.place, r.replay_lsn)::bigint),
        max(
          case
            when r.replay_lsn is not null
            then coalesce(extract(epoch from r.replay_lag) * 1000000, 0)
          end::bigint)
      from pg_replication_slots s
      full join pg_stat_replication r on r.pid = s.active_pid
      cross join here
      where (s.slot_name is not null and not s.temporary)
          and (s.database is null or s.database = current_database())
        or (s.slot_name is null and r.state in ('streaming', 'catchup'))
      group by 1
      order by 4 desc nulls last, 1
      limit \(countMax)
      """)

  /// Those of the database, and the server's standbys: what keeps most of the log comes first.
  /// - Throws: `connectionLost`, `transient`.
  package static func all(of connection: PostgresConnection) throws(StoreError) -> [ReplicaLink] {
    try connection.read(readAll, context: "replicas") { (row) throws(StoreError) in
      ReplicaLink(
        name: try row.text(), isConnected: try row.bool(), isLost: try row.bool(),
        keptBytes: try row.optionalInt64(), limitBytes: try row.optionalInt64(),
        lagBytes: try row.optionalInt64(), lagMicroseconds: try row.optionalInt64())
    }
  }
}
