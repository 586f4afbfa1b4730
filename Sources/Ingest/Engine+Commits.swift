import Commits
import Journal
import Logging
import Market
import Platform
import Polling
import Postgres

/// Where commits go. The daemon's is a `StoreWriter`.
package protocol CommitSink: Sendable {
  /// Writes everything or nothing.
  func commit(_ commit: Commit) async throws(StoreError) -> CommitReceipt
  /// What the last successful commit left.
  func load() async throws(StoreError) -> StoredState
  /// The instruments' days from `day` on that bars may make better.
  func repairCandidates(from day: TradingDay) async throws(StoreError) -> [RepairCandidate]
  /// Forgets some of what is past its horizon. Called once a day, until nothing is left.
  /// - Returns: how many rows.
  func prune(on day: TradingDay) async throws(StoreError) -> Int64
}

extension CommitSink {
  package func prune(on day: TradingDay) async throws(StoreError) -> Int64 { 0 }
}

/// The commit under way, and when to try again.
struct CommitState {
  var commit: Commit?
  /// When the last response came whose rows are in no commit yet, on the steady clock.
  var receivedSteady: Timestamp?
  /// Real time of the last answer that went into it, and the steady clock's.
  var answeredAt: Timestamp?
  var answeredSteady: Timestamp?
  var isBusy = false
  /// This and what follows on the steady clock.
  var startedAt = Timestamp(microseconds: 0)
  var failures = 0
  var retryAt: Timestamp?
  /// When rows that wait for the rest of their sweep wait no longer.
  var commitDue: Timestamp?
  /// The faults that were logged since the store last took a commit.
  var loggedFaults = Once<String>()
  /// The faults that were logged since a month was last put in order.
  var reclusteringFaults = Once<String>()
  /// The day of the commits on which ledgers were pruned last.
  var prunedOn: TradingDay?
  /// The moment on the steady clock before which pruning is not tried again after it has failed.
  var pruneAgainAt: Timestamp?
  /// Workers whose health changed, by their places.
  var staleHealth: Set<Int> = []

  var hasUnsaved: Bool { commit != nil }
  var unsavedCandles: Int { commit?.candles.count ?? 0 }
}

private let retryMillisecondsMin: Int64 = 100
/// A store that comes back has its first commit within two seconds.
private let retryMillisecondsMax: Int64 = 1_000
/// The pause between two connects, with some jitter; the gate makes it a second.
private let reconnectMillisecondsMin: Int64 = 500
/// Finding out which rows are refused takes seconds where they are many.
private let refusedMillisecondsMax: Int64 = 10_000
/// A day's rows are few: pruning them can wait, but not until the disk is full.
private let pruneRetrySeconds: Int64 = 3_600

extension Engine {
  /// The store is so far behind that interpreting more would only fill memory.
  var isBehindStore: Bool { pipeline.pendingCandles > limits.pendingCandlesMax / 4 }

  /// Starts a commit if there is something to save, nothing is being saved, and either the sweep
  /// is complete or its first rows have waited long enough.
  func startCommit() {
    guard !commitState.isBusy else { return boundMemory() }
    let steady = EngineClock.steadyNow()
    if let retryAt = commitState.retryAt, retryAt > steady { return }
    if interpretation.isJournalOnly { return load() }
    if commitState.commit == nil {
      guard isReadyToCommit(at: steady) else { return }
      commitState.commit = nextCommit()
      commitState.answeredAt = status.quotes.lastResponseAt
      commitState.answeredSteady = commitState.receivedSteady
      commitState.receivedSteady = nil
    }
    guard let commit = commitState.commit else { return }
    begin(at: steady)
    ask(
      { (store) async throws(StoreError) in try await store.commit(commit) }, then: { .saved($0) })
  }

  /// What the store answers is an event of the loop.
  func ask<Answer: Sendable>(
    _ request: @escaping @Sendable (any CommitSink) async throws(StoreError) -> Answer,
    then event: @escaping @Sendable (Result<Answer, StoreError>) -> Event
  ) {
    let (inbox, store) = (inbox, parts.store)
    // Unstructured: the loop turns meanwhile.
    Task {
      do throws(StoreError) {
        inbox.yield(event(.success(try await request(store))))
      } catch {
        inbox.yield(event(.failure(error)))
      }
    }
  }

  private func isReadyToCommit(at steady: Timestamp) -> Bool {
    guard pipeline.hasPendingRows || !commitState.staleHealth.isEmpty || isSegmentWaiting else {
      return false
    }
    if !workers.isSweeping || waiting.isStopping { return true }
    let due = commitState.commitDue ?? steady.adding(milliseconds: limits.commitDelayMilliseconds)
    commitState.commitDue = due
    return due <= steady
  }

  /// A finished segment of the journal is interpreted as a whole, and the store stands within it.
  private var isSegmentWaiting: Bool {
    let finished = parts.journal.finishedPosition
    return status.journal.committed < finished && finished <= pipeline.position
  }

  private func begin(at steady: Timestamp) {
    commitState.isBusy = true
    commitState.startedAt = steady
    commitState.commitDue = nil
    commitState.retryAt = nil
  }

  private func load() {
    begin(at: EngineClock.steadyNow())
    ask(
      { (store) async throws(StoreError) in try await store.load() }, then: { .loaded($0) })
  }

  private func nextCommit() -> Commit {
    var commit =
      pipeline.takeCommit()
      ?? Commit(
        position: pipeline.position,
        // Where nothing is known yet, the health of a source is known now, not in 1970.
        knownAt: pipeline.knownAt.microseconds == 0 ? now : pipeline.knownAt,
        bookState: pipeline.sharedState)
    commit.reference.health = commitState.staleHealth.sorted().compactMap {
      workers.slots[$0].healthRow(at: now)
    }
    commitState.staleHealth = []
    parts.log.report(commit.reference.links)
    commit.storesPosition = isSegmentWaiting
    return commit
  }

  func finishCommit(_ result: Result<CommitReceipt, StoreError>) throws {
    commitState.isBusy = false
    switch result {
    case .success(let receipt):
      report(of: receipt)
      status.commits.record(receipt, of: commitState, endedAt: EngineClock.steadyNow())
      saved(isStored: receipt.seq != nil || receipt.wasAlreadyStored)
    case .failure(let error) where error.code == .leaseLost:
      throw EngineError(error)
    case .failure(let error) where error.code == .positionConflict:
      // The answer to a commit may have been lost after it was carried out.
      load()
    case .failure(let error):
      postpone(error)
    }
  }

  /// - Parameter isStored: the store stands at its position now. A commit without rows leaves it
  ///   where it was, and the journal must reach back to there.
  func saved(isStored: Bool = true) {
    if commitState.failures > 0 { parts.log.notice("commits succeed again") }
    if let commit = commitState.commit {
      if isStored { status.journal.committed(through: commit.position) }
      if !commit.daysEnded.isEmpty { notifyWorkers(.certified) }
      pruneLedgers(on: commit.knownAt.shanghaiDay)
    }
    commitState.commit = nil
    commitState.failures = 0
    commitState.loggedFaults = Once()
    status.store.fault = nil
  }

  /// Begins with the first commit of a day, whatever its markets.
  private func pruneLedgers(on day: TradingDay) {
    if day == commitState.prunedOn { return }
    if let again = commitState.pruneAgainAt, EngineClock.steadyNow() < again { return }
    commitState.prunedOn = day
    pruneSome(on: day)
  }

  /// Commits pass between two of these.
  private func pruneSome(on day: TradingDay) {
    ask(
      { (store) async throws(StoreError) in try await store.prune(on: day) }, then: { .pruned($0) })
  }

  func finishPruning(_ result: Result<Int64, StoreError>) {
    guard case .failure(let error) = result else {
      if commitState.pruneAgainAt != nil {
        parts.log.notice("old rows of ledgers are deleted again")
      }
      commitState.pruneAgainAt = nil
      if case .success(1...) = result, let day = commitState.prunedOn, !waiting.isStopping {
        pruneSome(on: day)
      }
      return
    }
    commitState.prunedOn = nil
    commitState.pruneAgainAt = EngineClock.steadyNow().adding(seconds: pruneRetrySeconds)
    status.store.pruneFailures += 1
    parts.log.error(
      "cannot delete old rows of ledgers, will retry in an hour",
      metadata: ["error": "\(error)"])
  }

  /// What was stored and is still worth a word: on change, for a source may send what is refused
  /// with every sweep.
  private func report(of receipt: CommitReceipt) {
    if receipt.refusals.rows > 0, receipt.refusals.first != status.commits.lastRefusal {
      status.commits.lastRefusal = receipt.refusals.first
      parts.log.error(
        "the database refused rows, see the view rejections",
        metadata: ["rows": "\(receipt.refusals.rows)", "first": "\(receipt.refusals.first ?? "")"])
    }
    parts.log.report(contradictedFactors: receipt.contradictedFactors)
    guard receipt.seq != nil, receipt.notifyFault != status.commits.notifyFault else { return }
    if let fault = receipt.notifyFault {
      parts.log.error(
        "NOTIFY failed, followers find commits by their timers",
        metadata: ["error": "\(fault)"])
    } else {
      parts.log.notice("NOTIFY works again")
    }
    status.commits.notifyFault = receipt.notifyFault
  }

  /// The notification queue as it was found.
  package func record(_ queue: NotificationQueue) {
    let isFilling = queue.usage >= NotificationQueue.alarmUsage
    let wasFilling = (status.store.notificationQueue ?? .zero) >= NotificationQueue.alarmUsage
    status.store.notificationQueue = queue.usage
    if isFilling == wasFilling { return }
    guard isFilling else {
      return parts.log.notice("the notification queue is below its alarm level again")
    }
    var metadata: Logger.Metadata = ["share": "\(queue.usage)"]
    if let holder = queue.holder {
      metadata["pid"] = "\(holder.process)"
      metadata["application"] = "\(holder.application)"
      metadata["role"] = "\(holder.role)"
      metadata["open_seconds"] = "\(holder.openSeconds)"
    }
    parts.log.critical(
      "a listener does not read and the notification queue fills: end its session",
      metadata: metadata)
  }

  package func record(_ factors: ContradictedFactors) {
    status.store.contradictedFactors = factors
  }

  /// The replicas as they were found; each alarm is logged once.
  package func record(_ replicas: [ReplicaLink]) {
    let before = Dictionary(
      status.store.replicas.map { ($0.name, $0.alarm) }, uniquingKeysWith: { first, _ in first })
    status.store.replicas = replicas
    for replica in replicas {
      guard let alarm = replica.alarm, before[replica.name] != alarm else { continue }
      let metadata: Logger.Metadata = [
        "slot": "\(replica.name)", "kept_bytes": "\(replica.keptBytes ?? 0)",
        "limit_bytes": "\(replica.limitBytes ?? 0)",
      ]
      switch alarm {
      case .lost:
        parts.log.error(
          "a replication slot is lost: drop it, and make its replica anew", metadata: metadata)
      case .nearLimit:
        parts.log.error(
          "a replication slot is near its limit: start its replica, or drop the slot",
          metadata: metadata)
      case .unlimited:
        parts.log.warning(
          "a replication slot may fill the server's disk: set max_slot_wal_keep_size",
          metadata: metadata)
      }
    }
  }

  func postpone(_ error: StoreError) {
    commitState.failures += 1
    let backoff = retryMillisecondsMin << Int64(min(commitState.failures, 8))
    let range: ClosedRange<Int64> =
      switch error.code {
      case .connectionLost, .operatorNeeded: reconnectMillisecondsMin...retryMillisecondsMax
      case .refused, .rowRefused:
        min(backoff, refusedMillisecondsMax) / 2...min(backoff, refusedMillisecondsMax)
      default: min(backoff, retryMillisecondsMax) / 2...min(backoff, retryMillisecondsMax)
      }
    commitState.retryAt = EngineClock.steadyNow().adding(milliseconds: .random(in: range))
    if commitState.loggedFaults.isNew(error.description) {
      parts.log.error("commit failed, will retry", metadata: ["error": "\(error)"])
    }
    status.store.refused(error.code)
    boundMemory()
  }

  /// A store that refuses and one that never answers cost the same memory.
  private func boundMemory() {
    guard pipeline.pendingCandles > limits.pendingCandlesMax, interpretation.catchUp == nil
    else { return }
    forgetInterpretation()
  }
}

extension Commit {
  /// The days whose certificates it holds.
  fileprivate var daysEnded: [TradingDay] {
    events.compactMap { if case .dayComplete(let day, _, _) = $0 { day } else { nil } }
  }
}

extension SourceState.Condition {
  /// The state as the store keeps it.
  var word: SourceHealthRow.State {
    switch self {
    case .ok: .up
    case .degraded: .degraded
    case .stalled, .banned, .unauthorised: .down
    }
  }
}

extension Logger {
  package func report(contradictedFactors: [String]) {
    if contradictedFactors.isEmpty { return }
    critical(
      "a file of factors contradicts the exchange and is not used there, see the view factors",
      metadata: ["days": "\(contradictedFactors.joined(separator: ", "))"])
  }
}
