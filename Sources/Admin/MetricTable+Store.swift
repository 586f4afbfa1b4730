import Commits
import EmbeddedPostgres
import Ingest
import Journal
import Market
import Operations
import Postgres
import Store

/// What leaves the daemon, and what the journal holds until it has.
extension MetricTable {
  static let store: [Family] = [
    Family(
      .gauge, name: "candled_store_up",
      help: "0 while commits fail or the database does not respond."
    ) { report in
      .flag(report.storeTrouble == nil)
    },
    Family(
      .counter, name: "candled_store_connects_total", help: "Connections opened to the database."
    ) {
      report in
      .integer(Int64(report.storeConnects))
    },
    Family(
      .gauge, name: "candled_postgres_missing",
      help: "1 while the private PostgreSQL's programs are missing; the command installs them.",
      labels: MetricLabels(["install"], atMost: 1)
    ) { report in
      report.privateServer?.install.map { [MetricSeries([$0], value: .integer(1))] } ?? []
    },
    Family(
      .gauge, name: "candled_archive_waiting_segments",
      help: "Segments of the private PostgreSQL's log that are not in the archive yet."
    ) { report in
      report.privateServer?.backup.map { .integer(Int64($0.waitingSegments)) }
    },
    Family(
      .gauge, name: "candled_drill_passed",
      help: "1 if the last drill could restore the newest copy, 0 if not, or before the first."
    ) { report in
      report.privateServer?.backup.map { .flag($0.drill?.hasPassed ?? false) }
    },
    counters("candled_store_faults_total", help: "Failed commits, by reason.", by: "code") {
      $0.status.store.faults
    },
    counter("candled_commits_total", help: "Committed transactions.") { $0.status.commits.count },
    histogram("candled_commit_duration_seconds", help: "Duration of a commit.") {
      $0.status.commits.duration.seconds
    },
    histogram(
      "candled_commit_lag_seconds",
      help: "Time from the last byte of a response to the end of its commit."
    ) {
      $0.status.commits.lag.seconds
    },
    gauge("candled_last_commit_timestamp_seconds", help: "Time of the last commit.") { engine in
      engine.status.commits.lastAt.map { .microseconds($0.microseconds) }
    },
    gauge("candled_pending_candles", help: "Candles not yet in the database.") {
      .integer(Int64($0.backlog.pendingCandles))
    },
    counter(
      "candled_rows_refused_total", help: "Rows the database refused; the view rejections has them."
    ) { $0.status.commits.rows.refused },
    counter("candled_notify_failures_total", help: "Commits without their NOTIFY.") {
      $0.status.commits.notifyFailures
    },
    counter(
      "candled_prune_failures_total", help: "Failed deletions of old rows of ledgers."
    ) {
      $0.status.store.pruneFailures
    },
    gauge("candled_months_unordered", help: "Closed months of candles not yet in key order.") {
      $0.status.store.monthsLeft.map { .integer(Int64($0)) }
    },
    counter(
      "candled_candles_reclustered_total", help: "Candles copied to put closed months in key order."
    ) {
      Int($0.status.store.candlesReclustered)
    },
    gauge(
      "candled_notification_queue_ratio", help: "Used share of PostgreSQL's notification queue."
    ) {
      $0.status.store.notificationQueue.map { .decimal($0) }
    },
    replicas("candled_replica_up", help: "1 while a replica is connected.") {
      .flag($0.isConnected)
    },
    replicas("candled_replica_lag_bytes", help: "Log that a replica has not applied yet.") {
      $0.lagBytes.map { .integer($0) }
    },
    replicas(
      "candled_replica_lag_seconds",
      help: "Time from a commit on the primary to its application on a replica, at last."
    ) {
      $0.lagMicroseconds.map { .microseconds($0) }
    },
    replicas("candled_replica_slot_bytes", help: "Log that is kept for a replica's slot.") {
      $0.keptBytes.map { .integer($0) }
    },
    replicas(
      "candled_replica_slot_limit_bytes",
      help: "Log that may be kept for a slot; absent where it is without limit."
    ) {
      $0.keptBytes == nil ? nil : $0.limitBytes.map { .integer($0) }
    },
    replicas(
      "candled_replica_slot_lost", help: "1 for a slot that kept more than it may: it is useless."
    ) {
      .flag($0.isLost)
    },
  ]

  private static func replicas(
    _ name: String, help: String, read: @escaping @Sendable (ReplicaLink) -> MetricValue?
  ) -> Family {
    Family(
      .gauge, name: name, help: help,
      labels: MetricLabels(["replica"], atMost: ReplicaLink.countMax)
    ) { report in
      (report.engine?.status.store.replicas ?? []).compactMap { replica in
        read(replica).map { MetricSeries([replica.name], value: $0) }
      }
    }
  }

  static let journal: [Family] = [
    gauge("candled_journal_position", help: "Number of the last journal entry.") {
      .integer($0.backlog.lastPosition.sequence)
    },
    gauge(
      "candled_journal_synced_position", help: "Number of the last journal entry that is on disk."
    ) {
      .integer($0.backlog.syncedPosition.sequence)
    },
    gauge(
      "candled_journal_committed_position",
      help: "Number of the last journal entry whose rows are committed."
    ) {
      .integer($0.status.journal.committed.sequence)
    },
    gauge("candled_journal_backlog_entries", help: "Journal entries not interpreted yet.") {
      .integer($0.backlog.entries)
    },
    gauge("candled_journal_up", help: "0 while the journal cannot be written.") {
      .flag($0.status.journal.fault == nil)
    },
    counters("candled_journal_faults_total", help: "Failed journal writes, by reason.", by: "code")
    {
      $0.status.journal.faults
    },
    counter(
      "candled_answers_dropped_total",
      help: "Responses lost because the journal could not be written."
    ) {
      $0.status.journal.responsesDropped
    },
    counter(
      "candled_journal_healings_total", help: "Failed syncs of the journal that were repaired."
    ) {
      $0.status.journal.healings
    },
    counter("candled_journal_entries_lost_total", help: "Journal entries lost for good.") {
      $0.status.journal.entriesLost
    },
    counter(
      "candled_journal_segments_sacrificed_total",
      help: "Journal segments deleted early because the disk was full."
    ) {
      $0.status.journal.segmentsDeletedForRoom
    },
    gauge(
      "candled_journal_over_limit_bytes",
      help: "Size of the journal over its limit, not yet in the database."
    ) {
      .integer($0.status.journal.bytesOver)
    },
    diskUsage("candled_journal_bytes", help: "Size of the journal.") { $0.bytes },
    diskUsage("candled_journal_disk_bytes", help: "Size of the journal's disk.") { $0.diskBytes },
    diskUsage("candled_journal_disk_free_bytes", help: "Free space on the journal's disk.") {
      $0.freeBytes
    },
  ]

  private static func diskUsage(
    _ name: String, help: String, read: @escaping @Sendable (DiskUsage) -> Int64
  ) -> Family {
    Family(.gauge, name: name, help: help) { report in
      report.journal.map { .integer(read($0)) }
    }
  }
}
