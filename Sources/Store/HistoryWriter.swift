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
  private var session: WriterSession?

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
    return try open().store(
      SortedCommit(rows, history: SortedCommit.History(chunk: commit.chunk)))
  }

  /// Those of the chunks that are stored, by name.
  package func doneChunks(_ names: [String]) throws(StoreError) -> [String: DoneChunk] {
    try open().reference.doneChunks(names)
  }

  /// When markets trade, as far as the daemon has learnt.
  package func sessions() throws(StoreError) -> [MarketSession] {
    try open().reference.storedSessions()
  }

  func open() throws(StoreError) -> WriterSession {
    guard let session else {
      throw StoreError(.connectionLost, message: "not connected to PostgreSQL", context: "commit")
    }
    return session
  }
}

/// A chunk as it is stored.
package struct DoneChunk: Sendable, Hashable {
  package var through: TradingDay
  /// Of the commit that stored it last.
  package var doneAt: Timestamp
}

/// What a backfill stores at once. A hundred thousand candles is a good size.
package struct HistoryCommit: Sendable {
  /// A part of a plan.
  package struct Chunk: Sendable, Hashable {
    /// Says what is asked for, whatever plan it stands in.
    package var name: String
    /// The last day that was over when it was asked for.
    package var through: TradingDay

    package init(name: String, through: TradingDay) {
      self.name = name
      self.through = through
    }
  }

  package var knownAt: Timestamp
  package var bars: [BarBatch]
  package var factors: [FactorBatch]
  package var chunk: Chunk?

  package init(
    knownAt: Timestamp, bars: [BarBatch], factors: [FactorBatch] = [], chunk: Chunk? = nil
  ) {
    self.knownAt = knownAt
    self.bars = bars
    self.factors = factors
    self.chunk = chunk
  }
}
