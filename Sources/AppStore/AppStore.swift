import Market
import Postgres

/// The database as the gateway's requests use it: one connection on a thread of its own, opened
/// when it is needed and again after it was lost. While the database is unreachable a request fails
/// at once: it is tried no more than once a second.
package actor AppStore {
  private nonisolated let executor = ThreadExecutor(name: "app store")
  private let url: String
  private let now: @Sendable () -> ContinuousClock.Instant
  private var connection: AppConnection?
  private var failure: (error: StoreError, at: ContinuousClock.Instant)?

  private static let retrySeconds = 1

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// Nothing is opened yet.
  /// - Parameter url: a libpq URL or keyword string of a member of `candled_app`.
  package init(
    url: String,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    self.url = url
    self.now = now
  }

  /// - Throws: what `body` throws; `store` without a connection. What the server did with a
  ///   statement during which the connection was lost is not known.
  package func run<Value: Sendable>(
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
