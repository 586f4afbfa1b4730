import Commits
import Market
import Postgres

/// Reading back: what a restart goes on from, and whether a commit of a lost connection was made.
extension WriterSession {
  private static let readState = Statement(
    name: "read_state",
    sql: """
      select j.position, nullif(j.known_from, '-infinity'), j.book_state, f.epoch, f.last_seq,
        j.journal, l.term
      from journal_position j
      cross join feed_sequence f
      cross join lease l
      """)

  /// Reads the position and every instrument's state as of one moment.
  func load() throws(StoreError) -> StoredState {
    do throws(StoreError) {
      return try read()
    } catch {
      // Or else this connection would refuse everything from here on.
      _ = try? connection.execute("rollback", context: "load")
      throw error
    }
  }

  private func read() throws(StoreError) -> StoredState {
    try connection.execute("begin isolation level repeatable read read only", context: "load")
    let response = try connection.run(Self.readState, context: "load")
    var row = response.row(0)
    let stored = JournalPosition(try row.int64())
    let knownAt = try row.optionalTimestamp()
    let bookState = try row.bytes()
    let epoch = try row.int64()
    let lastSeq = try row.int64()
    let journal = try row.text()
    let found = try row.int64()
    if found != term { throw .leaseLost(term, to: found, context: "load") }
    var state = StoredState(
      position: stored, knownAt: knownAt, bookState: bookState, quotes: try quotes.stored(),
      epoch: epoch, lastSeq: lastSeq)
    state.journal = journal
    try reference.read(into: &state)
    try connection.execute("commit", context: "load")
    position = stored
    return state
  }

  private static let transactionStatus = Statement(
    name: "transaction_status", sql: "select pg_xact_status($1::text::xid8)")
  private static let endBackend = Statement(
    name: "end_backend", sql: "select pg_terminate_backend($1::int, 5000)")

  /// Whether a commit made over an earlier connection took effect. Its backend is ended first if
  /// it has not noticed yet that nobody listens.
  ///
  /// A server that crashed may know nothing of the transaction, and give its number to another: so
  /// the number alone proves nothing, the position must have moved too.
  func tookEffect(_ commit: PendingCommit) throws(StoreError) -> Bool {
    for attempt in 0..<2 {
      let status = try status(of: commit)
      if status != "in progress" {
        guard status == "committed" else { return false }
        return try storedPosition() >= commit.position
      }
      if attempt == 0 {
        let backend = WireParameters(.int32(commit.backendProcess))
        try connection.run(Self.endBackend, with: backend, context: "reconnect")
      }
    }
    throw StoreError(
      .transient, message: "the previous connection's commit is still in progress",
      context: "reconnect")
  }

  /// - Returns: nil for a transaction the server knows nothing of: too old, or lost in a crash.
  private func status(of commit: PendingCommit) throws(StoreError) -> String? {
    let parameters = WireParameters(.text(commit.transaction))
    do throws(StoreError) {
      var row = try connection.run(Self.transactionStatus, with: parameters, context: "reconnect")
        .row(0)
      return try row.optionalText()
    } catch {
      if error.sqlState == Self.inTheFuture { return nil }
      throw error
    }
  }

  /// invalid_parameter_value, as pg_xact_status says that a number was not given out yet.
  private static let inTheFuture = "22023"

  private func storedPosition() throws(StoreError) -> JournalPosition {
    var row = try connection.run(Self.readPosition, context: "reconnect").row(0)
    _ = try row.int64()  // the epoch
    return JournalPosition(try row.int64())
  }
}

// MARK: horizon

extension WriterSession {
  private static let prune = Statement(
    name: "prune", sql: "select prune($1::date, \(prunedRowsMax))")

  /// Of one ledger, in one transaction.
  private static let prunedRowsMax = 2_000

  func prune(on day: TradingDay) throws(StoreError) -> Int64 {
    let parameters = WireParameters(.day(day))
    var row = try connection.run(Self.prune, with: parameters, context: "prune").row(0)
    return try row.int64()
  }
}
