import Market
import Postgres

/// One transaction a commit, in a fixed order: fence, instruments, quotes, candles, ledger, and
/// last, only if a row was written, journal position, sequence, change row and NOTIFY, so that the
/// row locks every writer needs are held for the shortest time.
extension WriterSession {
  /// How often a commit is started again because another writer took its seq or an instrument id.
  static let attemptsMax = 10

  /// - Throws: `leaseLost`, `positionConflict`, `refused`, `transient`, `connectionLost`.
  func commit(_ commit: Commit) throws(StoreError) -> CommitReceipt {
    var sorted = SortedCommit(commit)
    sorted.quotesToWrite = unstored(sorted.base.quotes)
    return sorted.isEmpty ? CommitReceipt() : try store(sorted)
  }

  /// A commit of the journal or, beside it, of history.
  func store(_ sorted: SortedCommit) throws(StoreError) -> CommitReceipt {
    try ensurePartitions(for: sorted.base)
    var strategy = CommitStrategy(notifies: !notices.isMuted)
    for _ in 0..<Self.attemptsMax {
      do throws(StoreError) {
        if let receipt = try attempt(sorted, strategy) {
          return notices.recorded(in: receipt, strategy)
        }
      } catch {
        rollBack()
        guard strategy.adapt(to: error) else { throw error }
        if strategy.forgetsRegistry { try readRegistry() }
      }
    }
    throw StoreError(.transient, "other writers were always quicker", context: Context.commit)
  }

  enum Context {
    static let commit = "commit"
    static let candles = "commit candles"
    static let instruments = "commit instruments"
    static let change = "commit change"
    static let end = "commit end"
  }

  /// How a commit is attempted; what an attempt fails of decides on the next one.
  struct CommitStrategy {
    var notifies: Bool
    /// Some key is stored already: let the server tell equal rows from different ones.
    var stagesCandles = false
    /// Some row is refused: find out which.
    var isolatesRows = false
    /// Another writer named an instrument first.
    var forgetsRegistry = false
    /// Why this commit goes without its NOTIFY.
    var notifyFault: StoreError?

    /// - Returns: whether another attempt, made differently, may succeed.
    mutating func adapt(to error: StoreError) -> Bool {
      forgetsRegistry = false
      switch (error.sqlState, error.context) {
      case ("23505", Context.candles): stagesCandles = true
      case ("23505", Context.instruments): forgetsRegistry = true
      case (_, Context.change), (_, Context.end):
        // Either may be NOTIFY's doing: its call is part of the one, its queue is filled in the
        // other. Whether it was, the next attempt tells.
        guard notifies, error.mayBeNotifys else { return false }
        notifies = false
        notifyFault = error
      default:
        guard error.code == .rowRefused, !isolatesRows else { return false }
        isolatesRows = true
      }
      return true
    }
  }

  /// nil when another writer took the seq meanwhile, or another daemon the lead.
  private func attempt(_ commit: SortedCommit, _ strategy: CommitStrategy) throws(StoreError)
    -> CommitReceipt?
  {
    var commit = commit
    var commitContext = try begin(commit)
    let known = registry
    var stored = false
    defer { if !stored { registry = known } }
    if strategy.isolatesRows {
      try isolateRejectedRows(&commit, &commitContext)
    } else {
      try writeRows(commit, strategy, &commitContext)
    }
    try settle(commit.base, &commitContext)
    if let chunk = commit.history?.chunk {
      try writeChunk(chunk, commit.base.knownAt, commitContext)
    }
    if commitContext.receipt.rows == 0 {
      // Committed rather than rolled back: only that empties the staging tables.
      try connection.execute("commit", context: Context.commit)
      stored = true
      remember(commit)
      return CommitReceipt()
    }
    if commit.history != nil { try takeSeq(&commitContext) }
    guard try writeChange(commit, commitContext, notifies: strategy.notifies) else {
      rollBack()
      return nil
    }
    try end(commit, commitContext)
    stored = true
    remember(commit)
    commitContext.receipt.seq = commitContext.seq
    return commitContext.receipt
  }

  private func writeRows(
    _ commit: SortedCommit, _ strategy: CommitStrategy, _ commitContext: inout CommitContext
  ) throws(StoreError) {
    try writeInstruments(commit.base, &commitContext)
    try findRepairedDays(commit.base, areMinutesNew: !strategy.stagesCandles, &commitContext)
    try writeQuotes(commit, &commitContext)
    try writeCandles(commit, stages: strategy.stagesCandles, &commitContext)
    let bars = try divided(commit.base.bars)
    try writeBars(bars, stages: strategy.stagesCandles || commit.history == nil, &commitContext)
    try writeLedger(commit, &commitContext)
    try writeRepairs(bars, &commitContext)
    try markPermanentGaps(commit.base)
    try writeReference(commit.base, &commitContext)
  }

  private func end(_ commit: SortedCommit, _ commitContext: CommitContext) throws(StoreError) {
    if commit.history == nil {
      pending = PendingCommit(
        transaction: commitContext.transaction, backendProcess: connection.backendProcess,
        position: commit.base.position, seq: commitContext.seq)
    }
    do throws(StoreError) {
      try connection.execute("commit", context: Context.end)
    } catch {
      if error.code != .connectionLost { pending = nil }
      throw error
    }
    pending = nil
    if commit.history == nil { position = commit.base.position }
  }

  /// Opens the transaction and holds the stored position against the believed one; history has
  /// none to hold.
  private func begin(_ commit: SortedCommit) throws(StoreError) -> CommitContext {
    let response = try connection.execute(
      """
      begin;
      select f.epoch, f.last_seq, j.position, pg_current_xact_id(), l.term
      from feed_sequence f
      cross join journal_position j
      cross join lease l
      """, context: Context.commit)
    guard response.rowCount == 1 else {
      throw StoreError(.schemaMismatch, "journal_position has no row", context: Context.commit)
    }
    var row = response.row(0)
    let storedEpoch = Int64(try row.text())
    let lastSeq = Int64(try row.text())
    let storedPosition = Int64(try row.text())
    let transaction = try row.text()
    let storedTerm = Int64(try row.text()) ?? -1
    // Only to spare the work: what decides is the lock the end of the commit takes.
    if commit.history == nil, storedTerm != term {
      throw .leaseLost(term, to: storedTerm, context: Context.commit)
    }
    let isFenced = commit.history != nil || storedPosition == position.sequence
    guard storedEpoch == epoch, isFenced, let lastSeq else {
      throw StoreError(
        .positionConflict,
        "the database stands at journal position \(storedPosition ?? -1), not \(position.sequence):"
          + " another writer is at work",
        context: Context.commit)
    }
    precondition(
      commit.history != nil || commit.base.position >= position, "the journal only grows")
    return CommitContext(seq: lastSeq + 1, transaction: transaction)
  }

  private func rollBack() {
    // A failure here means the connection is gone, which rolls back as well; the next call sees it.
    _ = try? connection.execute("rollback", context: Context.commit)
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
      var parameters = WireParameters()
      parameters.add { $0.date(at) }
      do throws(StoreError) {
        try connection.run(Self.ensurePartition, parameters, context: Context.commit)
      } catch {
        // A month no calendar has: its candles will be refused one by one.
        if error.code == .rowRefused { continue }
        throw error
      }
      partitions.insert(key)
    }
  }
}

/// What a transaction has found out so far.
struct CommitContext {
  var seq: Int64
  /// An xid8, as text.
  let transaction: String
  var receipt = CommitReceipt()
  var candles: [CandleKey] = []
  var revisions: [CandleKey] = []
  var gaps: [Int64] = []
  var closedGaps: [Int64] = []
  var certificates: [DayKey] = []
  /// Days that are the bars' already: the book's account of them no longer counts.
  var repaired: Set<DayKey> = []
  /// What the database would not have.
  var refused: [RefusedRow] = []
  /// How many certificates of a day do not balance, as stored.
  var residuals: [TradingDay: Int] = [:]

  init(seq: Int64, transaction: String) {
    self.seq = seq
    self.transaction = transaction
  }
}

/// The key of `candle`.
struct CandleKey: Hashable, Comparable {
  var instrument: Int32
  var timeframe: Int16
  var openedAt: Timestamp

  static func < (left: CandleKey, right: CandleKey) -> Bool {
    (left.instrument, left.timeframe, left.openedAt)
      < (right.instrument, right.timeframe, right.openedAt)
  }
}

/// The key of `day_audit`.
struct DayKey: Hashable, Comparable {
  var instrument: Int32
  var day: TradingDay

  static func < (left: DayKey, right: DayKey) -> Bool {
    (left.day, left.instrument) < (right.day, right.instrument)
  }
}

/// A commit without duplicates: MERGE and ON CONFLICT refuse a batch that names a key twice. Of
/// two rows with one key the later one counts. Sorting by id happens once ids are known.
struct SortedCommit {
  var base: Commit
  /// Places in `base.quotes`: a row is a kilobyte, too much to copy a sweep of them about.
  var quotesToWrite: [Int] = []
  /// Set where the rows come from no journal entry of the daemon's: the position stays as it is.
  var history: History?

  struct History {
    var chunk: HistoryCommit.Chunk?
  }

  init(_ commit: Commit, history: History? = nil) {
    self.history = history
    base = commit
    base.quotes = commit.quotes.lastOfEach(\.quote.symbol)
  }

  /// Whether there is nothing to write.
  var isEmpty: Bool { quotesToWrite.isEmpty && base.isEmptyButForQuotes }
}

extension Array {
  /// The last element of each key, in order of first appearance. Copies nothing if no key repeats.
  func lastOfEach<Key: Hashable>(_ key: (Element) -> Key) -> [Element] {
    var places: [Key: Int] = [:]
    places.reserveCapacity(count)
    var kept: [Element]?
    for (index, element) in enumerated() {
      let key = key(element)
      if let place = places[key] {
        if kept == nil { kept = Array(self[..<index]) }
        kept?[place] = element
      } else {
        places[key] = kept?.count ?? index
        kept?.append(element)
      }
    }
    return kept ?? self
  }
}

extension Timestamp {
  /// The calendar day in UTC, by which `candle` is partitioned.
  var utcDay: TradingDay { adding(seconds: -Shanghai.offsetSeconds).shanghaiDay }
}
