import Feeds
import Market
import Operations
import Polling
import Transport

/// Which workers there are, as configured. Those of live quotes are made at once, the others when
/// the journal's tail is interpreted, from what the pipeline then knows of keys, lists and bars.
package struct SourceWorkers: Sendable {
  private(set) var upstream: any Upstream
  let configuration: WorkerConfiguration

  package init(_ configuration: WorkerConfiguration, upstream: any Upstream) {
    self.upstream = upstream
    self.configuration = configuration
  }

  func makeLive(for pipeline: Pipeline) -> [any SourceWorker] {
    configuration.quotes.map {
      QuotesWorker($0, following: pipeline.universe, calendar: pipeline.calendar)
    }
  }

  func make(for pipeline: Pipeline) -> [any SourceWorker] {
    configuration.sources.map { source in
      source.definition.bars?.recording != nil
        ? barsWorker(source, for: pipeline) : historyWorker(source, for: pipeline)
    }
  }

  /// The same hosts, with another configuration and other keys.
  func renewed(_ configuration: WorkerConfiguration, credentials: SourceCredentials)
    -> SourceWorkers
  {
    var renewed = SourceWorkers(configuration, upstream: upstream)
    if let http = upstream as? HTTPUpstream {
      renewed.upstream = http.with(credentials)
    }
    return renewed
  }

  /// All workers are made from these keys now.
  mutating func forgetEarlierKeys() {
    if let http = upstream as? HTTPUpstream { upstream = http.only(configuration.keys) }
  }

  /// The workers that a change of configuration or of keys means.
  func namesChanged(from old: SourceWorkers) -> Set<String> {
    let (now, before) = (configuration.sources, old.configuration.sources)
    let changed = now.filter { !before.contains($0) } + before.filter { !now.contains($0) }
    return Set(changed.map(\.definition.workerName))
  }

  private func listPlans(_ source: SourceConfiguration, for pipeline: Pipeline) -> ListPlans {
    ListPlans(
      source.lists, intervalDays: configuration.listDays, seed: configuration.seed,
      universe: pipeline.universe,
      askedAt: source.keys.compactMap { pipeline.keyUsage[$0.label]?.recordedAt }.max(),
      calendar: pipeline.calendar)
  }

  /// Requests are timed by the wall clock, the queue by the engine's.
  private func queue(_ source: SourceConfiguration, speed: Int = 1) -> PacedQueueConfiguration {
    var queue = PacedQueueConfiguration(
      source.definition.pace, requestsPerMinute: source.requestsPerMinute * speed,
      seed: configuration.seed)
    queue.deadlineMilliseconds = HTTPUpstream.deadlineMilliseconds * configuration.speed
    return queue
  }

  private func historyWorker(
    _ source: SourceConfiguration, for pipeline: Pipeline
  ) -> any SourceWorker {
    let hasQuota = source.definition.credentials?.requestsPerDay != nil
    return HistoryWorker(
      source.definition, lists: listPlans(source, for: pipeline),
      repairs: configuration.repairs, calendar: pipeline.calendar,
      ring: hasQuota ? keyRing(source, for: pipeline) : nil, hostCount: source.hostCount,
      requestQueue: queue(source, speed: hasQuota ? 1 : configuration.speed))
  }

  private func keyRing(_ source: SourceConfiguration, for pipeline: Pipeline) -> KeyRing {
    KeyRing(
      source.keys.map(\.label), of: source.definition.mainSeries,
      dailyQuota: source.requestsPerDay, seed: configuration.seed,
      usage: Array(pipeline.keyUsage.values))
  }

  private func barsWorker(
    _ source: SourceConfiguration, for pipeline: Pipeline
  ) -> any SourceWorker {
    var plan = BarsPlan(
      source.symbols, hours: source.series.barsHours, delaySeconds: source.delaySeconds,
      through: pipeline.recorded.through[source.series] ?? [:])
    plan.learn(pipeline.recorded.sessions)
    return BarsWorker(
      source.definition, series: source.series, key: source.keys.first?.label, plan: plan,
      requestQueue: queue(source))
  }
}

extension Source {
  /// - Precondition: a source whose bars are recorded.
  var barsHours: BarsHours {
    let definition = SourceRegistry.definition(of: self)
    guard let span = definition.bars?.recording?.hours else {
      preconditionFailure("no bars of \(name) are recorded")
    }
    return BarsHours(
      zone: definition.market.zone, span: span,
      isEveryDay: definition.market.tradingDays == .everyDay)
  }
}

extension PacedQueueConfiguration {
  /// The queue of a source with the pace that it declares.
  init(_ pace: RequestPace, requestsPerMinute: Int, seed: UInt64) {
    self.init(
      requestsPerMinute: requestsPerMinute, burst: min(requestsPerMinute, pace.burst),
      inFlightMax: pace.inFlightMax, seed: seed)
  }

  /// The queue of a command. Without the deadline a request would count as lost, and be sent again,
  /// while its answer is waited for.
  package init(_ source: Source, requestsPerMinute: Int, seed: UInt64) {
    self.init(
      SourceRegistry.definition(of: source).pace, requestsPerMinute: requestsPerMinute, seed: seed)
    deadlineMilliseconds = HTTPUpstream.deadlineMilliseconds
  }
}

extension Settings {
  /// The seconds to a second look, as the plan of repairs and the store both keep it.
  package var confirmSeconds: Int64 { self[RepairSettings.confirmAfter].wholeMilliseconds / 1000 }
}

/// What workers are made from; secrets are with the upstream, here are their labels.
package struct WorkerConfiguration: Sendable {
  package var seed: UInt64 = 1
  /// The engine's seconds in a real one.
  package var speed = 1
  package var listDays = 10
  package var repairs = RepairPlan()
  /// The live quotes of each series, in the order of preference.
  package var quotes: [QuotesConfiguration] = []
  /// How long the source that serves may be silent.
  package var failoverMilliseconds: Int64 = 12_000
  /// The sources that have something to do beside live quotes.
  package var sources: [SourceConfiguration] = []
  /// Days that the operator declares to trade, or to be closed.
  package var declaredDays: [TradingDay: Bool] = [:]
  /// What became of instruments, by the operator and by the file that candled comes with.
  package var declaredLinks: [InstrumentLink] = []
  /// The keys, to see whether they changed.
  var keys = SourceCredentials()

  package init() {}

  /// - Parameter credentials: whose labels are used.
  package init(
    _ settings: Settings, credentials: SourceCredentials, speed: Int, seed: UInt64
  ) {
    self.seed = seed
    self.speed = speed
    listDays = settings[UniverseSettings.refreshDays]
    keys = credentials
    repairs.requestsPerNight = settings[RepairSettings.requestsPerNight]
    repairs.confirmSeconds = settings.confirmSeconds
    sources = SourceRegistry.all
      .map { SourceConfiguration($0, settings, keys: credentials.keys(of: $0)) }
      .filter(\.isActive)
    chooseLists(of: sources, isWanted: settings[UniverseSettings.follow])
  }

  /// Chooses the source that is requested for lists: the first in order that has them. One that is
  /// given keys for it is asked whether or not the lists are followed.
  private mutating func chooseLists(of sources: [SourceConfiguration], isWanted: Bool) {
    let chosen = sources.filter { $0.definition.lists != nil }
      .min { $0.definition.priority < $1.definition.priority }
    guard let chosen, isWanted || !chosen.keys.isEmpty,
      let place = sources.firstIndex(of: chosen)
    else { return }
    self.sources[place].lists = chosen.definition.lists?.parts ?? []
  }

  /// The labels of keys with a quota.
  var ringLabels: [String] {
    sources.filter { $0.definition.credentials?.requestsPerDay != nil }
      .flatMap { $0.keys.map(\.label) }
  }
}

/// A source as it is configured.
package struct SourceConfiguration: Sendable, Equatable {
  package let definition: any SourceDefinition
  package var keys: [SourceCredentials.Key]
  package var requestsPerMinute: Int
  /// The quota of each key.
  package var requestsPerDay: Int
  package var hostCount: Int
  /// Lists to ask for; none where another source is asked.
  package var lists: [ListPart] = []
  /// Whose bars are recorded, of which series, how far behind.
  package var symbols: [Symbol]
  package var series: Source
  package var delaySeconds: Int64

  init(_ definition: any SourceDefinition, _ settings: Settings, keys: [SourceCredentials.Key]) {
    self.definition = definition
    self.keys = keys
    let pace = definition.pace
    requestsPerMinute = pace.requestsPerMinute.map { settings[$0] } ?? pace.requestsPerMinuteMax
    requestsPerDay = definition.credentials?.requestsPerDay.map { settings[$0] } ?? 0
    hostCount =
      definition.lists.flatMap { lists in
        let part = lists.parts[0]
        let query: FeedQuery = lists.pageRows == nil ? .list(part) : .listCount(part)
        return definition.request(for: query, from: definition.mainSeries)?
          .hosts.origins(in: settings).count
      } ?? 1
    let recording = definition.bars?.recording
    symbols = recording.map { settings[$0.symbols] } ?? []
    series = recording.map { $0.series(settings) } ?? definition.mainSeries
    delaySeconds = recording.map { settings[$0.delay].wholeMilliseconds / 1000 } ?? 0
  }

  /// It has what it needs: something to ask for, keys where it asks for some, and symbols where
  /// nothing else is asked.
  var isActive: Bool {
    definition.hasMoreThanQuotes && (definition.credentials == nil || !keys.isEmpty)
      && (definition.bars?.recording == nil || !symbols.isEmpty)
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.definition.name == right.definition.name && left.keys == right.keys
      && left.requestsPerMinute == right.requestsPerMinute
      && left.requestsPerDay == right.requestsPerDay && left.lists == right.lists
      && left.symbols == right.symbols && left.series == right.series
      && left.delaySeconds == right.delaySeconds
  }
}
