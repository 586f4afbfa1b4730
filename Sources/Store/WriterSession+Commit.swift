import Commits
import Market
import Postgres

/// One transaction a commit, in a fixed order: fence, instruments, quotes, candles, ledger, and
/// last, only if a row was written, ranges, journal position, sequence, change row and NOTIFY, so
/// that the locks every writer needs are held for the shortest time.
extension WriterSession {
  /// How often a commit is started again because another writer took its seq or an instrument id.
  static let attemptsMax = 10

  /// - Throws: `leaseLost`, `positionConflict`, `refused`, `transient`, `connectionLost`.
  func commit(_ commit: Commit) throws(StoreError) -> CommitReceipt {
    commit.isEmpty && !commit.storesPosition
      ? CommitReceipt() : try store(commit, from: .journal)
  }

  func store(_ commit: Commit, from origin: CommitOrigin) throws(StoreError) -> CommitReceipt {
    try ensurePartitions(for: commit)
    var strategy = CommitStrategy(notifies: !notices.isMuted)
    for _ in 0..<Self.attemptsMax {
      do throws(StoreError) {
        if let receipt = try attempt(commit, from: origin, by: strategy) {
          return notices.recorded(in: receipt, by: strategy)
        }
      } catch {
        rollBack()
        guard strategy.adapt(to: error) else { throw error }
        if strategy.forgetsRegistry { try readRegistry() }
      }
    }
    throw StoreError(
      .transient, message: "other writers always committed first", context: CommitStep.commit)
  }

  /// nil when another writer took the seq meanwhile, or another daemon the lead.
  private func attempt(
    _ commit: Commit, from origin: CommitOrigin, by strategy: CommitStrategy
  ) throws(StoreError) -> CommitReceipt? {
    var commit = commit
    var context = try begin(commit, from: origin, by: strategy)
    let known = registry
    var stored = false
    defer { if !stored { registry = known } }
    try writeRows(&commit, in: &context)
    try certificates.settle(commit, in: &context)
    if case .history(let chunk?) = origin { try reference.write(chunk, in: context) }
    if context.receipt.rows == 0, !commit.storesPosition {
      // Committed rather than rolled back: only that empties the staging tables.
      try connection.execute("commit", context: CommitStep.commit)
      stored = true
      return CommitReceipt()
    }
    try ranges.write(in: context)
    if origin.isHistory { try takeSeq(in: &context) }
    guard try writeChange(commit, in: context) else {
      rollBack()
      return nil
    }
    try end(commit, in: context)
    stored = true
    context.receipt.seq = context.seq
    return context.receipt
  }

  /// In the order of every commit. Afterwards the commit is without the rows of series that could
  /// not be registered.
  private func writeRows(
    _ commit: inout Commit, in context: inout CommitContext
  ) throws(StoreError) {
    try reference.writeInstruments(of: &commit, in: &context)
    try certificates.findRepairedDays(commit, in: &context)
    try quotes.write(commit.quotes, in: &context)
    try candles.write(commit, in: &context)
    let bars = try candles.divided(commit.bars)
    try candles.writeBars(bars, in: &context)
    try ledger.write(commit, in: &context)
    try repairs.write(bars, in: &context)
    try repairs.markPermanentGaps(commit)
    try reference.write(commit, in: &context)
  }

  private func end(_ commit: Commit, in context: CommitContext) throws(StoreError) {
    if !context.isHistory {
      pending = PendingCommit(
        transaction: context.transaction, backendProcess: connection.backendProcess,
        position: commit.position, seq: context.seq)
    }
    do throws(StoreError) {
      try connection.execute("commit", context: CommitStep.end)
    } catch {
      if error.code != .connectionLost { pending = nil }
      throw error
    }
    pending = nil
    if !context.isHistory { position = commit.position }
  }

  /// Opens the transaction and compares the stored position with the expected one; history has none
  /// to hold.
  private func begin(
    _ commit: Commit, from origin: CommitOrigin, by strategy: CommitStrategy
  ) throws(StoreError) -> CommitContext {
    let response = try connection.execute(
      """
      begin;
      select f.epoch, f.last_seq, j.position, pg_current_xact_id(), l.term
      from feed_sequence f
      cross join journal_position j
      cross join lease l
      """, context: CommitStep.commit)
    guard response.rowCount == 1 else {
      throw StoreError(
        .schemaMismatch, message: "journal_position has no row", context: CommitStep.commit)
    }
    var row = response.row(0)
    let storedEpoch = Int64(try row.text())
    let lastSeq = Int64(try row.text())
    let storedPosition = Int64(try row.text())
    let transaction = try row.text()
    let storedTerm = Int64(try row.text()) ?? -1
    // Only to spare the work: what decides is the lock the end of the commit takes.
    if !origin.isHistory, storedTerm != term {
      throw .leaseLost(term, to: storedTerm, context: CommitStep.commit)
    }
    let isFenced = origin.isHistory || storedPosition == position.sequence
    guard storedEpoch == epoch, isFenced, let lastSeq else {
      throw StoreError(
        .positionConflict,
        message: "the database stands at journal position \(storedPosition ?? -1), not "
          + "\(position.sequence): another writer uses this database",
        context: CommitStep.commit)
    }
    precondition(origin.isHistory || commit.position >= position, "the journal only grows")
    return CommitContext(
      strategy: strategy, origin: origin, knownAt: commit.knownAt, seq: lastSeq + 1,
      transaction: transaction)
  }

  private func rollBack() {
    // A failure here means the connection is gone, which rolls back as well; the next call sees it.
    _ = try? connection.execute("rollback", context: CommitStep.commit)
  }

  private static let ensurePartition = Statement(
    name: "ensure_partition", sql: "select ensure_partition($1::date)")

  /// In transactions of their own: attaching one locks out every other DDL on the table, and
  /// autovacuum, until the end.
  private func ensurePartitions(for commit: Commit) throws(StoreError) {
    var days = Set(commit.candles.lazy.map(\.openedAt.utcDay))
    days.formUnion(commit.revisions.lazy.map(\.candle.openedAt.utcDay))
    for batch in commit.bars { days.formUnion(batch.candles.lazy.map(\.openedAt.utcDay)) }
    for at in days {
      let (year, month, _) = at.civil
      let key = Int32(year * 12 + month)
      if partitions.contains(key) { continue }
      let parameters = WireParameters(.day(at))
      do throws(StoreError) {
        try connection.run(Self.ensurePartition, with: parameters, context: CommitStep.commit)
      } catch {
        // A month no calendar has: its candles will be refused one by one.
        if error.code == .rowRefused { continue }
        throw error
      }
      partitions.insert(key)
    }
  }
}
