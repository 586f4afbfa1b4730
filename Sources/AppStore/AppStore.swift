import Market
import Platform
import Postgres

/// The database as the gateway's requests use it: a few connections, each on a thread of its own,
/// opened when it is needed and again after it was lost. While the database is unreachable a
/// request fails at once: a connection is tried no more than once a second. So does one that finds
/// too many before it, or too many of its own client.
package final class AppStore: Sendable {
  private let sessions: [AppSession]
  private let pending: Locked<Pending>
  private let pendingMax: Int

  private struct Pending: Sendable {
    /// By connection.
    var counts: [Int]
    var ofClients: [AccessKey: Int] = [:]

    /// - Parameter retries: of each connection; nil of one that did not fail, and else whether it
    ///   may be tried again, which one request does at a time.
    /// - Returns: the connection with the fewest requests, of those that failed only where all
    ///   others have some; nil where there is no room: one client has a quarter of the places.
    mutating func enter(_ client: AccessKey?, of places: Int, retries: [Bool?]) -> Int? {
      let usable = counts.indices.filter { index in
        retries[index].map { $0 && counts[index] == 0 } ?? true
      }
      let offered = usable.isEmpty ? Array(counts.indices) : usable
      guard counts.reduce(0, +) < places,
        let index = offered.min(by: {
          (counts[$0], retries[$0] == nil ? 0 : 1) < (counts[$1], retries[$1] == nil ? 0 : 1)
        })
      else { return nil }
      if let client {
        guard ofClients[client, default: 0] < max(places / 4, 1) else { return nil }
        ofClients[client, default: 0] += 1
      }
      counts[index] += 1
      return index
    }

    mutating func leave(_ client: AccessKey?, from index: Int) {
      counts[index] -= 1
      guard let client, let own = ofClients[client] else { return }
      ofClients[client] = own > 1 ? own - 1 : nil
    }
  }

  /// Of requests that wait or run: at milliseconds each, a fraction of a second.
  package static let pendingDefault = 64
  /// Of what many users read: a statement that takes long stops one of them.
  package static let connectionsOfMany = 3

  /// Nothing is opened yet.
  /// - Parameters:
  ///   - url: a libpq URL or keyword string of a member of `candled_app`.
  ///   - connections: one carries requests out in the order in which they come.
  ///   - pendingMax: of requests that wait or run.
  package init(
    url: String, connections: Int = 1, pendingMax: Int = AppStore.pendingDefault,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    precondition(connections > 0)
    sessions = (0..<connections).map { _ in AppSession(url: url, now: now) }
    pending = Locked(Pending(counts: Array(repeating: 0, count: connections)))
    self.pendingMax = pendingMax
  }

  /// - Throws: what `body` throws; `store` without a connection, or where too many wait. What the
  ///   server did with a statement during which the connection was lost is not known.
  package func run<Value: Sendable>(
    _ body: @Sendable (AppConnection) throws(AppStoreError) -> Value
  ) async throws(AppStoreError) -> Value {
    let client = AccessKey.current
    let retries = sessions.map(\.mayRetry)
    guard let index = pending.withLock({ $0.enter(client, of: pendingMax, retries: retries) })
    else {
      throw .store(
        StoreError(.transient, message: "too many requests are waiting", context: "app store"))
    }
    defer { pending.withLock { $0.leave(client, from: index) } }
    return try await sessions[index].perform(body)
  }
}

/// One of its connections.
private actor AppSession {
  private nonisolated let executor = ThreadExecutor(name: "app store")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let url: String
  private let now: @Sendable () -> ContinuousClock.Instant
  private var connection: AppConnection?
  private nonisolated let failure = Locked<(error: StoreError, at: ContinuousClock.Instant)?>(nil)

  private static let retrySeconds = 1

  init(url: String, now: @escaping @Sendable () -> ContinuousClock.Instant) {
    self.url = url
    self.now = now
  }

  /// nil where it could be opened, or was not tried.
  nonisolated var mayRetry: Bool? {
    failure.withLock { $0?.at }.map { now() - $0 >= .seconds(Self.retrySeconds) }
  }

  func perform<Value: Sendable>(
    _ body: @Sendable (AppConnection) throws(AppStoreError) -> Value
  ) throws(AppStoreError) -> Value {
    let connection = try connected()
    do {
      return try body(connection)
    } catch {
      if case .store(let cause) = error, cause.code == .connectionLost { self.connection = nil }
      throw error
    }
  }

  private func connected() throws(AppStoreError) -> AppConnection {
    if let connection { return connection }
    if mayRetry == false, let error = failure.withLock({ $0?.error }) { throw .store(error) }
    do {
      let fresh = try AppConnection(url: url, application: "candled gateway")
      connection = fresh
      failure.withLock { $0 = nil }
      return fresh
    } catch {
      failure.withLock { $0 = (error, now()) }
      throw .store(error)
    }
  }
}
