/// A few connections to PostgreSQL for what memory does not have: history and the ledger.
///
/// Each connection blocks a thread of its own. Who finds all of them busy waits in a queue of
/// bounded length, and is refused where that is full: a slow database must not gather requests. A
/// client has half of the connections at most, and clients take turns.

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

  /// It gets no connection where too many wait.
  private typealias Waiting = CheckedContinuation<QueryConnection?, Never>

  private let queue: Locked<TurnQueue<Waiting, QueryConnection>>
  private let log: Logger

  /// - Parameter url: a libpq URL or keyword string; nothing connects before the first query.
  package init(
    url: String, connections: Int = QueryPool.connectionsDefault,
    waitingMax: Int = QueryPool.waitingMax, log: Logger
  ) {
    precondition(connections > 0)
    self.log = log
    queue = Locked(
      TurnQueue((0..<connections).map { _ in QueryConnection(url: url) }, waitingMax: waitingMax))
  }

  /// Runs a query on a connection's own thread.
  /// - Throws: what `body` throws; `transient` where too many wait.
  package func run<Value: Sendable>(
    _ body: @Sendable (StoreReader) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    let client = AccessKey.current
    let acquired = await withCheckedContinuation { (waiting: Waiting) in
      let hasRoom = queue.withLock { $0.enter(waiting, of: client) }
      if hasRoom { startNext() } else { waiting.resume(returning: nil) }
    }
    guard let connection = acquired else {
      throw StoreError(.transient, message: "too many queries are waiting", context: "query")
    }
    let result = await connection.run(body)
    var failure: StoreError?
    if case .failure(let error) = result { failure = error }
    queue.withLock { $0.leave(connection, of: client, isBroken: failure?.isTransient ?? false) }
    startNext()
    if let failure, Problem(failure).status == .internalServerError {
      log.error("a query failed", metadata: ["error": "\(failure)"])
    }
    return try result.get()
  }

  /// The same for a request: `Problem` is what it is answered with.
  func query<Value: Sendable>(
    _ body: @Sendable (StoreReader) throws(StoreError) -> Value
  ) async throws(Problem) -> Value {
    do throws(StoreError) { return try await run(body) } catch { throw Problem(error) }
  }

  private func startNext() {
    let next = queue.withLock { $0.next() }
    next?.request.resume(returning: next?.resource)
  }

  /// How many wait for a connection now.
  package var waiting: Int { queue.withLock { $0.waiting } }
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
