import Feeds
import Market
import Polling

/// The plans of all lists that make up the universe: which list is due, and what became of it. What
/// a list is asked with is the worker's, which each event tells the parts to ask for now.
struct ListPlans: Sendable {
  private var plans: [ListPart: ListPlan] = [:]
  private var wakes: [ListPart: Timestamp] = [:]
  private let parts: [ListPart]
  /// The symbols for each of which a list was wanted once.
  private var unknownSymbols: Set<Symbol> = []
  /// What the last lists have.
  private var listed: Set<Symbol>

  /// - Parameter askedAt: when any of them was last asked for, as far as that is known beyond a
  ///   restart: with a key it is, for its quota's sake.
  init(
    _ parts: [ListPart], intervalDays: Int = 10, seed: UInt64, universe: Universe,
    askedAt: Timestamp? = nil, calendar: TradingCalendar
  ) {
    self.parts = parts
    listed = Set(universe.listedSymbols(beside: []))
    for part in parts {
      let acceptedAt = universe.accepted[part]?.at
      plans[part] = ListPlan(
        seed: seed, intervalDays: intervalDays, acceptedAt: acceptedAt,
        askedAt: [acceptedAt, askedAt].compactMap { $0 }.max(),
        isTradingDay: calendar.isTradingDay)
    }
  }

  var wake: Timestamp? { wakes.values.min() }

  mutating func started(at now: Timestamp, into actions: inout [WorkerAction]) -> [ListPart] {
    parts.filter { send($0, event: .woke, at: now, into: &actions) }
  }

  mutating func woke(at now: Timestamp, into actions: inout [WorkerAction]) -> [ListPart] {
    parts.filter { part in
      guard let wake = wakes[part], wake <= now else { return false }
      return send(part, event: .woke, at: now, into: &actions)
    }
  }

  mutating func found(
    _ event: MarketEvent, at now: Timestamp, into actions: inout [WorkerAction]
  ) -> [ListPart] {
    switch event {
    case .unknownSymbols(let symbols):
      // The list may have them: the next is due at the next 16:30. But where the source knows no
      // more what it listed, their codes may have changed since, and their first day is today.
      let news = Set(symbols).subtracting(unknownSymbols)
      if news.isEmpty { return [] }
      unknownSymbols.formUnion(news)
      let event = news.isDisjoint(with: listed) ? ListPlan.Event.wanted : .wantedNow
      return parts.filter { send($0, event: event, at: now, into: &actions) }
    case .listDecided(let part, .accepted) where parts.contains(part):
      return send(part, event: .accepted, at: now, into: &actions) ? [part] : []
    case .listDecided(let part, .quarantined(let sentence)) where parts.contains(part):
      actions.append(
        .alarm("a list of instruments is implausible and not used: \(sentence)"))
    case .calendar(let calendar):
      for part in parts { plans[part]?.isTradingDay = calendar.isTradingDay }
    case .universe(let universe): listed = Set(universe.listedSymbols(beside: []))
    case .listDecided, .exRights: break
    }
    return []
  }

  /// - Returns: whether the list is to be asked for.
  private mutating func send(
    _ part: ListPart, event: ListPlan.Event, at now: Timestamp,
    into actions: inout [WorkerAction]
  ) -> Bool {
    wakes[part] = nil
    var isAsked = false
    for action in plans[part]?.received(event, at: now) ?? [] {
      switch action {
      case .ask: isAsked = true
      case .wake(let moment): wakes[part] = moment
      case .overdue(let day):
        actions.append(.alarm("no list of instruments (\(part.name)) received on \(day)"))
      }
    }
    return isAsked
  }
}
