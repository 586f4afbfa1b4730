import Commits
import ExchangeSimulator
import Feeds
import Ledgers
import Logging
import Market
import Platform
import Polling
import Store
import TestExchange
import TestSupport

@testable import Ingest
@testable import Journal
@testable import Transport

/// All upstreams of a simulated exchange in memory, for an engine without a clock: quotes are asked
/// for at the moment of their request, everything else at the engine's.
actor SimulatedWorld: Upstream {
  private var exchange: MemoryExchange
  private var engine: Engine?
  /// When each instrument's quote was last asked for.
  private(set) var polledLast: [Symbol: Timestamp] = [:]
  private(set) var feedRequests: [FeedRequest] = []
  /// What each question was asked with.
  private(set) var keys: [String?] = []
  /// Called with each question's number, from 1, before it is answered.
  private var meanwhile: (@Sendable (Int) async -> Void)?
  /// Answers in the exchange's place.
  private let instead: @Sendable (FeedRequest, Timestamp) -> CannedResponse?

  static let licence = "AF98235C-1"

  init(
    _ exchange: MemoryExchange,
    instead: @escaping @Sendable (FeedRequest, Timestamp) -> CannedResponse? = { _, _ in nil }
  ) {
    self.exchange = exchange
    self.instead = instead
  }

  func follow(_ engine: Engine, meanwhile: (@Sendable (Int) async -> Void)? = nil) {
    self.engine = engine
    self.meanwhile = meanwhile
  }

  func response(to feedRequest: FeedRequest, key: String?, host: Int) async -> UpstreamResponse {
    if case .quotes(let query) = feedRequest.query {
      for symbol in query.symbols { polledLast[symbol] = query.askedAt }
      return ask(feedRequest.endpoint(credentials: nil), at: query.askedAt)
    }
    guard let now = await engine?.now else {
      return .failure(TransportError(.timeout, route: feedRequest.journalKey))
    }
    feedRequests.append(feedRequest)
    keys.append(key)
    await meanwhile?(feedRequests.count)
    if let canned = instead(feedRequest, now) {
      return .response(
        status: Int32(canned.status), body: Array(canned.body.utf8), retryAfter: nil)
    }
    let words = ["mairui": [Self.licence], "alpaca": ["id", "secret"]]
    let credentials = words[feedRequest.definition.name].map { FeedCredentials(words: $0) }
    return ask(feedRequest.endpoint(credentials: credentials), at: now)
  }

  private func ask(_ endpoint: Endpoint, at now: Timestamp) -> UpstreamResponse {
    let headers = endpoint.headers.map { ($0.name.lowercased(), $0.value) }
    let given = exchange.response(
      endpoint.path, headers: Dictionary(uniqueKeysWithValues: headers), at: now)
    guard let given else { return .failure(TransportError(.timeout, route: endpoint.route)) }
    return .response(
      status: Int32(given.status), body: given.body,
      retryAfter: given.retryAfterSeconds.map(String.init))
  }
}

/// An engine with workers on simulated days, without clock, socket or database.
struct WorkerRun {
  var world: SimulatedWorld
  var symbols: [Symbol]
  var start: Timestamp
  var end: Timestamp
  var workers = SampleWorkers()
  var limits = UniverseLimits()
  var followsUniverse = false
  var cadenceSeconds = 3
  /// Of the operator's file.
  var declaredDays: [TradingDay: Bool] = [:]
  /// nil logs nowhere.
  var lines: LogLines?
  let folder: JournalFolder

  init(_ world: SimulatedWorld, _ symbols: [Symbol], from start: Timestamp, to end: Timestamp)
    throws
  {
    (self.world, self.symbols, self.start, self.end) = (world, symbols, start, end)
    folder = try JournalFolder()
    limits.mainRowsMin = 10
    workers.repairs.requestsPerNight = 0
  }

  func engine(_ sink: some CommitSink, stored: StoredState? = nil) throws -> Engine {
    let pipeline =
      try stored.map { try Pipeline(limits: limits, stored: $0) } ?? Pipeline(limits: limits)
    let parts = EngineParts(
      clock: .stepped(start: start),
      workers: SourceWorkers(try configuration(), upstream: world),
      store: sink,
      journal: try JournalWriter(
        directory: folder.path, committed: stored?.position ?? .start),
      journalDirectory: folder.path,
      log: lines?.logger ?? Logger(label: "engine", factory: { _ in SwiftLogNoOpLogHandler() }))
    var bounds = EngineLimits()
    bounds.stopAt = end
    return Engine(parts: parts, pipeline: pipeline, limits: bounds)
  }

  func configuration() throws -> WorkerConfiguration {
    var configuration = try workers.configuration()
    configuration.declaredDays = declaredDays
    var poller = PollerConfiguration(referenceSymbol: symbols[0], seed: 1)
    poller.batchSymbolsMax = 40
    configuration.quotes = [
      QuotesConfiguration(
        source: .sina, poller: poller,
        schedule: PollSchedule(
          windows: PollWindow.aShare(every: cadenceSeconds), seed: 1,
          isTradingDay: TradingCalendar.shanghai.mayTrade),
        symbols: symbols, followsUniverse: followsUniverse)
    ]
    return configuration
  }

  /// Runs to the end, from what was stored.
  /// - Returns: how fresh American bars are there; nil where nobody asks for them.
  func barsFreshness(after stored: StoredState) async throws -> SourceReport.Freshness? {
    let engine = try engine(MemorySink(), stored: stored)
    await world.follow(engine)
    _ = try await engine.run()
    return await engine.report(on: []).sources.first { $0.endpoint == "bars" }?.freshness
  }

  /// Runs to the end; nothing may be left unsaved.
  func run(_ sink: some CommitSink, stored: StoredState? = nil) async throws -> Unsaved {
    let engine = try engine(sink, stored: stored)
    await world.follow(engine)
    return try await engine.run()
  }

  /// What the journal says the tables are, read from its beginning.
  func replay() throws -> FeedTables {
    var tables = FeedTables()
    var pipeline = Pipeline(limits: limits)
    let reader = try JournalReader(directory: folder.path)
    while let (position, entry) = try reader.next() {
      pipeline.process(entry, at: position)
      if let commit = pipeline.takeCommit() { tables.take(commit) }
    }
    return tables
  }

  func entries() throws -> [JournalEntry] {
    let reader = try JournalReader(directory: folder.path)
    var entries: [JournalEntry] = []
    while let (_, entry) = try reader.next() { entries.append(entry) }
    return entries
  }
}

/// What an engine's commits leave.
final class FeedSink: Sendable {
  let tables = Locked(FeedTables())

  var sink: MemorySink {
    MemorySink(inspect: { commit in self.tables.withLock { $0.take(commit) } })
  }

  var current: FeedTables { tables.withLock { $0 } }
}
