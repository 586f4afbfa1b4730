import Commits
import Market
import Postgres

/// The writer of a backfill: a connection of its own beside the daemon's, on a thread of its own.
/// It takes no journal position, so it fences nobody out; but its rows enter the same change feed,
/// under the same row lock, so that followers miss nothing.
///
/// A chunk of a plan is stored with its rows in one transaction: whoever is killed, or loses the
/// connection, asks `doneChunks` and goes on with the others.
package actor HistoryWriter {
  private let executor = ThreadExecutor(name: "history-writer")
  nonisolated package var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  private let url: String
  private let confirmSeconds: Int64
  private(set) var session: WriterSession?

  /// Nothing is opened yet.
  /// - Parameter confirmSeconds: as a `StoreWriter`'s.
  package init(url: String, confirmSeconds: Int64 = StoreWriter.confirmSecondsDefault) {
    self.url = url
    self.confirmSeconds = confirmSeconds
  }

  /// Connects, again if need be, and checks the schema's version.
  /// - Throws: `connectionLost`, `transient`, `schemaMismatch`, `badAddress`.
  package func connect() throws(StoreError) {
    session = nil
    session = try WriterSession(
      url: url, application: "candled history", confirmSeconds: confirmSeconds)
  }

  package func disconnect() { session = nil }

  /// Stores new bars, revises differing ones and repairs days, in one transaction.
  /// - Throws: `connectionLost` (connect, and look up the chunk), `transient` (repeat), `refused`.
  @discardableResult
  package func commit(_ commit: HistoryCommit) throws(StoreError) -> CommitReceipt {
    var rows = Commit(position: .start, knownAt: commit.knownAt)
    rows.bars = commit.bars
    rows.reference.factors = commit.factors
    return try session.opened().store(rows, from: .history(commit.chunk))
  }

  /// Those of the chunks that are stored, by name.
  package func doneChunks(_ names: [String]) throws(StoreError) -> [String: DoneChunk] {
    try session.opened().reference.doneChunks(names)
  }

  /// When markets trade, as far as the daemon has learnt.
  package func sessions() throws(StoreError) -> [MarketSession] {
    try session.opened().reference.storedSessions()
  }
}
