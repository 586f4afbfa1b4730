import Feeds
import Logging
import Market
import Polling

/// Live quotes as configured: of which source, of what, and when.
package struct QuotesConfiguration: Sendable {
  package var source: Source
  package var poller: PollerConfiguration
  /// Of every day; the calendar is a worker's own.
  package var schedule: PollSchedule
  /// The configured symbols, without those that accepted lists name.
  package var symbols: [Symbol]
  /// Whether every listed instrument is requested, too.
  package var followsUniverse: Bool

  package init(
    source: Source, poller: PollerConfiguration, schedule: PollSchedule, symbols: [Symbol],
    followsUniverse: Bool = false
  ) {
    self.source = source
    self.poller = poller
    self.schedule = schedule
    self.symbols = symbols
    self.followsUniverse = followsUniverse
  }

  /// The symbols with those that lists name, without those they lack.
  func symbols(following universe: Universe) -> [Symbol] {
    let symbols = symbols.following(universe)
    guard followsUniverse else { return symbols }
    return Self.symbols(symbols, following: universe, of: source)
  }

  func schedule(_ calendar: TradingCalendar) -> PollSchedule {
    var schedule = schedule
    if source.hasListedDays {
      schedule.isTradingDay = calendar.mayTrade
      schedule.isWatched = calendar.isClosedWeekday
    }
    return schedule
  }

  static func symbols(
    _ symbols: [Symbol], following universe: Universe, of source: Source
  ) -> [Symbol] {
    let gone = Set(universe.members.filter(\.isDelisted).map(\.instrument.symbol))
    let isRequestable = SourceRegistry.quotes(of: source).isRequestable
    return symbols.filter { !gone.contains($0) }
      + universe.listedSymbols(beside: symbols).filter(isRequestable)
  }
}

/// Requests the live quotes of a source, sweep by sweep.
struct QuotesWorker: SourceWorker {
  let name = "quotes"
  let source: Source
  private(set) var poller: Poller
  private var followsUniverse: Bool

  init(
    _ configuration: QuotesConfiguration, following universe: Universe, calendar: TradingCalendar
  ) {
    source = configuration.source
    followsUniverse = configuration.followsUniverse
    poller = Poller(
      configuration.poller, schedule: configuration.schedule(calendar),
      symbols: configuration.symbols(following: universe))
  }

  var isLive: Bool { true }

  mutating func received(_ event: WorkerEvent, at now: Timestamp) -> [WorkerAction] {
    switch event {
    case .started: return perform(poller.received(.started, at: now), at: now)
    case .woke: return perform(poller.received(.woke, at: now), at: now)
    case .answered(let id, let response): return answered(id, response: response, at: now)
    case .responseWanted(let seconds):
      return perform(poller.received(.responseWanted(withinSeconds: seconds), at: now), at: now)
    case .clockJumped(let microseconds):
      return perform(poller.received(.clockJumped(microseconds: microseconds), at: now), at: now)
    case .roleChanged(let role):
      // Not in one expression: what is to be performed goes by the new role.
      let actions = poller.received(.roleChanged(role), at: now)
      return perform(actions, at: now)
    case .stopping: return perform(poller.received(.stopping, at: now), at: now)
    case .found(.universe(let universe)): return follow(universe, at: now)
    case .found(.calendar(let calendar)):
      return source.hasListedDays ? perform(poller.follow(calendar, at: now), at: now) : []
    case .found, .certified, .repairsFound: return []
    }
  }

  /// Takes up a cool-down that began before the process did.
  mutating func restored(_ coolDown: CoolDown, at now: Timestamp) -> [WorkerAction] {
    let actions = poller.restored(coolDown, at: now)
    return perform(actions, at: now)
  }

  /// Slots go on; what is in flight is answered as it was asked for.
  mutating func reconfigured(
    _ configuration: QuotesConfiguration, following universe: Universe,
    calendar: TradingCalendar, at now: Timestamp
  ) -> [WorkerAction] {
    followsUniverse = configuration.followsUniverse
    let actions = poller.reconfigured(
      configuration.poller, schedule: configuration.schedule(calendar),
      symbols: configuration.symbols(following: universe), at: now)
    return perform(actions, at: now)
  }

  /// A new list changes what is requested, from the next slot on.
  private mutating func follow(_ universe: Universe, at now: Timestamp) -> [WorkerAction] {
    var symbols = poller.symbols.following(universe)
    if followsUniverse {
      symbols = QuotesConfiguration.symbols(symbols, following: universe, of: source)
    }
    guard symbols != poller.symbols else { return [] }
    return perform(poller.received(.symbolsChanged(symbols), at: now), at: now)
  }

  private mutating func answered(
    _ id: PollRequestID, response: WorkerResponse, at now: Timestamp
  ) -> [WorkerAction] {
    var actions: [WorkerAction] = []
    if let rows = response.rows, let milliseconds = poller.arrived(rows, of: id) {
      actions.append(
        .log(
          .info, "rows arrive after the sweep that requests them, sweeps begin later from now on",
          ["phase": "\(milliseconds)ms"]))
    }
    let answer = Poller.Event.answered(
      id, response.outcome, retryAfterSeconds: response.retryAfterSeconds)
    return actions + perform(poller.received(answer, at: now), at: now)
  }

  private func perform(_ actions: [Poller.Action], at now: Timestamp) -> [WorkerAction] {
    actions.map { action in
      switch action {
      case .request(let request):
        let query = QuotesQuery(
          symbols: request.symbols,
          group: poller.role == .serving ? request.group : QuotesQuery.probeGroup, askedAt: now,
          deadlineMilliseconds: request.deadlineMilliseconds)
        return .request(
          WorkerRequest(id: request.id, feedRequest: FeedRequest(.quotes(query), to: source)))
      case .wake(let moment): return .wake(at: moment)
      case .sweepCompleted(_, _, let failed): return .sweepCompleted(failed: failed)
      case .quarantined(let symbol):
        return .log(.error, "symbol quarantined", ["symbol": "\(symbol)"])
      case .health(let state): return .health(state)
      case .coolDown(let coolDown): return .coolDown(coolDown)
      }
    }
  }
}

extension [Symbol] {
  /// With the codes of today, each once.
  fileprivate func following(_ universe: Universe) -> [Symbol] {
    if universe.renames.isEmpty { return self }
    var seen: Set<Symbol> = []
    return map(universe.living).filter { seen.insert($0).inserted }
  }
}

extension Source {
  /// Whether its market trades on the days of a calendar, and not on every one.
  fileprivate var hasListedDays: Bool {
    SourceRegistry.definition(of: self).market.tradingDays == .listed
  }
}
