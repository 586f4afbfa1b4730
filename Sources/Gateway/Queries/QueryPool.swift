/// A few connections to PostgreSQL for what memory does not have: history and the ledger.
///
/// Each connection blocks a thread of its own. Who finds all of them busy waits in a queue of
/// bounded length, and is refused where that is full: a slow database must not gather requests.

import AppStore
import HTTPTypes
import Logging
import Market
import Platform
import Postgres
import Reader

package final class QueryPool: Sendable {
  /// Four statements keep two cores busy.
  package static let connectionsDefault = 4
  /// At 5 ms a query, what four connections do in 80 ms.
  static let waitingMax = 64
  static let statementSecondsMax = 10

  private struct Queue: Sendable {
    var idle: [QueryConnection]
    var waiting: [Waiting] = []

    /// One client, a token or an address, takes half of the places at most.
    func hasRoom(for client: AccessKey?, of places: Int) -> Bool {
      guard waiting.count < places else { return false }
      guard let client else { return true }
      return waiting.count { $0.client == client } < (places + 1) / 2
    }
  }

  private struct Waiting: Sendable {
    let continuation: CheckedContinuation<QueryConnection, Never>
    let client: AccessKey?
  }

  private let queue: Locked<Queue>
  private let waitingMax: Int
  private let log: Logger

  /// - Parameter url: a libpq URL or keyword string; nothing connects before the first query.
  package init(
    url: String, connections: Int = QueryPool.connectionsDefault,
    waitingMax: Int = QueryPool.waitingMax, log: Logger
  ) {
    precondition(connections > 0)
    self.waitingMax = waitingMax
    self.log = log
    queue = Locked(Queue(idle: (0..<connections).map { _ in QueryConnection(url: url) }))
  }

  /// Runs a query on a connection's own thread.
  /// - Throws: what `body` throws; `transient` where too many wait.
  package func run<Value: Sendable>(
    _ body: @Sendable (StoreReader) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    let connection = try await acquire()
    let result = await connection.run(body)
    release(connection)
    if case .failure(let error) = result, Problem(error).status == .internalServerError {
      log.error("a query failed", metadata: ["error": "\(error)"])
    }
    return try result.get()
  }

  private func acquire() async throws(StoreError) -> QueryConnection {
    let (waitingMax, client) = (waitingMax, AccessKey.current)
    // Looked at before waiting, so that nobody waits who is refused.
    enum Place {
      case free(QueryConnection)
      case queued, full
    }
    let place: Place = queue.withLock { queue in
      if let connection = queue.idle.popLast() { return .free(connection) }
      return queue.hasRoom(for: client, of: waitingMax) ? .queued : .full
    }
    switch place {
    case .free(let connection): return connection
    case .full:
      throw StoreError(.transient, message: "too many queries are waiting", context: "query")
    case .queued: break
    }
    return await withCheckedContinuation { continuation in
      let free: QueryConnection? = queue.withLock { queue in
        if let connection = queue.idle.popLast() { return connection }
        queue.waiting.append(Waiting(continuation: continuation, client: client))
        return nil
      }
      if let free { continuation.resume(returning: free) }
    }
  }

  private func release(_ connection: QueryConnection) {
    let next: CheckedContinuation<QueryConnection, Never>? = queue.withLock { queue in
      if !queue.waiting.isEmpty { return queue.waiting.removeFirst().continuation }
      queue.idle.append(connection)
      return nil
    }
    next?.resume(returning: connection)
  }

  /// How many wait for a connection now.
  package var waiting: Int { queue.withLock { $0.waiting.count } }
}

extension StoreReader {
  /// The newest candles of a series, oldest first.
  /// - Parameter end: opened before then; nil: of all.
  func newest(
    _ count: Int32, of series: SeriesRecord, timeframe: Timeframe, before end: Timestamp? = nil
  ) throws(StoreError) -> [CandleRecord] {
    var query = CandleQuery(series.symbol, timeframe: timeframe)
    (query.source, query.to, query.newest) = (series.sourceName, end, count)
    return try candles(query)
  }
}

/// One connection, opened at its first query and again when it was lost.
actor QueryConnection {
  private let executor = ThreadExecutor(name: "gateway-query")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let url: String
  private var reader: StoreReader?
  /// While PostgreSQL is away nobody waits for a connection that fails: until then, by the steady
  /// clock.
  private var retryAtMilliseconds: Int64 = 0
  private var failure: StoreError?
  private static let retryMilliseconds: Int64 = 500

  init(url: String) { self.url = url }

  func run<Value: Sendable>(
    _ body: @Sendable (StoreReader) throws(StoreError) -> Value
  ) -> Result<Value, StoreError> {
    do throws(StoreError) {
      let wasOpen = reader != nil
      do throws(StoreError) {
        return .success(try body(connected()))
      } catch  where error.code == .connectionLost && wasOpen {
        // It was lost while it lay idle: one more try on a fresh one.
        reader = nil
        return .success(try body(connected()))
      }
    } catch {
      if error.isTransient { reader = nil }
      return .failure(error)
    }
  }

  private func connected() throws(StoreError) -> StoreReader {
    if let reader { return reader }
    if let failure, MonotonicClock.milliseconds() < retryAtMilliseconds { throw failure }
    do throws(StoreError) {
      let fresh = try StoreReader(
        url: url, application: "candled-gateway query",
        statementSecondsMax: QueryPool.statementSecondsMax)
      (reader, failure) = (fresh, nil)
      return fresh
    } catch {
      failure = error
      retryAtMilliseconds = MonotonicClock.milliseconds() + Self.retryMilliseconds
      throw error
    }
  }
}
