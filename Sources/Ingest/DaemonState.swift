/// What the daemon is doing, for everybody who is asked: the admin endpoint, the STATUS line, the
/// watchdog. The parts publish into it, others read; it decides nothing.

import Journal
import Market
import Operations
import Platform
import Transport

/// What a daemon is to its database.
package enum DaemonRole: Sendable, Hashable, CustomStringConvertible {
  /// Store and journal are not open yet.
  case starting
  /// Another daemon leads; this one waits for its lease to run out.
  case standby(leader: String)
  /// It records. A term is counted up by every change of leader.
  case leading(term: Int64)
  /// It was told to stop and saves what is pending.
  case draining

  /// The word for logs, metric labels and JSON.
  package var word: String {
    switch self {
    case .starting: "starting"
    case .standby: "standby"
    case .leading: "leading"
    case .draining: "draining"
    }
  }

  package var description: String {
    switch self {
    case .standby(let leader): "standby behind \(leader)"
    case .leading(let term): "leading, term \(term)"
    case .starting, .draining: word
    }
  }

  package static let words = ["starting", "standby", "leading", "draining"]

  package var isLeading: Bool { if case .leading = self { true } else { false } }
}

/// What became of the last order to read the configuration again.
package struct ReloadOutcome: Sendable, Hashable {
  package var at: Timestamp
  /// The first problem's sentence; nil if the new configuration is in force.
  package var problem: String?
  /// The reloads since the start, this one included.
  package var accepted: Int
  package var refused: Int
  /// Settings whose old values stay in force until a restart.
  package var needsRestart: [String] = []

  package var isAccepted: Bool { problem == nil }
}

/// The box the parts share.
package final class DaemonState: Sendable {
  /// Loops that must turn; the watchdog and `/livez` are exactly `heartbeats.stale().isEmpty`.
  package let heartbeats: Heartbeats
  package let startedAt: Timestamp
  private let parts = Locked(Parts())
  private let patienceNanoseconds: UInt64

  private struct Parts: Sendable {
    var role = DaemonRole.starting
    var engine: Engine?
    var journalDirectory: String?
    var reload: ReloadOutcome?
    var storeConnects = 0
    var storeAwaySince: Timestamp?
    var privateServer: PrivateServer?
    var disks: [DiskForecast] = []
    var client: HTTPClient?
    var keyEnds: [String: TradingDay] = [:]
    /// Questions to an engine that has not answered yet.
    var pendingReports = 0
  }

  /// How long a report waits for the engine's turn to end; less than whoever asks waits for us.
  package static let patienceNanosecondsDefault: UInt64 = 2_000_000_000
  /// An engine that hangs is not asked over and over.
  private static let pendingReportsMax = 16

  package init(
    heartbeats: Heartbeats = Heartbeats(), startedAt: Timestamp = EngineClock.realNow(),
    patienceNanoseconds: UInt64 = patienceNanosecondsDefault
  ) {
    self.heartbeats = heartbeats
    self.startedAt = startedAt
    self.patienceNanoseconds = patienceNanoseconds
  }

  /// Draining is for good: what comes to an end leads no more.
  package var role: DaemonRole {
    get { parts.withLock { $0.role } }
    set { parts.withLock { if $0.role != .draining { $0.role = newValue } } }
  }

  /// Returns once it is past starting.
  package func up() async {
    while role == .starting, !Task.isCancelled {
      try? await Task.sleep(nanoseconds: DaemonState.lookNanoseconds)
    }
  }

  private static let lookNanoseconds: UInt64 = 50_000_000

  /// The one that runs, if one does.
  package var engine: Engine? {
    get { parts.withLock { $0.engine } }
    set { parts.withLock { $0.engine = newValue } }
  }

  /// Where the journal lies, once it is open.
  package var journalDirectory: String? {
    get { parts.withLock { $0.journalDirectory } }
    set { parts.withLock { $0.journalDirectory = newValue } }
  }

  /// Counts an order to reload.
  /// - Parameter problem: why the configuration stays as it was; nil if the new one is in force.
  package func reloaded(at moment: Timestamp, problem: String?, needsRestart: [String] = []) {
    parts.withLock { parts in
      let before = parts.reload
      parts.reload = ReloadOutcome(
        at: moment, problem: problem,
        accepted: (before?.accepted ?? 0) + (problem == nil ? 1 : 0),
        refused: (before?.refused ?? 0) + (problem == nil ? 0 : 1),
        needsRestart: needsRestart)
    }
  }

  /// A connection to the store was made.
  package func storeConnected() { parts.withLock { $0.storeConnects += 1 } }

  /// Whether the database cannot be asked for the lease.
  package var isStoreAway: Bool {
    get { parts.withLock { $0.storeAwaySince != nil } }
    set {
      let now = EngineClock.realNow()
      parts.withLock { $0.storeAwaySince = newValue ? $0.storeAwaySince ?? now : nil }
    }
  }

  /// nil where another server is configured.
  package var privateServer: PrivateServer? {
    get { parts.withLock { $0.privateServer } }
    set { parts.withLock { $0.privateServer = newValue } }
  }

  package var disks: [DiskForecast] {
    get { parts.withLock { $0.disks } }
    set { parts.withLock { $0.disks = newValue } }
  }

  /// The one that requests of sources go through.
  package var client: HTTPClient? {
    get { parts.withLock { $0.client } }
    set { parts.withLock { $0.client = newValue } }
  }

  package var keyEnds: [String: TradingDay] {
    get { parts.withLock { $0.keyEnds } }
    set { parts.withLock { $0.keyEnds = newValue } }
  }

  /// nil if its turn does not end in time: what hangs must not keep its report from being made.
  private func ask(_ engine: Engine) async -> EngineReport? {
    let isAsked = parts.withLock { parts in
      guard parts.pendingReports < Self.pendingReportsMax else { return false }
      parts.pendingReports += 1
      return true
    }
    guard isAsked else { return nil }
    return await result(within: patienceNanoseconds) { [parts] in
      defer { parts.withLock { $0.pendingReports -= 1 } }
      return await engine.report(on: [])
    }
  }

  /// Everything in one value. Waits for the engine's turn to end, but not for long.
  package func report() async -> DaemonReport {
    let parts = parts.withLock { $0 }
    var engine: EngineReport?
    if let running = parts.engine { engine = await ask(running) }
    var report = DaemonReport(
      at: EngineClock.realNow(), startedAt: startedAt, role: parts.role, engine: engine)
    if engine?.isStopping == true { report.role = .draining }
    report.loops = heartbeats.all.map {
      DaemonReport.Loop(
        name: $0.name, ageMicroseconds: $0.ageNanoseconds / 1_000, isStale: $0.isStale)
    }
    report.reload = parts.reload
    report.storeConnects = parts.storeConnects
    report.storeAwaySince = parts.storeAwaySince
    report.privateServer = parts.privateServer
    report.disks = parts.disks
    report.authorityEnds = (parts.client?.authorityEnds ?? [:]).mapValues { Timestamp(seconds: $0) }
    report.keyEnds = parts.keyEnds
    report.process = ProcessReport()
    report.journal = parts.journalDirectory.flatMap { try? DiskUsage(directory: $0) }
    return report
  }
}

/// What `work` comes to; nil if that takes longer. It goes on all the same.
func result<Value: Sendable>(
  within nanoseconds: UInt64, of work: @escaping @Sendable () async -> Value
) async -> Value? {
  let (results, inbox) = AsyncStream.makeStream(of: Value?.self)
  // Unstructured: what hangs is not waited for.
  Task {
    let value = await work()
    inbox.yield(value)
  }
  // Unstructured, as above.
  let patience = Task {
    try? await Task.sleep(nanoseconds: nanoseconds)
    inbox.yield(nil)
  }
  defer { patience.cancel() }
  for await result in results { return result }
  return nil
}
