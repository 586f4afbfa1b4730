import Feeds
import Market
import Polling

/// The plans of all lists that make up the universe: which list is due, and what became of it. Both
/// workers that may ask for lists keep one; what a list is asked with is theirs.
struct ListPlans: Sendable {
  private var plans: [ListPart: ListPlan] = [:]
  private var wakes: [ListPart: Timestamp] = [:]
  private let parts: [ListPart]
  /// The symbols for each of which a list was wanted once.
  private var unknownSymbols: Set<Symbol> = []

  enum Action: Sendable {
    case ask(ListPart)
    case alarm(String)
  }

  /// - Parameter askedAt: when any of them was last asked for, as far as that is known beyond a
  ///   restart: with a key it is, for its quota's sake.
  init(
    _ parts: [ListPart], _ configuration: ListPlanConfiguration, universe: Universe,
    askedAt: Timestamp? = nil, calendar: TradingCalendar
  ) {
    self.parts = parts
    for part in parts {
      let acceptedAt = universe.accepted[part]?.at
      plans[part] = ListPlan(
        configuration, acceptedAt: acceptedAt,
        askedAt: [acceptedAt, askedAt].compactMap { $0 }.max(),
        isTradingDay: calendar.isTradingDay)
    }
  }

  var wake: Timestamp? { wakes.values.min() }

  mutating func started(at now: Timestamp) -> [Action] {
    parts.flatMap { send($0, event: .woke, at: now) }
  }

  mutating func woke(at now: Timestamp) -> [Action] {
    parts.flatMap { part in
      wakes[part].map { $0 <= now } == true ? send(part, event: .woke, at: now) : []
    }
  }

  mutating func found(_ event: MarketEvent, at now: Timestamp) -> [Action] {
    switch event {
    case .unknownSymbols(let symbols):
      // The list may have them: the next is due at the next 16:30.
      if unknownSymbols.isSuperset(of: symbols) { return [] }
      unknownSymbols.formUnion(symbols)
      return parts.flatMap { send($0, event: .wanted, at: now) }
    case .listDecided(let part, let verdict):
      return parts.contains(part) ? decided(part, verdict: verdict, at: now) : []
    case .calendar(let calendar):
      for part in parts { plans[part]?.isTradingDay = calendar.isTradingDay }
      return []
    case .universe, .exRights: return []
    }
  }

  private mutating func decided(
    _ part: ListPart, verdict: UniverseVerdict, at now: Timestamp
  ) -> [Action] {
    switch verdict {
    case .accepted: send(part, event: .accepted, at: now)
    case .quarantined(let sentence):
      [.alarm("a list of instruments is implausible and not used: \(sentence)")]
    }
  }

  private mutating func send(
    _ part: ListPart, event: ListPlan.Event, at now: Timestamp
  ) -> [Action] {
    wakes[part] = nil
    var actions: [Action] = []
    for action in plans[part]?.received(event, at: now) ?? [] {
      switch action {
      case .ask: actions.append(.ask(part))
      case .wake(let moment): wakes[part] = moment
      case .overdue(let day):
        actions.append(.alarm("no list of instruments (\(part.name)) received on \(day)"))
      }
    }
    return actions
  }
}
