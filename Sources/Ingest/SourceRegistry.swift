import Feeds
import Market
import Operations
import Polling
import Transport

/// Which workers there are, as configured: made when the journal's tail is interpreted, from what
/// the pipeline then knows of keys, lists and bars.
package struct SourceRegistry: Sendable {
  private(set) var upstream: (any FeedUpstream)?
  let configuration: WorkerConfiguration

  /// No workers.
  package init() {
    upstream = nil
    configuration = WorkerConfiguration()
  }

  package init(_ configuration: WorkerConfiguration, upstream: any FeedUpstream) {
    self.upstream = upstream
    self.configuration = configuration
  }

  func make(for pipeline: Pipeline) -> [any SourceWorker] {
    guard upstream != nil else { return [] }
    var workers: [any SourceWorker] = [sinaWorker(pipeline)]
    if !configuration.licences.isEmpty { workers.append(mairuiWorker(pipeline)) }
    if let key = configuration.alpacaKey { workers.append(alpacaWorker(pipeline, key: key)) }
    return workers
  }

  /// The same hosts, with another configuration and other keys.
  func renewed(_ configuration: WorkerConfiguration, credentials: SourceCredentials)
    -> SourceRegistry
  {
    guard let upstream else { return self }
    var renewed = SourceRegistry(configuration, upstream: upstream)
    if let http = upstream as? HTTPFeedUpstream {
      renewed.upstream = http.with(credentials)
    }
    return renewed
  }

  /// All workers are made from these keys now.
  mutating func forgetEarlierKeys() {
    if let http = upstream as? HTTPFeedUpstream { upstream = http.only(configuration.keys) }
  }

  /// The workers that a change of configuration or of keys means.
  func namesChanged(from old: SourceRegistry) -> Set<String> {
    var names: Set<String> = []
    let (now, before) = (configuration, old.configuration)
    let keysChanged = now.keys.sourcesChanged(to: before.keys)
    if keysChanged.contains(.mairui) || now.licenceRequestsPerDay != before.licenceRequestsPerDay {
      names.insert("lists")
    }
    if now.wantsLists != before.wantsLists || now.licences.isEmpty != before.licences.isEmpty {
      names.formUnion(["lists", "history"])
    }
    if keysChanged.contains(.alpacaIEX) || now.alpacaKey != before.alpacaKey
      || now.usEquities != before.usEquities || now.alpacaDelaySeconds != before.alpacaDelaySeconds
      || now.alpacaRequestsPerMinute != before.alpacaRequestsPerMinute
    {
      names.insert("bars")
    }
    return names
  }

  /// - Parameter labels: of the keys they are asked with.
  private func listPlans(
    _ parts: [ListPart], _ pipeline: Pipeline, with labels: [String] = []
  ) -> ListPlans {
    var plan = ListPlanConfiguration(seed: configuration.seed)
    plan.intervalDays = configuration.listDays
    return ListPlans(
      parts, plan, universe: pipeline.universe,
      askedAt: labels.compactMap { pipeline.keyUsage[$0]?.recordedAt }.max(),
      calendar: configuration.calendar)
  }

  private func sinaWorker(_ pipeline: Pipeline) -> SinaWorker {
    let nodes =
      configuration.wantsLists && configuration.licences.isEmpty
      ? SinaNode.allCases.map(\.part) : []
    return SinaWorker(
      lists: listPlans(nodes, pipeline), repairs: RepairPlan(configuration.repairs),
      calendar: configuration.calendar,
      requestQueue: timed(
        .sina(
          requestsPerMinute: configuration.sinaRequestsPerMinute, seed: configuration.seed)))
  }

  /// Requests are timed by the wall clock, the line by the engine's.
  private func timed(_ line: PacedQueueConfiguration) -> PacedQueueConfiguration {
    var line = line
    line.deadlineMilliseconds = HTTPFeedUpstream.deadlineMilliseconds * configuration.speed
    return line
  }

  private func mairuiWorker(_ pipeline: Pipeline) -> MairuiWorker {
    var keys = KeyRingConfiguration(
      source: .mairui, labels: configuration.licences, seed: configuration.seed)
    keys.dailyQuota = configuration.licenceRequestsPerDay
    let boards = configuration.wantsLists ? MairuiBoard.allCases.map(\.part) : []
    return MairuiWorker(
      lists: listPlans(boards, pipeline, with: configuration.licences),
      ring: KeyRing(keys, usage: Array(pipeline.keyUsage.values)),
      hostCount: configuration.mairuiHosts, requestQueue: timed(.mairui(seed: configuration.seed)))
  }

  private func alpacaWorker(_ pipeline: Pipeline, key: String) -> AlpacaWorker {
    var bars = BarsPlanConfiguration(symbols: configuration.usEquities)
    bars.delaySeconds = configuration.alpacaDelaySeconds
    let feed = configuration.alpacaFeed
    var plan = BarsPlan(bars, through: pipeline.barsThrough[feed.source] ?? [:])
    plan.learn(pipeline.usSessions)
    return AlpacaWorker(
      feed: feed, key: key, plan: plan,
      requestQueue: timed(
        .alpaca(
          requestsPerMinute: configuration.alpacaRequestsPerMinute, seed: configuration.seed)))
  }
}

extension Settings {
  /// As the plan of repairs and the store both keep it.
  package var confirmSeconds: Int64 { self.repairConfirmAfter.wholeMilliseconds / 1000 }
}

/// What workers are made from; secrets are with the upstream, here are their labels.
package struct WorkerConfiguration: Sendable {
  package var seed: UInt64 = 1
  /// The engine's seconds in a real one.
  package var speed = 1
  package var calendar = CalendarStore()
  package var wantsLists = false
  package var listDays = 10
  package var licences: [String] = []
  /// To tell whether they changed.
  var keys = SourceCredentials()
  package var licenceRequestsPerDay = 50
  package var mairuiHosts = 1
  package var sinaRequestsPerMinute = 20
  package var repairs = RepairPlanConfiguration()
  package var alpacaKey: String?
  package var alpacaFeed = AlpacaFeed.iex
  package var alpacaDelaySeconds: Int64 = 0
  package var alpacaRequestsPerMinute = 180
  package var usEquities: [Symbol] = []

  package init() {}

  /// - Parameter credentials: whose labels are used.
  package init(
    _ settings: Settings, credentials: SourceCredentials, calendar: CalendarStore, speed: Int,
    seed: UInt64
  ) {
    self.seed = seed
    self.speed = speed
    self.calendar = calendar
    wantsLists = settings.universeFollow || !credentials.licences.isEmpty
    listDays = settings.universeRefreshDays
    licences = credentials.licences.map(\.label)
    keys = credentials
    licenceRequestsPerDay = settings.mairuiRequestsPerDay
    mairuiHosts = settings.mairuiBases.count
    sinaRequestsPerMinute = settings.sinaHistoryRequestsPerMinute * speed
    repairs.requestsPerNight = settings.repairRequestsPerNight
    repairs.confirmSeconds = settings.confirmSeconds
    alpacaKey = settings.alpacaSymbols.isEmpty ? nil : credentials.alpaca?.label
    alpacaFeed = settings.alpacaFeed
    alpacaDelaySeconds = settings.alpacaDelay.wholeMilliseconds / 1000
    alpacaRequestsPerMinute = settings.alpacaRequestsPerMinute
    usEquities = settings.alpacaSymbols
  }
}

/// The keys of the sources, from the files the settings name. A key is known by a label made from a
/// hash of it: stable when keys are added or reordered, and no way back.
package struct SourceCredentials: Sendable {
  package struct Key: Sendable {
    package let label: String
    let credentials: FeedCredentials
  }

  package private(set) var licences: [Key] = []
  package private(set) var alpaca: Key?
  private(set) var secrets: [Secret] = []

  /// None.
  init() {}

  /// - Throws: `ConfigurationError` if a file is not there or not what it should be.
  package init(_ settings: Settings) throws(ConfigurationError) {
    for entry in try Self.entries(
      settings.mairuiLicenceFile, words: 1, of: "mairui.licence_file")
    {
      let licence = entry[0].reveal()
      licences.append(
        Key(label: Self.label("mairui", licence), credentials: .licence(licence)))
      secrets += entry
    }
    if let entry = try Self.entries(
      settings.alpacaKeyFile, words: 2, of: "alpaca.key_file"
    ).first {
      let (id, secret) = (entry[0].reveal(), entry[1].reveal())
      alpaca = Key(
        label: Self.label("alpaca", id), credentials: .keyPair(id: id, secret: secret))
      secrets += entry
    }
  }

  private static func entries(
    _ file: String?, words: Int, of setting: String
  ) throws(ConfigurationError) -> [[Secret]] {
    guard let file else { return [] }
    do throws(ConfigurationError) {
      return try CredentialFile.load(file, words: words)
    } catch {
      throw error.about(setting)
    }
  }

  package func register(in mask: SecretMask) {
    for secret in secrets { mask.register(secret) }
  }

  /// The sources whose keys are others. Alpaca's account is one, whatever the feed.
  func sourcesChanged(to other: SourceCredentials) -> Set<Source> {
    var sources: Set<Source> = []
    if licences.map(\.credentials) != other.licences.map(\.credentials) { sources.insert(.mairui) }
    if alpaca?.credentials != other.alpaca?.credentials { sources.insert(.alpacaIEX) }
    return sources
  }

  var byLabel: [String: FeedCredentials] {
    Dictionary(
      (licences + [alpaca].compactMap { $0 }).map { ($0.label, $0.credentials) },
      uniquingKeysWith: { first, _ in first })
  }

  /// 24 bits of a hash: enough to tell a handful apart, too few to tell anything else.
  private static func label(_ prefix: String, _ secret: String) -> String {
    let hash = StableHash(of: secret).value
    let digits = String((hash ^ (hash >> 32)) & 0xFF_FFFF, radix: 16)
    return "\(prefix)-" + String(repeating: "0", count: 6 - digits.utf8.count) + digits
  }
}
