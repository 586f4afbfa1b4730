import Feeds
import Market
import Operations
import Polling

/// What an engine is told of the configuration, when it is made and after each reload: the same
/// values by the same functions.
extension Daemon {
  /// As many as the poller calls a source stalled after.
  private static let slotsStaleMax: Int64 = 5
  private static let phaseSpreadMilliseconds = 300

  /// Of the source that live quotes are requested from.
  var quotes: QuotesDeclaration { SourceRegistry.quotes(of: .live) }

  var pollerConfiguration: PollerConfiguration {
    let settings = settings
    var configuration = PollerConfiguration(referenceSymbol: quotes.referenceSymbol, seed: seed)
    configuration.batchSymbolsMax = settings[quotes.batchSymbols]
    configuration.deadlineMilliseconds =
      Int(settings.quotesDeadline.wholeMilliseconds) * clock.speed
    configuration.requestsPerMinute = settings[quotes.requestsPerMinute]
    return configuration
  }

  var schedule: PollSchedule {
    let settings = settings
    let cadence = Int(settings.quotesCadence.wholeMilliseconds)
    let phase = Int(settings.quotesPhase.wholeMilliseconds)
    return PollSchedule(
      windows: PollWindow.aShare(every: cadence / 1000), phaseMilliseconds: phase,
      spreadMilliseconds: min(Self.phaseSpreadMilliseconds, cadence - phase - 1), seed: seed,
      isTradingDay: { [calendar] in calendar.isTradingDay($0) })
  }

  var engineLimits: EngineLimits {
    let settings = settings
    var limits = limits
    limits.stopAt = settings.clockStop
    limits.journalBytesMax = Int64(settings.journalRetainBytes)
    limits.journalDaysMax = settings.journalRetainDays
    limits.followsUniverse = settings.universeFollow
    limits.quotesStaleSecondsMax = max(
      limits.quotesStaleSecondsMax,
      Self.slotsStaleMax * settings.quotesCadence.wholeMilliseconds / 1000)
    return limits
  }

  var workerConfiguration: WorkerConfiguration {
    WorkerConfiguration(
      settings, credentials: credentials, calendar: calendar, speed: clock.speed, seed: seed)
  }

  /// It looks after a PostgreSQL of its own.
  package var hasPrivateServer: Bool { settings.storeURL == nil }

  /// Makes the mask know the secrets of the configuration in force.
  package func register(in mask: SecretMask) { configuration.register(in: mask) }

  /// The log's level and form, as they hold now.
  package func applyLog(to control: LogControl) {
    let settings = settings
    control.set(level: settings.logLevel, format: settings.logFormat)
  }

  var engineUpdate: EngineUpdate {
    EngineUpdate(
      poller: pollerConfiguration, schedule: schedule, symbols: configuration.polled,
      limits: engineLimits, workers: workerConfiguration, credentials: credentials)
  }
}
