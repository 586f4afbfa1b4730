import Commits
import EmbeddedPostgres
import Feeds
import Journal
import Logging
import Market
import Operations
import Platform
import Transport

/// Recording before there is a database: the private server does not start, because its programs
/// are gone from the disk, or it is being upgraded. Nobody else can lead in it, so this daemon asks
/// the sources for live quotes and keeps what they answer in its journal, where every later start
/// finds it.
extension Daemon {
  /// Starts the private server.
  /// - Returns: nil once it runs; what is not saved if this daemon is to stop before.
  /// - Throws: why a cluster that was never made cannot be; a folder that is of no use.
  func record(
    until keeper: PostgresSupervisor, as identity: JournalIdentity
  ) async throws -> Unsaved? {
    do throws(EmbeddedServerError) {
      try await keeper.start()
      return nil
    } catch {
      guard error.code != .directoryUnusable, settings.embeddedServer.major != nil else {
        throw error
      }
      return try await record(until: keeper, after: error, as: identity)
    }
  }

  private func record(
    until keeper: PostgresSupervisor, after error: EmbeddedServerError,
    as identity: JournalIdentity
  ) async throws -> Unsaved? {
    let client = try HTTPClient()
    state.client = client
    defer { client.shutdown() }
    let journal = try JournalWriter(
      directory: settings.journalPath, options: journalOptions, identity: identity)
    report(journal.recovery, stored: nil)
    state.journalDirectory = settings.journalPath
    let loop = state.heartbeats.begin("engine", ageSecondsMax: Self.loopSecondsMax)
    let engine = try makeEngine(
      stored: nil, journal: journal, store: AbsentStore(reason: error.sentence), client: client,
      heartbeat: loop, workers: try recallingSymbols(workerConfiguration))
    state.engine = engine
    state.isStoreAway = true
    defer {
      state.engine = nil
      state.isStoreAway = false
      state.heartbeats.end(loop)
    }
    stop.whenSet { [weak engine] _ in engine?.stop() }
    log.critical(
      "no database: responses are kept in the journal only", metadata: ["error": "\(error)"])
    // Unstructured: a start that hangs must not keep a stopped daemon waiting.
    let start = Task {
      await keeper.startPatiently(after: error)
      engine.stop()
    }
    defer { start.cancel() }
    let unsaved = try await engine.run()
    return stop.isSet ? unsaved : nil
  }

  /// Which instruments lists named is in the database; the journal has which were asked for last.
  private func recallingSymbols(
    _ workers: WorkerConfiguration
  ) throws(JournalError) -> WorkerConfiguration {
    guard workers.quotes.contains(where: \.followsUniverse) else { return workers }
    let last = try LastSweep(directory: settings.journalPath, at: clock.now)
    var workers = workers
    for place in workers.quotes.indices where workers.quotes[place].followsUniverse {
      let source = workers.quotes[place].source
      let known = Set(workers.quotes[place].symbols)
      let isRequestable = SourceRegistry.quotes(of: source).isRequestable
      workers.quotes[place].symbols += (last.symbols[source.instruments] ?? [])
        .filter { !known.contains($0) && isRequestable($0) }
    }
    return workers
  }
}

/// What was asked for in the last sweep of live quotes that the journal has, by series.
struct LastSweep {
  private(set) var symbols: [Source: [Symbol]] = [:]

  /// A weekend, and the longest closure.
  private static let daysBack: [Int64] = [1, 4, 14]
  /// A sweep of all sources, those with a fallback's pace as well.
  private static let seconds: Int64 = 60

  init(directory: String, at now: Timestamp) throws(JournalError) {
    for days in Self.daysBack {
      let since = now.adding(seconds: -days * 86_400)
      var sweep: [(position: JournalPosition, at: Timestamp)] = []
      try JournalReader.heads(in: directory, since: since) { head in
        guard head.isSwept else { return }
        sweep.removeAll { $0.at < head.receivedAt.adding(seconds: -Self.seconds) }
        sweep.append((head.position, head.receivedAt))
      }
      guard let first = sweep.first, let last = sweep.last else { continue }
      try read(first.position...last.position, of: directory)
      return
    }
  }

  private mutating func read(
    _ positions: ClosedRange<JournalPosition>, of directory: String
  ) throws(JournalError) {
    let before = JournalPosition(positions.lowerBound.sequence - 1)
    let reader = try JournalReader(directory: directory, after: before)
    var known: Set<Symbol> = []
    while let (position, entry) = try reader.next(), position <= positions.upperBound {
      guard let group = entry.quotesGroup, group != QuotesQuery.probeGroup else { continue }
      symbols[entry.source.instruments, default: []] += Symbol.list(of: entry.request)
        .filter { known.insert($0).inserted }
    }
  }
}

/// What takes nothing.
private struct AbsentStore: CommitSink {
  let reason: String

  private var absence: StoreError {
    StoreError(.connectionLost, message: reason, context: StoreError.connecting)
  }

  func commit(_ commit: Commit) async throws(StoreError) -> CommitReceipt { throw absence }
  func load() async throws(StoreError) -> StoredState { throw absence }
  func repairCandidates(from day: TradingDay) async throws(StoreError) -> [RepairCandidate] {
    throw absence
  }
}
