import Commits
import Market
import Postgres

/// The single writer: turns commits into transactions, over one connection, on one thread of its
/// own. Exactly-once: a commit whose answer was lost with its connection is looked up by its
/// transaction id after `connect`, and then either counts as made or is made again.
///
/// The caller's loop: `connect`, `load`, then `commit` in journal order; after `connectionLost`,
/// `connect` until it answers and commit the same value again. One that reconnects does so once a
/// call, so that the caller's patience sets the pace.
package actor StoreWriter {
  private let executor = ThreadExecutor(name: "store-writer")
  nonisolated package var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  private let url: String
  private let lease: Lease?
  private let gate: ConnectGate?
  private let confirmSeconds: Int64
  private let onReconnect: (@Sendable () -> Void)?
  private(set) var session: WriterSession?
  /// Those that the table `rule` has; nil before a term began.
  var rules: RuleBook?
  /// Kept over reconnections: the position this writer left behind, and the commit in doubt.
  private var position: JournalPosition?
  private var inDoubt: PendingCommit?
  /// A commit found to have been made after all, until the caller repeats it.
  private var foundStored: PendingCommit?

  /// Nothing is opened yet.
  /// - Parameters:
  ///   - lease: what a daemon writes under; without one a writer serves until a term begins.
  ///   - gate: what a daemon's connections pass.
  ///   - confirmSeconds: a hole that bars do not fill twice, so far apart, is permanent.
  ///   - onReconnect: called when `load` or `commit` has connected anew; nil: neither does.
  package init(
    url: String, lease: Lease? = nil, gate: ConnectGate? = nil,
    confirmSeconds: Int64 = confirmSecondsDefault, onReconnect: (@Sendable () -> Void)? = nil
  ) {
    self.url = url
    self.lease = lease
    self.gate = gate
    self.confirmSeconds = confirmSeconds
    self.onReconnect = onReconnect
  }

  package static let confirmSecondsDefault = RepairTable.confirmSecondsDefault

  /// Connects and checks the schema's version.
  /// - Throws: `connectionLost`, `transient`, `schemaMismatch`, `badAddress`, `leaseLost`.
  package func connect() throws(StoreError) {
    if let session { inDoubt = session.pending ?? inDoubt }
    session = nil
    let fresh = try WriterSession(
      url: url, lease: lease, gate: gate, confirmSeconds: confirmSeconds)
    if let doubted = inDoubt {
      if try fresh.tookEffect(doubted) {
        foundStored = doubted
        position = doubted.position
      }
      inDoubt = nil
    }
    if let position { fresh.position = position }
    session = fresh
  }

  package func disconnect() {
    if let session { inDoubt = session.pending ?? inDoubt }
    session = nil
  }

  /// What to go on from. Afterwards the writer stands at the stored position.
  /// - Throws: `connectionLost`, `malformed`.
  package func load() throws(StoreError) -> StoredState {
    let state = try reconnecting { () throws(StoreError) in try session.opened().load() }
    position = state.position
    foundStored = nil
    return state
  }

  /// Begins the lease's term in its holder's journal, before the first commit of it. What that
  /// journal holds up to `position` and is not committed stays uncommitted for good.
  /// - Throws: `leaseLost`, `positionConflict` (load again), `connectionLost` (load again).
  package func takeUp(at position: JournalPosition) throws(StoreError) {
    try session.opened().takeUp(at: position)
    self.position = position
  }

  /// Stores a commit in one transaction; nothing to write, nothing sent.
  ///
  /// A row the database refuses goes to `rejected` with the reason, and the rest is stored; a hint
  /// that cannot be given is left out. The receipt has both.
  /// - Throws: `connectionLost` (reconnect and repeat), `positionConflict` (another writer: load
  ///   again), `leaseLost`; for every other reason repeat later.
  package func commit(_ commit: Commit) throws(StoreError) -> CommitReceipt {
    try reconnecting { () throws(StoreError) in try store(commit) }
  }

  private func reconnecting<Value>(
    _ body: () throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    do throws(StoreError) {
      return try body()
    } catch {
      guard let onReconnect, error.code == .connectionLost else { throw error }
      try connect()
      onReconnect()
      return try body()
    }
  }

  private func store(_ commit: Commit) throws(StoreError) -> CommitReceipt {
    if let found = foundStored {
      foundStored = nil
      if found.position == commit.position {
        var receipt = CommitReceipt(seq: found.seq)
        receipt.wasAlreadyStored = true
        return receipt
      }
    }
    let session = try session.opened()
    let receipt = try session.commit(commit)
    position = session.position
    // What fails is tried again behind the next commit.
    if let rules, rules !== RuleBook.current { try? record(.current) }
    return receipt
  }

  /// Forgets some of what the ledgers keep no longer, the oldest first: few enough that a commit
  /// does not wait.
  /// - Returns: how many rows; 0 when no more are left.
  package func prune(on day: TradingDay) throws(StoreError) -> Int64 {
    try session.opened().prune(on: day)
  }
}
