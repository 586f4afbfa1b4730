import Commits
import Market
import Operations
import Postgres

/// What commits have stored since the start, and how long they took.
package struct CommitAccount: Sendable {
  package var count = 0
  /// Number of the last change written.
  package var sequence: Int64 = 0
  /// Real time of the last commit, and of the last answer in it.
  package var lastAt: Timestamp?
  package var answeredAt: Timestamp?
  /// The time from a commit's start to its end.
  package var duration = Latency()
  /// The time from the last byte of the responses in a commit to its end.
  package var lag = Latency()
  package var rows = RowCounts()
  /// Why rows were refused, the last time that was logged.
  package var lastRefusal: String?
  /// Commits that were made without their NOTIFY.
  package var notifyFailures = 0
  package var notifyFault: StoreError?

  package struct RowCounts: Sendable {
    package var candles = 0
    package var gapsOpened = 0
    package var gapsClosed = 0
    package var revisions = 0
    package var disagreements = 0
    /// Rows the database would not have; they are in `rejected`.
    package var refused = 0
  }

  /// The last one, and all of them.
  package struct Latency: Sendable {
    package var microseconds: Int64 = 0
    package private(set) var seconds = MetricHistogram()

    package mutating func record(microseconds: Int64) {
      self.microseconds = microseconds
      seconds.record(microseconds: microseconds)
    }
  }

  mutating func record(_ receipt: CommitReceipt, of state: CommitState, endedAt end: Timestamp) {
    count += 1
    answeredAt = state.answeredAt
    if let seq = receipt.seq { sequence = seq }
    if receipt.notifyFault != nil { notifyFailures += 1 }
    rows.add(receipt)
    duration.record(microseconds: end.microseconds(since: state.startedAt))
    lastAt = EngineClock.realNow()
    if let answered = state.answeredSteady {
      lag.record(microseconds: end.microseconds(since: answered))
    }
  }
}

extension CommitAccount.RowCounts {
  fileprivate mutating func add(_ receipt: CommitReceipt) {
    candles += receipt.candles
    gapsOpened += receipt.gaps
    gapsClosed += receipt.repairs.closedGaps
    revisions += receipt.revisions
    disagreements += receipt.repairs.disagreements
    refused += receipt.refusals.rows
  }
}

/// The database, as commits and queries find it.
package struct StoreAccount: Sendable {
  /// nil while it takes commits.
  package var fault: Fault?
  /// Every refusal since the start, those of the same kind in a row included.
  package var faults: [StoreError.Code: Int] = [:]
  /// Times that old changes of the feed could not be deleted.
  package var pruneFailures = 0
  /// Closed months of candles that are not in key order; nil before the first look.
  package var monthsLeft: Int?
  /// Candles copied to put months in order.
  package var candlesReclustered: Int64 = 0
  /// Used share of the server's notification queue; nil where it is not known.
  package var notificationQueue: ExactDecimal?
  /// As they were found last.
  package var contradictedFactors = ContradictedFactors()
  /// The replicas as they were found last.
  package var replicas: [ReplicaLink] = []

  package struct Fault: Sendable, Hashable {
    package var code: StoreError.Code
    /// Real time of the first refusal.
    package var since: Timestamp
  }

  mutating func refused(_ code: StoreError.Code) {
    fault = Fault(code: code, since: fault?.since ?? EngineClock.realNow())
    faults[code, default: 0] += 1
  }
}
