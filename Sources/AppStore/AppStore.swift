import Market
import Platform
import Postgres

/// The database as the gateway's requests use it: one connection on a thread of its own, opened
/// when it is needed and again after it was lost. While the database is unreachable a request fails
/// at once: it is tried no more than once a second. So does one that finds too many before it, or
/// too many of its own client.
package actor AppStore {
  private nonisolated let executor = ThreadExecutor(name: "app store")
  private let url: String
  private let now: @Sendable () -> ContinuousClock.Instant
  private var connection: AppConnection?
  private var failure: (error: StoreError, at: ContinuousClock.Instant)?

  private nonisolated let pending = Locked(Pending())

  private nonisolated let pendingMax: Int

  private struct Pending: Sendable {
    var count = 0
    var ofClients: [AccessKey: Int] = [:]

    /// - Returns: whether there was room: one client has a quarter of the places.
    mutating func enter(_ client: AccessKey?, of places: Int) -> Bool {
      guard count < places else { return false }
      if let client {
        guard ofClients[client, default: 0] < max(places / 4, 1) else { return false }
        ofClients[client, default: 0] += 1
      }
      count += 1
      return true
    }

    mutating func leave(_ client: AccessKey?) {
      count -= 1
      guard let client, let own = ofClients[client] else { return }
      ofClients[client] = own > 1 ? own - 1 : nil
    }
  }

  private static let retrySeconds = 1
  /// Of requests that wait or run: at milliseconds each, a fraction of a second.
  package static let pendingDefault = 64

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// Nothing is opened yet.
  /// - Parameters:
  ///   - url: a libpq URL or keyword string of a member of `candled_app`.
  ///   - pendingMax: of requests that wait or run.
  package init(
    url: String, pendingMax: Int = AppStore.pendingDefault,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    self.url = url
    self.pendingMax = pendingMax
    self.now = now
  }

  /// - Throws: what `body` throws; `store` without a connection, or where too many wait. What the
  ///   server did with a statement during which the connection was lost is not known.
  package nonisolated func run<Value: Sendable>(
    _ body: @Sendable (AppConnection) throws(AppStoreError) -> Value
  ) async throws(AppStoreError) -> Value {
    let client = AccessKey.current
    guard pending.withLock({ $0.enter(client, of: pendingMax) }) else {
      throw .store(
        StoreError(.transient, message: "too many requests are waiting", context: "app store"))
    }
    defer { pending.withLock { $0.leave(client) } }
    return try await perform(body)
  }

  private func perform<Value: Sendable>(
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
    if let failure, now() - failure.at < .seconds(Self.retrySeconds) {
      throw .store(failure.error)
    }
    do {
      let fresh = try AppConnection(url: url, application: "candled gateway")
      connection = fresh
      failure = nil
      return fresh
    } catch {
      failure = (error, now())
      throw .store(error)
    }
  }
}
