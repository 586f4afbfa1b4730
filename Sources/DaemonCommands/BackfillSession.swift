/// The parts that `candled backfill`, `candled gaps --fill` and a demo share: a database that is
/// up, a writer beside the daemon's, the source's requests and the progress on standard error.

import Candles
import Commands
import Commits
import EmbeddedPostgres
import Feeds
import History
import Ingest
import Journal
import Logging
import Market
import Operations
import Polling
import Reader
import Store
import Transport

package final class BackfillSession {
  private let settings: Settings
  private let credentials: SourceCredentials
  private let log: Logger
  /// Starts at the configured clock's time and runs at the steady clock's pace: the hours of
  /// requests are paced for a real host.
  private let clock: EngineClock
  private let writer: HistoryWriter
  private let upstream: (any Upstream)?
  /// The private cluster, if this command had to start it.
  private var startedServer: EmbeddedServer?
  private var url = ""
  private var isOpen = false
  /// The table's, once open with the days that the daemon learnt.
  private var calendar = TradingCalendar.shanghai

  /// Root becomes the owner of the state directory.
  /// - Parameter upstream: who answers in the place of the source's hosts.
  /// - Throws: a configuration whose keys cannot be read, `FolderOwner`'s failure.
  package init(_ settings: Settings, upstream: (any Upstream)? = nil) throws {
    self.settings = settings
    self.upstream = upstream
    let credentials = try SourceCredentials(settings)
    let mask = SecretMask()
    settings.register(in: mask)
    credentials.register(in: mask)
    self.credentials = credentials
    log = Logger(label: "candled") { label in
      LineLogHandler(label: label, control: LogControl(settings), mask: mask)
    }
    url = try settings.storeConnection() ?? settings.embeddedServer.connectionString
    try FolderOwner.become(of: settings[StateSettings.directory])
    writer = HistoryWriter(url: url, confirmSeconds: settings.confirmSeconds)
    clock = .scaled(from: EngineClock(settings).now, speed: 1)
  }

  /// Does `work` with a database that is up, and leaves it as it was found.
  /// - Parameter starting: false does it without one rather than start the private cluster.
  package func whileOpen(starting: Bool = true, work: () async throws -> Void) async throws {
    do {
      try await open(starting: starting)
      try await work()
    } catch {
      try? await close()
      throw error
    }
    try await close()
  }

  /// Starts the private cluster if it is wanted and not up.
  private func open(starting: Bool) async throws {
    if settings[StoreSettings.url] == nil, !settings.embeddedServer.isRunning {
      guard starting else {
        return StandardError.writeLine(
          "no database is running: the plan does not know what is stored")
      }
      StandardError.writeLine("starting the private PostgreSQL …")
      try settings.embeddedServer.start()
      startedServer = settings.embeddedServer
      try Schema.apply(
        url: settings.embeddedServer.ownerConnectionString, sources: SourceRegistry.rows)
    }
    try await writer.connect()
    isOpen = true
    calendar = calendar.extended(byStored: try await writer.sessions())
  }

  private func close() async throws {
    await writer.disconnect()
    // A daemon that came meanwhile has adopted it.
    guard !JournalIdentity.isHeld(in: settings.journalPath) else { return }
    try startedServer?.stop()
  }

  /// All of one source that the database knows.
  package func symbols(of source: Source?) throws -> [Symbol] {
    guard isOpen else {
      throw CommandFailure(
        status: .unavailable, sentence: "--all needs the database (`candled run` starts it)")
    }
    let source = source ?? .live
    let bars = SourceRegistry.definition(of: source).bars
    let found = try reader().instruments(of: source.instruments)
      .filter { bars?.isRequestable($0) == true }
    guard !found.isEmpty else {
      throw CommandFailure(
        status: .dataError, sentence: "the database has no instrument of \(source.name)")
    }
    return found
  }

  /// Of this session's database.
  package func reader() throws -> StoreReader { try StoreReader(url: url) }

  // MARK: - Work

  /// With the calendar and the time of now.
  package var planner: BackfillPlanner {
    BackfillPlanner(settings, credentials: credentials, calendar: calendar, now: clock.now)
  }

  /// How far the chunks of a plan are stored, by name; empty without a database.
  package func done(_ plan: BackfillPlan) async throws -> [String: TradingDay] {
    guard isOpen else { return [:] }
    return try await writer.doneChunks(plan.chunks.map(\.name)).mapValues(\.through)
  }

  package func repairs(of symbol: Symbol?) async throws -> BackfillSchedule {
    let candidates = try await writer.repairCandidates(from: planner.firstRepairDay)
    return planner.repairs(candidates, of: symbol)
  }

  package func budget(of source: Source) -> CommandBudget {
    CommandBudget(
      of: source, settings: settings,
      besideDaemon: JournalIdentity.isHeld(in: settings.journalPath))
  }

  /// One command at a time sends requests to a source.
  /// - Returns: a lock, held for as long as it lives.
  /// - Throws: `temporaryFailure` while another process has it.
  private func acquireSourceLock(to source: Source) throws -> JournalIdentity {
    let name = SourceRegistry.definition(of: source).name
    do throws(JournalError) {
      return try JournalIdentity(
        directory: settings[StateSettings.directory] + "/backfill/line-" + name)
    } catch {
      guard error.code == .locked else { throw error }
      throw CommandFailure(
        status: .temporaryFailure,
        sentence: "another command sends requests to \(source.name): rerun when it has ended")
    }
  }

  /// Sends the requests, stores the rows and prints the progress.
  /// - Parameter resumption: how to go on with what is left.
  /// - Throws: `temporaryFailure` if something was given up, it was stopped early, or another
  ///   command sends requests to the same source.
  package func run(
    _ schedule: BackfillSchedule, source: Source, journal name: String, resumption: String
  ) async throws {
    let lock = try acquireSourceLock(to: source)
    defer { withExtendedLifetime(lock) {} }
    let budget = budget(of: source)
    if budget.isShared {
      StandardError.writeLine(
        "the daemon sends requests to \(source.name), too: this command sends at most "
          + "\(counted(budget.requestsPerMinute, "request")) a minute")
    }
    let line = PacedQueueConfiguration(
      source, requestsPerMinute: budget.requestsPerMinute, seed: .random(in: .min ... .max))
    let printer = ProgressPrinter()
    let end = try await perform(schedule, of: source, journal: name, line: line) { stop in
      try ServiceSignals.watch(stop: stop)
    } report: {
      printer.update($0)
    }
    printer.finish(end)
    if end.tasksFailed > 0 || end.tasksDone < end.tasks {
      throw CommandFailure(
        status: .temporaryFailure,
        sentence:
          "\(end.tasks - end.tasksDone) of \(counted(end.tasks, "chunk")) left: \(resumption)")
    }
  }

  /// The same without a word, at a pace of the caller's.
  /// - Parameter stoppable: is given what ends it early, before it begins.
  package func perform(
    _ schedule: BackfillSchedule, of source: Source, journal name: String,
    line: PacedQueueConfiguration, stoppable: (@escaping @Sendable () -> Void) throws -> Void,
    report: @Sendable (BackfillProgress) -> Void
  ) async throws -> BackfillProgress {
    let client = try HTTPClient()
    defer { client.shutdown() }
    let upstream =
      try upstream
      ?? HTTPUpstream(
        client: client, hosts: HTTPUpstream.hosts(settings), credentials: credentials)
    let backfill = Backfill(
      BackfillParts(
        upstream: upstream,
        key: credentials.keys(of: SourceRegistry.definition(of: source)).first?.label,
        writer: writer,
        journal: try JournalWriter(
          directory: settings[StateSettings.directory] + "/backfill/" + name),
        rules: CandleRules(settings), calendar: calendar, clock: clock, log: log),
      line: line)
    try stoppable { backfill.stop() }
    return try await backfill.run(schedule.tasks, later: schedule.later, report: report)
  }
}
