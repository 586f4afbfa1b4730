/// What `candled backfill` and `candled gaps --fill` share: a database that is up, a writer beside
/// the daemon's, a line to the source, and somebody who says how it goes.

import Candles
import Commits
import EmbeddedPostgres
import Feeds
import Ingest
import Journal
import Logging
import Market
import Operations
import Polling
import Reader
import Store
import TerminalView
import Transport

final class BackfillSession {
  private let settings: Settings
  private let credentials: SourceCredentials
  private let log: Logger
  /// Shows what the configured clock shows at the start, and runs at the steady clock's pace: the
  /// hours of requests are paced for a real host.
  private let clock: EngineClock
  private let writer: HistoryWriter
  /// The private cluster, if this command had to start it.
  private var startedServer: EmbeddedServer?
  private var url = ""
  private var isOpen = false
  /// The table's, once open with the days that the daemon learnt.
  private(set) var calendar = TradingCalendar.shanghai

  /// - Throws: a configuration whose keys cannot be read.
  init(_ settings: Settings) throws(ConfigurationError) {
    self.settings = settings
    let credentials = try SourceCredentials(settings)
    let mask = SecretMask()
    settings.register(in: mask)
    credentials.register(in: mask)
    self.credentials = credentials
    log = Logger(label: "candled") { label in
      LineLogHandler(
        label: label, level: settings.logLevel, format: settings.logFormat, mask: mask)
    }
    url = try settings.storeConnection() ?? settings.embeddedServer.connectionString
    writer = HistoryWriter(url: url, confirmSeconds: settings.confirmSeconds)
    clock = .scaled(from: EngineClock(settings).now, speed: 1)
  }

  func today(of source: Source) -> TradingDay { source.today(at: clock.now) }

  /// Does `work` with a database that is up, and leaves it as it was found.
  /// - Parameter starting: false does it without one rather than start the private cluster.
  func whileOpen(starting: Bool = true, _ work: () async throws -> Void) async throws {
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
    if settings.storeURL == nil, !settings.embeddedServer.isRunning {
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

  // MARK: - Instruments

  /// One the database knows, or any well-formed A-share or American symbol.
  static func resolve(_ spelling: String) throws -> Symbol {
    for spelling in [spelling, spelling.uppercased()] {
      guard let symbol = Symbol(anySpelling: spelling) else { continue }
      if SourceRegistry.all.contains(where: { $0.bars?.isRequestable(symbol) == true }) {
        return symbol
      }
    }
    throw CommandFailure(
      status: .usage, sentence: "\(spelling): expected a symbol such as sh600519 or AAPL")
  }

  /// All of one source that the database knows.
  func symbols(of source: Source?) throws -> [Symbol] {
    guard isOpen else {
      throw CommandFailure(
        status: .unavailable, sentence: "--all needs the database (`candled run` starts it)")
    }
    let source = source ?? .live
    let found = try StoreReader(url: url).instruments().filter {
      $0.source == source.instruments.name
    }
    .map(\.symbol).filter { source.canProvide(of: $0) }
    guard !found.isEmpty else {
      throw CommandFailure(
        status: .dataError, sentence: "the database has no instrument of \(source.name)")
    }
    return found
  }

  /// - Throws: `usage` for the first symbol the source does not have, or a missing key.
  func check(_ symbols: [Symbol], of source: Source) throws {
    if let unknownSymbol = symbols.first(where: { !source.canProvide(of: $0) }) {
      throw CommandFailure(
        status: .usage, sentence: "\(source.name) does not know \(unknownSymbol)")
    }
    let definition = SourceRegistry.definition(of: source)
    if let file = definition.credentials?.file, credentials.keys(of: definition).isEmpty {
      throw CommandFailure(
        status: .configuration,
        sentence: "\(source.name) needs a key: set \(file.declaration.key)")
    }
  }

  func gapCounts(of symbol: Symbol?) throws -> [String] {
    try StoreReader(url: url).gapCounts(of: symbol)
  }

  // MARK: - Work

  func plan(_ order: BackfillOrder) -> BackfillPlan {
    let isBooked = !order.source.hasBarsAlone
    let availableAt = clock.now.adding(seconds: -Self.lateSeconds)
      .adding(milliseconds: -delayMilliseconds(of: order.source))
    let today = order.source.today(at: availableAt)
    let isOver =
      isBooked && availableAt.shanghaiSecondOfDay >= CandleRules(settings).dayEndSecondOfDay
    return BackfillPlan(
      order, today: today, lastOver: isOver ? today : today.advanced(by: -1)
    ) { isBooked ? calendar.isTradingDay($0) : nil }
  }

  /// What a bar ended with may be told a few seconds late.
  private static let lateSeconds: Int64 = 60

  /// What is left of a plan.
  func rounds(of plan: BackfillPlan, leavingOutDone: Bool) async throws -> BackfillPlan.Rounds {
    let done = leavingOutDone && isOpen ? try await writer.doneChunks(plan.chunks.map(\.name)) : [:]
    return plan.rounds(leavingOut: done.mapValues(\.through))
  }

  func tasks(of chunks: [BackfillPlan.Chunk], _ plan: BackfillPlan) -> [BackfillTask] {
    chunks.map { chunk in
      BackfillTask(
        chunk: HistoryCommit.Chunk(name: chunk.name, through: plan.through(chunk)),
        feedRequests: feedRequests(of: chunk, plan.order), days: chunk.from...chunk.to)
    }
  }

  private func feedRequests(
    of chunk: BackfillPlan.Chunk, _ order: BackfillOrder
  ) -> [FeedRequest] {
    guard !order.source.hasBarsAlone else {
      let query = BarsQuery(
        symbols: chunk.symbols, timeframe: order.timeframe,
        start: order.source.midnight(of: chunk.from), end: end(of: chunk.to, order.source))
      return query.start < query.end ? [FeedRequest(.bars(query), to: order.source)] : []
    }
    let bars = SourceRegistry.definition(of: order.source).bars
    guard let bars, bars.timeframes.contains(order.timeframe) else { return [] }
    // Days of years are of little use without what they must be adjusted by.
    let withFactors = bars.hasFactors && order.timeframe == .day1
    return chunk.symbols.flatMap { symbol -> [FeedRequest] in
      let factors = withFactors ? AdjustmentFactor.Kind.allCases : []
      let queries =
        [FeedQuery.newestBars(symbol, order.timeframe, count: chunk.newestBars)]
        + factors.map { .factors(symbol, $0) }
      return queries.map { FeedRequest($0, to: order.source) }
    }
  }

  /// What the plan the account is on lets see.
  private func end(of day: TradingDay, _ source: Source) -> Timestamp {
    min(
      source.midnight(of: day.advanced(by: 1)),
      clock.now.adding(milliseconds: -delayMilliseconds(of: source)))
  }

  private func delayMilliseconds(of source: Source) -> Int64 {
    let recording = SourceRegistry.definition(of: source).bars?.recording
    return recording.map { settings[$0.delay].wholeMilliseconds } ?? 0
  }

  /// The minutes of every day that has open gaps, or is not balanced, as far back as they can be
  /// had.
  func repairTasks(symbol: Symbol?) async throws -> [BackfillTask] {
    let plan = RepairPlan()
    let (calendar, today) = (calendar, today(of: .live))
    let first = plan.firstDay(on: today) { calendar.isTradingDay($0) }
    let candidates = try await writer.repairCandidates(from: first).filter { candidate in
      // A clock that is behind the rows must not ask for a day that it has not come to.
      candidate.day <= today && candidate.want >= .unbalanced
        && (symbol == nil || candidate.symbol == symbol)
    }
    // Asked by hand, nothing rests.
    let never = candidates.map {
      RepairCandidate(symbol: $0.symbol, day: $0.day, want: $0.want)
    }
    return plan.orders(never, at: clock.now).map { order in
      BackfillTask(
        feedRequests: [.minutes(of: order, on: today, calendar: calendar, from: .live)],
        days: order.firstDay...today)
    }
  }

  func budget(of source: Source) -> CommandBudget {
    CommandBudget(
      source, settings, besideDaemon: JournalIdentity.isHeld(in: settings.journalPath))
  }

  /// One command at a time asks a source, whatever it asks.
  /// - Returns: the line, for as long as it lives.
  /// - Throws: `temporaryFailure` while another process has it.
  private func acquireSourceLock(to source: Source) throws -> JournalIdentity {
    let name = SourceRegistry.definition(of: source).name
    do throws(JournalError) {
      return try JournalIdentity(directory: settings.stateDirectory + "/backfill/line-" + name)
    } catch {
      guard error.code == .locked else { throw error }
      throw CommandFailure(
        status: .temporaryFailure,
        sentence: "another command sends requests to \(source.name): rerun when it has ended")
    }
  }

  /// Asks, stores and says how it goes.
  /// - Throws: `temporaryFailure` if something was given up, it was stopped early, or another
  ///   command asks the same source.
  /// - Parameters:
  ///   - later: begun once all of `tasks` are done.
  ///   - resumption: how to go on with what is left.
  func run(
    _ tasks: [BackfillTask], later: [BackfillTask] = [], source: Source, journal name: String,
    resumption: String
  ) async throws {
    let taken = try acquireSourceLock(to: source)
    defer { withExtendedLifetime(taken) {} }
    let client = try HTTPClient()
    defer { client.shutdown() }
    let budget = budget(of: source)
    if budget.isShared {
      StandardError.writeLine(
        "the daemon sends requests to \(source.name), too: this command sends at most "
          + "\(counted(budget.requestsPerMinute, "request")) a minute")
    }
    let upstream = HTTPUpstream(
      client: client, hosts: try HTTPUpstream.hosts(settings), credentials: credentials)
    let backfill = Backfill(
      BackfillParts(
        upstream: upstream,
        key: credentials.keys(of: SourceRegistry.definition(of: source)).first?.label,
        writer: writer,
        journal: try JournalWriter(directory: settings.stateDirectory + "/backfill/" + name),
        rules: CandleRules(settings), calendar: calendar, clock: clock, log: log),
      line: PacedQueueConfiguration(
        source, requestsPerMinute: budget.requestsPerMinute, seed: .random(in: .min ... .max)))
    let printer = ProgressPrinter()
    try ServiceSignals.watch { backfill.stop() }
    let end = try await backfill.run(tasks, later: later) { printer.update($0) }
    printer.finish(end)
    if end.tasksFailed > 0 || end.tasksDone < end.tasks {
      throw CommandFailure(
        status: .temporaryFailure,
        sentence:
          "\(end.tasks - end.tasksDone) of \(counted(end.tasks, "chunk")) left: \(resumption)")
    }
  }
}

extension Source {
  fileprivate func canProvide(of symbol: Symbol) -> Bool {
    SourceRegistry.definition(of: self).bars?.isRequestable(symbol) == true
  }

  fileprivate func midnight(of day: TradingDay) -> Timestamp {
    SourceRegistry.definition(of: self).market.zone.moment(on: day, secondOfDay: 0)
  }
}
