import Logging
import Market
import Platform
import Postgres

/// A thread that follows the database for as long as its program runs, for libpq blocks: it
/// connects, follows, logs a failure once and tries again, with growing pauses.
package final class DatabaseFollower: Sendable {
  private struct State: Sendable {
    var retryMilliseconds: Int32
    /// What was logged last; nil while all works.
    var failure: String?
    var isStopped = false
  }

  /// Signalled when it is to stop, and by whoever has something for it to do.
  package let interrupt: Interrupt
  private let name: String
  private let failure: String
  private let recovery: String?
  private let retryMilliseconds: ClosedRange<Int32>
  private let log: Logger
  private let state: Locked<State>

  /// Begins at once.
  /// - Parameters:
  ///   - name: of the thread, and of its connection.
  ///   - failure: what is logged when the database cannot be used.
  ///   - recovery: what is logged when it can be again.
  ///   - follow: returns to connect anew, or because it was stopped.
  /// - Throws: `transient` if the system has no thread to give.
  package init(
    _ name: String, failure: String, recovery: String? = nil,
    retryMilliseconds: ClosedRange<Int32> = 1_000...10_000, interrupt: Interrupt = Interrupt(),
    log: Logger, follow: @escaping @Sendable (DatabaseFollower) throws(AppStoreError) -> Void
  ) throws(StoreError) {
    (self.name, self.failure, self.recovery) = (name, failure, recovery)
    (self.retryMilliseconds, self.interrupt, self.log) = (retryMilliseconds, interrupt, log)
    state = Locked(State(retryMilliseconds: retryMilliseconds.lowerBound))
    do throws(ThreadError) {
      try DetachedThread.start(name: name) { self.run(follow) }
    } catch {
      throw StoreError(.transient, message: "the system has no thread to give", context: name)
    }
  }

  /// The thread ends soon.
  package func stop() {
    state.withLock { $0.isStopped = true }
    interrupt.signal()
  }

  package var isStopped: Bool { state.withLock { $0.isStopped } }

  private func run(_ follow: (DatabaseFollower) throws(AppStoreError) -> Void) {
    while !isStopped {
      do throws(AppStoreError) { try follow(self) } catch { pause(after: error) }
    }
  }

  private func pause(after error: AppStoreError) {
    let (isNew, milliseconds) = state.withLock { state in
      defer {
        state.failure = error.description
        state.retryMilliseconds = min(
          state.retryMilliseconds * 2, self.retryMilliseconds.upperBound)
      }
      return (state.failure != error.description, state.retryMilliseconds)
    }
    if isNew { log.warning("\(failure)", metadata: ["reason": "\(error)"]) }
    interrupt.clear()
    // Stopped before it was cleared.
    if !isStopped { interrupt.wait(milliseconds: milliseconds) }
  }

  // MARK: While it follows

  /// To be called after each success.
  package func succeeded() {
    let wasFailing = state.withLock { state in
      defer { (state.failure, state.retryMilliseconds) = (nil, retryMilliseconds.lowerBound) }
      return state.failure != nil
    }
    if wasFailing, let recovery { log.notice("\(recovery)") }
  }

  /// Listens before anything is read, so that no change falls between.
  package func connect(
    to url: String, listeningTo channels: [AppChannel],
    statementSeconds: Int = AppConnection.statementSecondsMax
  ) throws(AppStoreError) -> AppConnection {
    let connection = try AppStoreError.ofStore { () throws(StoreError) in
      try AppConnection(
        url: url, application: "candled gateway \(name)", statementSeconds: statementSeconds)
    }
    try connection.listen(to: channels)
    return connection
  }

  /// Blocks until there may be something to do.
  package func wait(
    on connection: AppConnection, milliseconds: Int32
  ) throws(AppStoreError) -> WakeReason {
    if isStopped { return .interrupted }
    return try connection.wait(milliseconds: milliseconds, interrupt: interrupt.descriptor)
  }
}
