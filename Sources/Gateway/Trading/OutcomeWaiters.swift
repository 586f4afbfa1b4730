import AppStore
import Platform
import Postgres

/// Requests that wait for the outcomes of their commands: one connection that listens for all of
/// them, on a thread of its own. It is opened by the first that waits, and closed after the last: a
/// connection that listens and does not read would hold up the database's notifications.
final class OutcomeWaiters: Sendable {
  private struct Waiting: Sendable {
    let command: Int64
    let deadline: ContinuousClock.Instant
    let continuation: CheckedContinuation<CommandOutcome?, Never>
  }

  private struct State: Sendable {
    /// How many each user has among those who wait.
    var admitted = Counts<Int64>()
    var waiting: [Waiting] = []
    var isRunning = false
  }

  /// A broker that stands still must not gather requests without end, nor let one user take the
  /// places of all.
  static let waitingMax = 256
  static let waitingOfUserMax = 32
  /// The listener stays for the next one.
  private static let idleMilliseconds = 10_000
  private static let retryMilliseconds = 500

  private let state = Locked(State())
  /// Ends the listener's wait.
  private let news = Interrupt()
  private let listener: OutcomeListener
  private let limit: Duration

  /// - Parameter milliseconds: how long one waits.
  init(url: String, milliseconds: Int) {
    listener = OutcomeListener(url: url)
    limit = .milliseconds(milliseconds)
  }

  /// Takes a place among those who wait, for as long as `body` runs.
  /// - Throws: what `body` throws; 429 where the user has all that one may have, 503 where all are
  ///   taken.
  func withPlace<Value: Sendable>(
    of user: Int64, _ body: () async throws(Problem) -> Value
  ) async throws(Problem) -> Value {
    try enter(user)
    defer { state.withLock { $0.admitted.remove(user) } }
    return try await body()
  }

  private func enter(_ user: Int64) throws(Problem) {
    let refusal: Problem? = state.withLock { state in
      if state.admitted[user] >= Self.waitingOfUserMax { return .tooManyOfUser }
      if state.admitted.sum >= Self.waitingMax { return .tooManyWaiting }
      state.admitted.add(user)
      return nil
    }
    if let refusal { throw refusal }
  }

  /// How many wait, of all users.
  var waiting: Int { state.withLock { $0.admitted.sum } }

  /// nil where there is none in time.
  func outcome(of command: Int64) async -> CommandOutcome? {
    let deadline = ContinuousClock.now + limit
    return await withCheckedContinuation { continuation in
      let waiting = Waiting(command: command, deadline: deadline, continuation: continuation)
      let begins = state.withLock { state in
        state.waiting.append(waiting)
        news.signal()
        defer { state.isRunning = true }
        return !state.isRunning
      }
      if begins { Task { await listener.run { self.turn($0) } } }
    }
  }

  /// One look at the outcomes, and the wait for the next.
  /// - Returns: whether to go on.
  private func turn(_ listener: isolated OutcomeListener) -> Bool {
    // Within the lock, before they are read: whoever comes later raises it again.
    let commands = state.withLock { state in
      news.clear()
      return state.waiting.map(\.command)
    }
    let outcomes = commands.isEmpty ? [:] : listener.outcomes(of: commands)
    answer(with: outcomes ?? [:])
    let next = state.withLock { $0.waiting.map(\.deadline).min() }
    var milliseconds = next.map { Int(($0 - .now) / .milliseconds(1)) + 1 }
    if outcomes == nil { milliseconds = min(milliseconds ?? 0, Self.retryMilliseconds) }
    listener.wait(
      milliseconds: Int32(max(milliseconds ?? Self.idleMilliseconds, 0)), interrupt: news)
    return state.withLock { state in
      state.isRunning = next != nil || !state.waiting.isEmpty
      return state.isRunning
    }
  }

  private func answer(with outcomes: [Int64: CommandOutcome]) {
    let now = ContinuousClock.now
    let answered = state.withLock { state in
      let isDone = { (waiting: Waiting) in
        outcomes[waiting.command] != nil || waiting.deadline <= now
      }
      defer { state.waiting.removeAll(where: isDone) }
      return state.waiting.filter(isDone)
    }
    for waiting in answered {
      waiting.continuation.resume(returning: outcomes[waiting.command])
    }
  }
}

/// The connection of those who wait. It blocks its own thread only.
private actor OutcomeListener {
  private nonisolated let executor = ThreadExecutor(name: "gateway-outcomes")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let url: String
  private var connection: AppConnection?

  init(url: String) { self.url = url }

  /// Until `turn` says that nothing is waited for.
  func run(_ turn: @Sendable (isolated OutcomeListener) -> Bool) {
    while turn(self) {}
    connection = nil
  }

  /// nil while the database cannot be asked.
  func outcomes(of commands: [Int64]) -> [Int64: CommandOutcome]? {
    do {
      if connection == nil {
        let fresh = try AppConnection(url: url, application: "candled gateway outcomes")
        // Before anything is read, so that no outcome falls between.
        try CommandTable(fresh).listenForOutcomes()
        connection = fresh
      }
      return try connection.map { try CommandTable($0).outcomes(of: commands) }
    } catch {
      connection = nil
      return nil
    }
  }

  func wait(milliseconds: Int32, interrupt: Interrupt) {
    do {
      guard let connection else {
        interrupt.wait(milliseconds: milliseconds)
        return
      }
      _ = try connection.wait(milliseconds: milliseconds, interrupt: interrupt.descriptor)
    } catch {
      connection = nil
    }
  }
}
