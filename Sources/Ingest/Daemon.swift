import Candles
import Commits
import EmbeddedPostgres
import Feeds
import Journal
import Logging
import Market
import Operations
import Platform
import Polling
import Postgres
import Store
import Transport

/// candled as a whole, made from its settings: the store (its own or somebody else's), the journal,
/// the sources' workers and the engine that joins them. `run()` is what `candled run` does and what
/// the demo does; they differ in settings alone.
package struct Daemon: Sendable {
  /// What holds now: a reload replaces it.
  let inForce: Locked<ValidatedConfiguration>
  let log: Logger
  /// The clock; given for a simulation that shares it with an exchange in the same process.
  let clock: EngineClock
  /// A stepped run is repeatable in everything, the phase of its polls included.
  let seed: UInt64
  /// Who answers in the place of the sources' hosts; nil in production.
  private let upstream: (any Upstream)?
  /// Call it to let `run` drain and return, at any time.
  package let stop = Latch<Void>()
  /// The engine's bounds; what is configured is added to them.
  package var limits = EngineLimits()
  /// What it is doing, for those who are asked.
  package let state: DaemonState
  /// What its sessions connect through.
  let gate = ConnectGate()

  /// - Throws: `ConfigurationError` if the file with symbols or one with keys cannot be read.
  package init(
    settings: Settings, clock: EngineClock? = nil, upstream: (any Upstream)? = nil,
    state: DaemonState = DaemonState(), log: Logger
  ) throws {
    let configuration = ValidatedConfiguration(settings)
    if let fault = configuration.fault { throw fault }
    self.init(
      configuration: configuration, clock: clock, upstream: upstream, state: state, log: log)
  }

  /// The daemon of a configuration without a problem.
  package init(
    configuration: ValidatedConfiguration, clock: EngineClock? = nil,
    upstream: (any Upstream)? = nil, state: DaemonState = DaemonState(), log: Logger
  ) {
    inForce = Locked(configuration)
    self.state = state
    self.upstream = upstream
    self.log = log
    let clock = clock ?? EngineClock(configuration.settings)
    self.clock = clock
    seed = clock.isStepped ? 1 : UInt64.random(in: .min ... .max)
    RuleBook.use(operators: configuration.rules, on: clock.now.shanghaiDay)
  }

  /// As configured, the last days of keys.
  func publishKeyEnds() {
    state.keyEnds = Dictionary(
      uniqueKeysWithValues: SourceRegistry.all.compactMap { source in
        source.credentials?.ends.flatMap { settings[$0] }.map { (source.name, $0) }
      })
  }

  var configuration: ValidatedConfiguration { inForce.withLock { $0 } }
  var settings: Settings { configuration.settings }
  package var credentials: SourceCredentials { configuration.credentials }

  /// Builds everything up, stands by while another daemon leads, and hands the engine to `onReady`
  /// when it leads for the first time; then runs until it is stopped.
  /// - Returns: what could not be saved before the drain's deadline.
  /// - Throws: `StoreError`, `EmbeddedServerError`, `JournalError`, `EngineError`,
  ///   `TransportError`.
  package func run(
    onReady: @escaping @Sendable (DaemonHandle) async -> Void = { _ in }
  ) async throws -> Unsaved {
    let isPrivate = settings[StoreSettings.url] == nil
    // The journal's folder may be beside the server's, and admits nobody.
    if isPrivate { try settings.embeddedServer.makeParents() }
    // Another daemon's folder is another daemon's server.
    let identity = try JournalIdentity(directory: settings.journalPath)
    publishKeyEnds()
    async let _: Void = watchDisks()
    guard isPrivate else { return try await serve(as: identity, onReady) }
    let keeper = PostgresSupervisor(settings.embeddedServer, log: log) { [state] in
      state.privateServer = $0
    }
    do {
      var unsaved = try await record(until: keeper, as: identity)
      if unsaved == nil { unsaved = try await serve(beside: keeper, as: identity, onReady) }
      try await keeper.stop()
      return unsaved ?? Unsaved()
    } catch {
      try? await keeper.stop()
      throw error
    }
  }

  /// The private server is watched meanwhile and no longer: once it is stopped, the keeper would
  /// start it again.
  private func serve(
    beside keeper: PostgresSupervisor, as identity: JournalIdentity,
    _ onReady: @escaping @Sendable (DaemonHandle) async -> Void
  ) async throws -> Unsaved {
    async let _: Void = keeper.keepRunning()
    try Schema.applyIfDifferent(
      url: settings.embeddedServer.ownerConnectionString, sources: SourceRegistry.rows,
      endingReaders: true
    ) {
      log.warning("the schema is not applied yet, \($0)")
    }
    return try await serve(as: identity, onReady)
  }

  /// The engine turns every 5 s; one that has not for so long hangs.
  static let loopSecondsMax: Int64 = 30

  /// May hold a password: never to be printed.
  var storeURL: String {
    configuration.store?.reveal() ?? settings.embeddedServer.connectionString
  }

  var psqlLine: String {
    settings[StoreSettings.url] == nil
      ? settings.embeddedServer.psqlLine : "psql \"$CANDLED_STORE_URL\""
  }

  /// - Parameters:
  ///   - stored: what to go on from; nil where there is no database to say.
  ///   - workers: who is asked for what.
  func makeEngine(
    stored: StoredState?, journal: sending JournalWriter, store: any CommitSink,
    client: HTTPClient, heartbeat: Heartbeat, workers: WorkerConfiguration
  ) throws -> Engine {
    let (rules, limits) = (CandleRules(settings), UniverseLimits(settings))
    let pipeline: Pipeline
    if let stored {
      pipeline = try Pipeline(rules: rules, limits: limits, stored: stored)
    } else {
      pipeline = Pipeline(rules: rules, limits: limits)
    }
    let parts = EngineParts(
      clock: clock,
      workers: SourceWorkers(
        workers,
        upstream: try upstream
          ?? HTTPUpstream(
            client: client, hosts: HTTPUpstream.hosts(settings), credentials: credentials,
            speed: clock.speed)),
      store: store, journal: journal, journalDirectory: settings.journalPath, log: log,
      heartbeat: heartbeat)
    warn(of: pipeline.calendar)
    return Engine(
      parts: parts, pipeline: pipeline, limits: engineLimits, isJournalOnly: stored == nil)
  }

  private func warn(of calendar: TradingCalendar) {
    let today = clock.now.shanghaiDay
    if let rule = ZoneCheck.rule(), rule != ZoneCheck.builtIn {
      log.critical(
        "the time zone database has another clock for New York: install a newer candled",
        metadata: ["found": "\(rule)", "expected": "\(ZoneCheck.builtIn)"])
    }
    guard case .endsSoon(let days) = calendar.freshness(on: today) else { return }
    log.warning("the trading calendar ends soon", metadata: ["days_left": "\(days)"])
  }

  func report(_ recovery: JournalRecovery, stored: JournalPosition?) {
    log.info(
      "opened",
      metadata: [
        "stored": "\(stored.map { "\($0.sequence)" } ?? "unknown")",
        "journal": "\(recovery.lastPosition.sequence)",
        "torn_bytes": "\(recovery.tornBytes)", "symbols": "\(configuration.polled.count)",
      ])
    for sentence in recovery.ignored {
      log.error(
        "the journal's folder contains a file that is no segment",
        metadata: ["found": "\(sentence)"])
    }
    if let path = recovery.tornPath {
      log.warning(
        "truncated an incomplete entry at the end of the journal",
        metadata: ["path": "\(path)", "bytes": "\(recovery.tornBytes)"])
    }
    if let damage = recovery.damage {
      log.error("the journal is damaged", metadata: ["error": "\(damage)"])
    }
  }
}

/// A daemon that is up.
package struct DaemonHandle: Sendable {
  package let engine: Engine
  package let storeURL: String
  /// What a person types to look inside.
  package let psqlLine: String
}

extension Settings {
  /// The private cluster, for when `store.url` is not set; whether it is running or not.
  package var embeddedServer: EmbeddedServer {
    EmbeddedServer(
      directory: self.serverPath, readersDirectory: self[StoreSettings.readersSocket],
      backupDirectory: self[StoreSettings.backupDirectory])
  }
}

extension CandleRules {
  /// The rules as configured: a replay must use those of the run.
  package init(_ settings: Settings) {
    self.init()
    silenceSecondsMax = Int(settings[CandlesSettings.maxSilence].wholeMilliseconds) / 1000
    graceSeconds = Int(settings[CandlesSettings.grace].wholeMilliseconds) / 1000
    sourceTimeoutSeconds = max(
      Int(
        settings[CandlesSettings.sourceTimeout].wholeMilliseconds
          - settings[CandlesSettings.grace].wholeMilliseconds)
        / 1000,
      silenceSecondsMax)
  }
}

extension UniverseLimits {
  init(_ settings: Settings) {
    self.init()
    mainRowsMin = settings[UniverseSettings.rowsMin]
  }
}

extension EngineClock {
  /// The clock as configured.
  package init(_ settings: Settings) {
    let start = settings[ClockSettings.start] ?? EngineClock.realNow()
    switch settings[ClockSettings.mode] {
    case .real: self = .real
    case .scaled: self = .scaled(from: start, speed: Int64(settings[ClockSettings.speed]))
    case .stepped: self = .stepped(start: start)
    }
  }
}

extension StoreWriter: CommitSink {}
