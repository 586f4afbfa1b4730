import EmbeddedPostgres
import Logging
import Market
import Postgres

/// Looks after the embedded server on a thread that may block: starts it, notices when it is gone
/// and starts it again, for as long as it takes; and ends the sessions of readers that would keep
/// the daemon out of it.
package actor PostgresSupervisor {
  private let executor = ThreadExecutor(name: "postgres-keeper")
  private let server: EmbeddedServer
  private let log: Logger
  /// Told of each change.
  private let publish: @Sendable (PrivateServer) -> Void
  private var found: PrivateServer?
  private var binariesAt: Timestamp?
  private var restartPolicy = ServerRestartPolicy()
  private var readers = ReaderMonitor()
  private let readerSessions: ReaderSessions
  private var censusAt: Timestamp?

  private static let lookNanoseconds: UInt64 = 500_000_000
  /// How often its programs are looked for, which only its next start needs.
  private static let binariesMilliseconds: Int64 = 60_000

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  package init(
    _ server: EmbeddedServer, log: Logger,
    publish: @escaping @Sendable (PrivateServer) -> Void = { _ in }
  ) {
    self.server = server
    self.log = log
    self.publish = publish
    readerSessions = ReaderSessions(server)
  }

  func start() throws(EmbeddedServerError) {
    do {
      try server.start()
    } catch {
      note(error.sentence)
      throw error
    }
    note(nil)
  }

  /// Starts a server that did not start, for as long as it takes, or until cancelled.
  /// - Parameter error: why it did not.
  func startPatiently(after error: EmbeddedServerError) async {
    var steps = restartPolicy.tried(fault: "\(error)", at: EngineClock.steadyNow())
    while !Task.isCancelled {
      for step in steps {
        if step != .start { logStep(step) } else if startAgain() { return }
      }
      try? await Task.sleep(nanoseconds: PostgresSupervisor.lookNanoseconds)
      steps = restartPolicy.found(isRunning: false, at: EngineClock.steadyNow())
    }
  }

  private func note(_ fault: String?) {
    let (before, now) = (found, PrivateServer(server, fault: fault))
    found = now
    if now != before { publish(now) }
    guard let command = now.install, command != before?.install, fault == nil else { return }
    log.critical(
      "the programs of the embedded PostgreSQL are not installed any more, it will not start again",
      metadata: ["install": "\(command)"])
  }

  func stop() throws(EmbeddedServerError) {
    readerSessions.disconnect()
    try server.stop()
  }

  /// Keeps the server running until cancelled.
  package func keepRunning() async {
    while !Task.isCancelled {
      let isRunning = server.isRunning
      let steps = restartPolicy.found(isRunning: isRunning, at: EngineClock.steadyNow())
      for step in steps {
        if step != .start { logStep(step) } else { startAgain() }
      }
      if isRunning {
        lookAtReaders()
        lookAtBinaries()
      }
      try? await Task.sleep(nanoseconds: PostgresSupervisor.lookNanoseconds)
    }
  }

  private func lookAtBinaries() {
    let now = EngineClock.steadyNow()
    if let binariesAt, now < binariesAt.adding(milliseconds: Self.binariesMilliseconds) { return }
    binariesAt = now
    note(nil)
  }

  /// A server that cannot be asked is the commits' business.
  private func lookAtReaders() {
    let now = EngineClock.steadyNow()
    if let censusAt, now < censusAt.adding(milliseconds: ReaderMonitor.lookMilliseconds) { return }
    censusAt = now
    guard let census = try? readerSessions.census() else { return }
    let endings = readers.found(census, at: now)
    // Those that were ended may come again at once, and a daemon that starts tries once a second.
    if !endings.isEmpty { censusAt = nil }
    for ending in endings where (try? readerSessions.end(ending.reader)) == true {
      log.warning(
        "\(ending.reason)",
        metadata: [
          "pid": "\(ending.reader.process)", "role": "\(ending.reader.role)",
          "application": "\(ending.reader.application)",
        ])
    }
  }

  /// - Returns: whether it runs.
  @discardableResult
  private func startAgain() -> Bool {
    var fault: String?
    do throws(EmbeddedServerError) {
      try start()
    } catch {
      fault = "\(error)"
    }
    for step in restartPolicy.tried(fault: fault, at: EngineClock.steadyNow()) { logStep(step) }
    return fault == nil
  }

  private func logStep(_ step: ServerRestartPolicy.Step) {
    switch step {
    case .start: break
    case .logStopped: log.error("the embedded PostgreSQL stopped, restarting it")
    case .logFault(let fault):
      log.error("the embedded PostgreSQL does not start", metadata: ["error": "\(fault)"])
    case .logRecovered: log.notice("the embedded PostgreSQL runs again")
    }
  }
}

/// When a server that is gone is started again, and what is worth a line of the log. One that does
/// not start is tried ever less often, and told of when the reason changes.
struct ServerRestartPolicy {
  enum Step: Equatable {
    case start
    case logStopped
    case logFault(String)
    case logRecovered
  }

  static let pauseMillisecondsMin: Int64 = 500
  /// A disk that has room again, or a package that is installed again, is found so soon.
  static let pauseMillisecondsMax: Int64 = 30_000

  private var isGone = false
  private var fault: String?
  private var pauseMilliseconds = pauseMillisecondsMin
  private var retryAt: Timestamp?

  /// What to do, in order, now that it was looked for.
  mutating func found(isRunning: Bool, at now: Timestamp) -> [Step] {
    if isRunning { return isGone ? back() : [] }
    var steps: [Step] = []
    if !isGone {
      isGone = true
      steps.append(.logStopped)
    }
    if retryAt.map({ $0 <= now }) ?? true { steps.append(.start) }
    return steps
  }

  /// - Parameter fault: why it did not start; nil if it did.
  mutating func tried(fault: String?, at now: Timestamp) -> [Step] {
    guard let fault else { return back() }
    isGone = true
    retryAt = now.adding(milliseconds: pauseMilliseconds)
    pauseMilliseconds = min(2 * pauseMilliseconds, Self.pauseMillisecondsMax)
    defer { self.fault = fault }
    return fault == self.fault ? [] : [.logFault(fault)]
  }

  private mutating func back() -> [Step] {
    self = ServerRestartPolicy()
    return [.logRecovered]
  }
}
