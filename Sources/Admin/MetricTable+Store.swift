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
      .gauge, "candled_store_up", "0 while the store refuses commits or does not answer."
    ) { source in
      .flag(source.report.storeTrouble == nil)
    },
    Family(.counter, "candled_store_connects_total", "Connections made to the store.") { source in
      .integer(Int64(source.report.storeConnects))
    },
    counters(
      "candled_store_faults_total", "Refused commits, by why.", by: "code",
      StoreError.Code.allCases.map(\.rawValue)
    ) { engine in
      Dictionary(
        uniqueKeysWithValues: engine.status.storeFaults.map { ($0.key.rawValue, $0.value) })
    },
    counter("candled_commits_total", "Transactions made.") { $0.status.commits },
    histogram("candled_commit_duration_seconds", "From the start of a commit to its end.") {
      $0.status.commitSeconds
    },
    histogram(
      "candled_commit_lag_seconds", "From the last byte of an answer to its commit's end."
    ) {
      $0.status.lagSeconds
    },
    gauge("candled_last_commit_timestamp_seconds", "When the last commit ended.") { engine in
      engine.status.lastCommitAt.map { .microseconds($0.microseconds) }
    },
    gauge("candled_pending_candles", "Candles that wait for the store.") {
      .integer(Int64($0.pendingCandles))
    },
    gauge("candled_change_seq", "The last change of the feed this daemon wrote.") {
      .integer($0.status.sequence)
    },
    counter(
      "candled_rows_refused_total", "Rows the database would not have; they are in rejections."
    ) { $0.status.rowsRefused },
    counter("candled_notify_failures_total", "Commits made without their NOTIFY.") {
      $0.status.notifyFailures
    },
    counter("candled_prune_failures_total", "Times old changes could not be deleted.") {
      $0.status.pruneFailures
    },
    gauge("candled_notification_queue_ratio", "Share of the notification queue in use.") {
      $0.status.notificationQueue.map { .decimal($0) }
    },
  ]

  static let journal: [Family] = [
    gauge("candled_journal_position", "Entries appended.") { .integer($0.lastPosition.sequence) },
    gauge("candled_journal_synced_position", "Entries that survive a power cut.") {
      .integer($0.syncedPosition.sequence)
    },
    gauge("candled_journal_committed_position", "The entry up to which all is rows.") {
      .integer($0.status.committed.sequence)
    },
    gauge("candled_journal_backlog_entries", "Entries not interpreted yet.") {
      .integer($0.backlogEntries)
    },
    gauge("candled_journal_up", "0 while the journal refuses entries.") {
      .flag($0.status.journalFault == nil)
    },
    counters(
      "candled_journal_faults_total", "Refused entries, by why.", by: "code",
      JournalError.Code.allCases.map(\.rawValue)
    ) { engine in
      Dictionary(
        uniqueKeysWithValues: engine.status.journalFaults.map { ($0.key.rawValue, $0.value) })
    },
    counter("candled_answers_dropped_total", "Answers the journal could not take.") {
      $0.status.responsesDropped
    },
    counter("candled_journal_healings_total", "Failed syncs that were healed.") {
      $0.status.journalHealings
    },
    counter("candled_journal_entries_lost_total", "Entries no healing could bring back.") {
      $0.status.journalEntriesLost
    },
    counter(
      "candled_journal_segments_sacrificed_total", "Files deleted early: the disk was full."
    ) {
      $0.status.journalSegmentsSacrificed
    },
    gauge("candled_journal_over_limit_bytes", "Kept beyond its limit, for the store.") {
      .integer($0.status.journalBytesOver)
    },
    diskUsage("candled_journal_segments", "Its files.") { Int64($0.segments) },
    diskUsage("candled_journal_bytes", "What they take.") { $0.bytes },
    diskUsage("candled_journal_disk_bytes", "The size of the disk they lie on.") { $0.diskBytes },
    diskUsage("candled_journal_disk_free_bytes", "What may still be filled of it.") {
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
    process(.counter, "process_cpu_seconds_total", "Processor time, user and system.") {
      .microseconds($0.processorMicroseconds)
    },
    process(.gauge, "process_resident_memory_bytes", "Memory in use.") {
      .integer($0.residentBytes)
    },
    process(.gauge, "process_virtual_memory_bytes", "Address space in use.") {
      .integer($0.virtualBytes)
    },
    process(.gauge, "process_open_fds", "Open descriptors.") { .integer($0.openDescriptors) },
    process(.gauge, "process_max_fds", "Descriptors there may be.") {
      .integer($0.descriptorsMax)
    },
    process(.gauge, "process_threads", "Threads.") { .integer($0.threads) },
    process(.gauge, "process_start_time_seconds", "When it began.") {
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
