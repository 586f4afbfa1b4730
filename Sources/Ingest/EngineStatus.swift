import Feeds
import Journal
import Market
import Operations
import Polling
import Postgres
import Store
import Transport

/// What an engine is doing, for the terminal view, the logs and the counters.
package struct EngineStatus: Sendable {
  package var sweeps = 0
  package var lastSweepAt: Timestamp?
  /// Simulated seconds of the last sweeps, newest last.
  private var sweepMoments: [Timestamp] = []
  /// Real time of the last answer and of the last commit.
  package var lastResponseAt: Timestamp?
  package var lastCommitAt: Timestamp?
  package var commits = 0
  /// Real time of the last answer in the last commit.
  package var answeredAt: Timestamp?
  /// Of the last commit: from its start, and from the last byte of the answers in it, µs.
  package var commitMicroseconds: Int64 = 0
  package var lagMicroseconds: Int64 = 0
  package var commitSeconds = MetricHistogram()
  package var lagSeconds = MetricHistogram()
  /// What commits have stored since the start.
  package var candlesSaved = 0
  package var gapsOpened = 0
  package var gapsClosed = 0
  package var revisionsSaved = 0
  package var disagreements = 0
  /// Share of the server's notification queue in use, where the store tells.
  package var notificationQueue: ExactDecimal?
  package var sequence: Int64 = 0
  package var transportFaults: [TransportError.Code: Int] = [:]
  /// The journal's entries up to here are rows.
  package var committed = JournalPosition.start
  package var journalFault: JournalError.Code?
  /// Answers the journal could not take: what they told is a gap.
  package var responsesDropped = 0
  /// Answers not taken because their date contradicts our clock.
  package var responsesOutOfTime = 0
  /// How much of the journal is over its limit because the store has not taken it.
  package var journalBytesOver: Int64 = 0
  package var isJournalUntidy = false
  /// Segments deleted before their time because the disk was full.
  package var journalSegmentsSacrificed = 0
  /// Failed syncs healed, and entries that none could bring back.
  package var journalHealings = 0
  package var journalEntriesLost = 0
  /// Jumps of the wall clock seen, and how often our time moved by one or was corrected.
  package var wallClockJumps = 0
  package var clockCorrections = 0
  /// The exchange contradicts the wall clock; time runs on without it.
  package var isWallClockRefused = false
  package var storeFault: StoreError.Code?
  /// Real time of the first refusal.
  package var storeFaultSince: Timestamp?
  /// The same, as a sentence.
  package var storeFaultText: String?
  /// Rows the database would not have; they are in `rejected`.
  package var rowsRefused = 0
  /// Why, the last time that was logged.
  package var lastRefusal: String?
  /// Commits that were made without their NOTIFY.
  package var notifyFailures = 0
  /// Times that old changes of the feed could not be deleted.
  package var pruneFailures = 0
  package var notifyFault: StoreError?
  /// Every refusal since the start, those of the same kind in a row included.
  package var journalFaults: [JournalError.Code: Int] = [:]
  package var storeFaults: [StoreError.Code: Int] = [:]

  package init() {}

  /// Sweeps completed in the minute before `now`.
  package func sweepsInLastMinute(at now: Timestamp) -> Int {
    sweepMoments.count { $0 > now.adding(seconds: -60) }
  }

  mutating func sweepCompleted(at now: Timestamp) {
    sweeps += 1
    lastSweepAt = now
    sweepMoments.append(now)
    if sweepMoments.count > EngineStatus.sweepMomentsMax { sweepMoments.removeFirst() }
  }

  /// A minute of sweeps at the shortest cadence a source publishes in.
  private static let sweepMomentsMax = 64

  mutating func failed(_ code: TransportError.Code) {
    transportFaults[code, default: 0] += 1
  }

  mutating func saved(
    _ receipt: CommitReceipt, answeredAt: Timestamp?, answeredSteady: Timestamp?,
    from start: Timestamp, to end: Timestamp
  ) {
    commits += 1
    self.answeredAt = answeredAt
    if let seq = receipt.seq { sequence = seq }
    candlesSaved += receipt.candles
    rowsRefused += receipt.refusals.rows
    if receipt.notifyFault != nil { notifyFailures += 1 }
    gapsOpened += receipt.gaps
    gapsClosed += receipt.repairs.closedGaps
    revisionsSaved += receipt.revisions
    disagreements += receipt.repairs.disagreements
    commitMicroseconds = end.microseconds(since: start)
    commitSeconds.record(microseconds: commitMicroseconds)
    lastCommitAt = EngineClock.realNow()
    if let answeredSteady {
      lagMicroseconds = end.microseconds(since: answeredSteady)
      lagSeconds.record(microseconds: lagMicroseconds)
    }
  }
}
