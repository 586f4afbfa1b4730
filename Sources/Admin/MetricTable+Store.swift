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
      .gauge, "candled_store_up", "0 while commits fail or the database does not respond."
    ) { source in
      .flag(source.report.storeTrouble == nil)
    },
    Family(.counter, "candled_store_connects_total", "Connections opened to the database.") {
      source in
      .integer(Int64(source.report.storeConnects))
    },
    counters(
      "candled_store_faults_total", "Failed commits, by reason.", by: "code",
      StoreError.Code.allCases.map(\.rawValue)
    ) { engine in
      Dictionary(
        uniqueKeysWithValues: engine.status.storeFaults.map { ($0.key.rawValue, $0.value) })
    },
    counter("candled_commits_total", "Committed transactions.") { $0.status.commits },
    histogram("candled_commit_duration_seconds", "Duration of a commit.") {
      $0.status.commitSeconds
    },
    histogram(
      "candled_commit_lag_seconds",
      "Time from the last byte of a response to the end of its commit."
    ) {
      $0.status.lagSeconds
    },
    gauge("candled_last_commit_timestamp_seconds", "Time of the last commit.") { engine in
      engine.status.lastCommitAt.map { .microseconds($0.microseconds) }
    },
    gauge("candled_pending_candles", "Candles not yet in the database.") {
      .integer(Int64($0.pendingCandles))
    },
    gauge("candled_change_seq", "Number of the last change this daemon wrote.") {
      .integer($0.status.sequence)
    },
    counter(
      "candled_rows_refused_total", "Rows the database refused; the view rejections has them."
    ) { $0.status.rowsRefused },
    counter("candled_notify_failures_total", "Commits without their NOTIFY.") {
      $0.status.notifyFailures
    },
    counter("candled_prune_failures_total", "Failed deletions of old rows of the table change.") {
      $0.status.pruneFailures
    },
    gauge("candled_notification_queue_ratio", "Used share of PostgreSQL's notification queue.") {
      $0.status.notificationQueue.map { .decimal($0) }
    },
  ]

  static let journal: [Family] = [
    gauge("candled_journal_position", "Number of the last journal entry.") {
      .integer($0.lastPosition.sequence)
    },
    gauge("candled_journal_synced_position", "Number of the last journal entry that is on disk.") {
      .integer($0.syncedPosition.sequence)
    },
    gauge(
      "candled_journal_committed_position",
      "Number of the last journal entry whose rows are committed."
    ) {
      .integer($0.status.committed.sequence)
    },
    gauge("candled_journal_backlog_entries", "Journal entries not interpreted yet.") {
      .integer($0.backlogEntries)
    },
    gauge("candled_journal_up", "0 while the journal cannot be written.") {
      .flag($0.status.journalFault == nil)
    },
    counters(
      "candled_journal_faults_total", "Failed journal writes, by reason.", by: "code",
      JournalError.Code.allCases.map(\.rawValue)
    ) { engine in
      Dictionary(
        uniqueKeysWithValues: engine.status.journalFaults.map { ($0.key.rawValue, $0.value) })
    },
    counter(
      "candled_answers_dropped_total", "Responses lost because the journal could not be written."
    ) {
      $0.status.responsesDropped
    },
    counter("candled_journal_healings_total", "Failed syncs of the journal that were repaired.") {
      $0.status.journalHealings
    },
    counter("candled_journal_entries_lost_total", "Journal entries lost for good.") {
      $0.status.journalEntriesLost
    },
    counter(
      "candled_journal_segments_sacrificed_total",
      "Journal segments deleted early because the disk was full."
    ) {
      $0.status.journalSegmentsSacrificed
    },
    gauge(
      "candled_journal_over_limit_bytes",
      "Size of the journal over its limit, not yet in the database."
    ) {
      .integer($0.status.journalBytesOver)
    },
    diskUsage("candled_journal_segments", "Segments of the journal.") { Int64($0.segments) },
    diskUsage("candled_journal_bytes", "Size of the journal.") { $0.bytes },
    diskUsage("candled_journal_disk_bytes", "Size of the journal's disk.") { $0.diskBytes },
    diskUsage("candled_journal_disk_free_bytes", "Free space on the journal's disk.") {
      $0.freeBytes
    },
  ]

  private static func diskUsage(
    _ name: String, _ help: String, _ read: @escaping @Sendable (DiskUsage) -> Int64
  ) -> Family {
    Family(.gauge, name, help) { source in
      source.report.journal.map { .integer(read($0)) }
    }
  }

  static let process: [Family] = [
    process(.counter, "process_cpu_seconds_total", "CPU time, user and system.") {
      .microseconds($0.processorMicroseconds)
    },
    process(.gauge, "process_resident_memory_bytes", "Resident memory.") {
      .integer($0.residentBytes)
    },
    process(.gauge, "process_virtual_memory_bytes", "Virtual memory.") {
      .integer($0.virtualBytes)
    },
    process(.gauge, "process_open_fds", "Open file descriptors.") { .integer($0.openDescriptors) },
    process(.gauge, "process_max_fds", "Limit of open file descriptors.") {
      .integer($0.descriptorsMax)
    },
    process(.gauge, "process_threads", "Threads.") { .integer($0.threads) },
    process(.gauge, "process_start_time_seconds", "Start time of the process.") {
      .microseconds($0.startedAtMicroseconds)
    },
  ]

  private static func process(
    _ kind: Family.Kind, _ name: String, _ help: String,
    _ read: @escaping @Sendable (ProcessReport) -> MetricValue
  ) -> Family {
    Family(kind, name, help) { source in read(source.report.process) }
  }
}
