import Feeds
import Market
import Operations
import Polling

/// What an engine gets of the configuration, when it is made and after each reload: the same values
/// by the same functions.
extension Daemon {
  /// The slots after which the poller calls a source stalled.
  private static let slotsStaleMax: Int64 = 5
  private static let phaseSpreadMilliseconds = 300

  /// The live quotes of every source that has some: each symbol is of the first series that has it,
  /// and every source of that series is asked for those it has.
  var quotes: [QuotesConfiguration] {
    var symbols = configuration.polled
    return SourceRegistry.liveSeries.flatMap { series in
      let sources = settings.liveSources(of: series)
      let declared = sources.compactMap { source in source.quotes.map { (source, $0) } }
      let own = symbols.filter { symbol in declared.contains { $1.isRequestable(symbol) } }
      let taken = Set(own)
      symbols.removeAll { taken.contains($0) }
      return declared.map { definition, quotes in
        QuotesConfiguration(
          source: definition.mainSeries, poller: pollerConfiguration(of: quotes),
          schedule: schedule(of: definition.market), symbols: own.filter(quotes.isRequestable),
          followsUniverse: settings[UniverseSettings.follow] && definition.hasListedInstruments)
      }
    }
  }

  private func pollerConfiguration(of quotes: QuotesDeclaration) -> PollerConfiguration {
    let settings = settings
    var configuration = PollerConfiguration(referenceSymbol: quotes.referenceSymbol, seed: seed)
    configuration.batchSymbolsMax = settings[quotes.batchSymbols]
    configuration.deadlineMilliseconds =
      Int(settings[QuotesSettings.deadline].wholeMilliseconds) * clock.speed
    configuration.requestsPerMinute = settings[quotes.requestsPerMinute]
    return configuration
  }

  private func schedule(of market: MarketDefinition) -> PollSchedule {
    let settings = settings
    let cadence = Int(settings[QuotesSettings.cadence].wholeMilliseconds)
    let phase = Int(settings[QuotesSettings.phase].wholeMilliseconds)
    var schedule = PollSchedule(
      windows: PollWindow.windows(of: market, every: cadence / 1000), zone: market.zone,
      phaseMilliseconds: phase,
      spreadMilliseconds: min(Self.phaseSpreadMilliseconds, cadence - phase - 1), seed: seed,
      isTradingDay: { _ in true })
    schedule.windowsOfDay = { PollWindow.windows(of: market.on($0), every: cadence / 1000) }
    return schedule
  }

  var engineLimits: EngineLimits {
    let settings = settings
    var limits = limits
    limits.stopAt = settings[ClockSettings.stop]
    limits.journalBytesMax = Int64(settings[JournalSettings.retainBytes])
    limits.journalDaysMax = settings[JournalSettings.retainDays]
    limits.quotesStaleSecondsMax = max(
      limits.quotesStaleSecondsMax,
      Self.slotsStaleMax * settings[QuotesSettings.cadence].wholeMilliseconds / 1000)
    return limits
  }

  var workerConfiguration: WorkerConfiguration {
    var workers = WorkerConfiguration(
      settings, credentials: credentials, speed: clock.speed, seed: seed)
    workers.quotes = quotes
    workers.declaredDays = configuration.declaredDays.byDay
    workers.declaredLinks = configuration.declaredLinks
    workers.failoverMilliseconds = settings[QuotesSettings.failover].wholeMilliseconds
    return workers
  }

  /// It looks after a PostgreSQL of its own.
  package var hasPrivateServer: Bool { settings[StoreSettings.url] == nil }

  /// Makes the mask know the secrets of the configuration in force.
  package func register(in mask: SecretMask) { configuration.register(in: mask) }

  /// The log's level and form, as they hold now.
  package func applyLog(to control: LogControl) {
    let settings = settings
    control.set(level: settings[LogSettings.level], format: settings[LogSettings.format])
  }

  var engineUpdate: EngineUpdate {
    EngineUpdate(limits: engineLimits, workers: workerConfiguration, credentials: credentials)
  }
}

extension SourceDefinition {
  /// Whether lists name the instruments it quotes.
  fileprivate var hasListedInstruments: Bool {
    let series = mainSeries.instruments
    return SourceRegistry.all.contains { $0.lists != nil && $0.mainSeries.instruments == series }
  }
}
