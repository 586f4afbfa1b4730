import Feeds
import Market
import Polling

/// Requests what live quotes do not have, as far as its source has it: after each close the day's
/// minutes once more, the factors of what went ex dividend, the lists of instruments where no other
/// source is asked for them, and next year's trading days. Where the source's keys have a quota, a
/// ring of keys owns it.
struct HistoryWorker: SourceWorker {
  private let definition: any SourceDefinition
  /// How many hosts have what is requested with a key.
  private let hostCount: Int
  private var lists: ListPlans
  private let repairs: RepairPlan
  private(set) var calendar: TradingCalendar
  private var requestQueue: RequestQueue
  private var repairWake: Timestamp?
  private var calendarWake: Timestamp?
  /// K-lines wanted and not answered yet.
  private var ordered: Set<FeedRequest> = []
  /// Factors that were asked for in vain: again after the next day.
  private var factorsMissed: Set<FeedRequest> = []
  /// Requests for a list that are not answered yet; while there are some it is not begun anew.
  private var collecting: [ListPart: Int] = [:]
  /// Lists that were answered with a sample: what becomes of it says nothing of the list.
  private var sampled: Set<ListPart> = []
  private var calendarRequest = CalendarRequest()

  private struct CalendarRequest {
    var at: Timestamp?
    /// The last day that the calendar was known not to contain.
    var missedOn: TradingDay?
  }

  /// One line for the host: a night of repairs is hours long, everything else goes first.
  private enum Priority {
    static let calendar = 60
    static let lists = 50
    static let factors = 40
    static let repair = 0
    /// A market whose close passed unseen: half a night of requests that can wait.
    static let factorsSupposed = -10
  }

  /// The pause for the commit that stores a check, and at least that from one look to the next.
  private static let repairPauseSeconds: Int64 = 600
  /// When the calendar is asked for once a day, and from when on a supposed day.
  private static let calendarSecondOfDay = 8 * 3_600
  /// From 1 November on the next year is asked for each day, from 20 December on each hour.
  private static let calendarDaysLeftMax = 60
  private static let calendarDaysLeftHourly = 11
  private static let calendarHourSeconds: Int64 = 3_600
  /// How often on a supposed day.
  static let calendarPauseSeconds: Int64 = 300

  /// - Parameters:
  ///   - lists: of the source's parts; of none where another source is asked.
  ///   - ring: with what the ledger knows of the keys; nil where the source has none with a quota.
  init(
    _ definition: any SourceDefinition, lists: ListPlans, repairs: RepairPlan,
    calendar: TradingCalendar, ring: KeyRing? = nil, hostCount: Int = 1,
    requestQueue: PacedQueueConfiguration
  ) {
    self.definition = definition
    self.hostCount = hostCount
    self.lists = lists
    self.repairs = repairs
    self.calendar = calendar
    self.requestQueue = RequestQueue(requestQueue, ring: ring)
  }

  var name: String { definition.workerName }
  var source: Source { definition.mainSeries }
  private var bars: BarsDeclaration? { definition.bars }

  mutating func received(_ event: WorkerEvent, at now: Timestamp) -> [WorkerAction] {
    var actions: [WorkerAction] = []
    switch event {
    case .started:
      ask(for: lists.started(at: now, into: &actions), at: now, into: &actions)
      lookForRepairs(now, into: &actions)
      askForCalendar(now, into: &actions)
    case .woke:
      ask(for: lists.woke(at: now, into: &actions), at: now, into: &actions)
      if let wake = repairWake, wake <= now { lookForRepairs(now, into: &actions) }
      if let wake = calendarWake, wake <= now { askForCalendar(now, into: &actions) }
      work(.woke, at: now, into: &actions)
    case .certified:
      lookForRepairs(now, into: &actions)
      askForCalendar(now, into: &actions)
      askForFactors(factorsMissed, at: now, into: &actions)
    case .repairsFound(let candidates?): order(candidates, at: now, into: &actions)
    case .repairsFound(nil): repairWake = now.adding(seconds: Self.repairPauseSeconds)
    case .found(.listDecided(let part, _)) where sampled.remove(part) != nil: break
    case .found(let event):
      ask(for: lists.found(event, at: now, into: &actions), at: now, into: &actions)
      found(event, at: now, into: &actions)
    case .responseWanted, .roleChanged: break
    case .answered(let id, let response): handle(response, to: id, at: now, into: &actions)
    case .clockJumped(let microseconds):
      let pauseEnd = now.adding(seconds: Self.repairPauseSeconds)
      repairWake = repairWake.map { min($0, pauseEnd) }
      work(.clockJumped(microseconds: microseconds), at: now, into: &actions)
    case .stopping: work(.stopping, at: now, into: &actions)
    }
    let wakes = [lists.wake, requestQueue.wake, repairWake, calendarWake].compactMap { $0 }
    if let wake = wakes.min() { actions.append(.wake(at: wake)) }
    return actions
  }

  private mutating func found(
    _ event: MarketEvent, at now: Timestamp, into actions: inout [WorkerAction]
  ) {
    switch event {
    case .exRights(let symbols, let isSupposed):
      askForFactors(
        factors(of: symbols), at: now, into: &actions,
        priority: isSupposed ? Priority.factorsSupposed : Priority.factors)
    case .calendar(let calendar): self.calendar = calendar
    case .unknownSymbols, .listDecided, .universe: break
    }
  }

  private mutating func work(
    _ event: PacedQueue<FeedRequest>.Event, at now: Timestamp, into actions: inout [WorkerAction]
  ) {
    for ending in requestQueue.received(event, at: now, into: &actions) {
      requestEnded(ending.feedRequest)
      if case .factors = ending.feedRequest.query, let fault = ending.fault, fault != .failed {
        factorsMissed.insert(ending.feedRequest)
      }
    }
  }

  private mutating func requestEnded(_ feedRequest: FeedRequest) {
    switch feedRequest.query {
    case .newestBars: ordered.remove(feedRequest)
    case .list(let part), .listCount(let part), .listPage(let part, _):
      collecting[part, default: 1] -= 1
    default: break
    }
  }

  private mutating func handle(
    _ response: WorkerResponse, to id: PollRequestID, at now: Timestamp,
    into actions: inout [WorkerAction]
  ) {
    guard let request = requestQueue.request(id) else { return }
    let feedRequest = request.feedRequest
    if isKeyAtFault(for: request, in: response, at: now, into: &actions) {
      return work(requestQueue.postponed(id, at: now), at: now, into: &actions)
    }
    let outcome = outcome(of: response, to: request)
    work(.answered(id, outcome, retryAfterSeconds: response.waitSeconds), at: now, into: &actions)
    if case .listCount(let part) = feedRequest.query,
      case .listCount(let count) = response.response
    {
      askForPages(of: part, count: count, at: now, into: &actions)
    }
    if case .newestBars = feedRequest.query, case .candles = response.response, repairWake == nil {
      // What it did not heal has been looked for once.
      repairWake = now.adding(
        seconds: repairs.confirmSeconds + Self.repairPauseSeconds)
    }
  }
}

// MARK: - Keys

extension HistoryWorker {
  /// Takes in what an answer says of its key, which another key may have a better answer to.
  private mutating func isKeyAtFault(
    for request: WorkerRequest, in response: WorkerResponse, at now: Timestamp,
    into actions: inout [WorkerAction]
  ) -> Bool {
    guard let key = request.key else { return false }
    let isSample = isSample(response)
    if case .list(let part) = request.feedRequest.query {
      if isSample { sampled.insert(part) } else { sampled.remove(part) }
    }
    let keyOutcome = isSample ? .demoLicence : response.keyOutcome
    for action in requestQueue.ring?.answered(key, outcome: keyOutcome, at: now) ?? [] {
      switch action {
      case .persist(let usage): actions.append(.record(usage))
      case .alarm(let label, let reason):
        let noun = definition.credentials?.noun ?? "key"
        actions.append(.alarm("the \(noun) \(label) is parked: \(reason.name)"))
      }
    }
    return keyOutcome.isAboutKey
  }

  private func isSample(_ response: WorkerResponse) -> Bool {
    guard case .list(let list) = response.response, let rows = definition.lists?.sampleRows,
      !rows.isEmpty
    else { return false }
    return list.rows.map(\.symbol) == rows
  }

  /// The outcome for the queue; with a key the next try goes to the next host.
  private mutating func outcome(
    of response: WorkerResponse, to request: WorkerRequest
  ) -> RequestOutcome {
    let kind = response.refusal?.kind
    guard request.key != nil else {
      // `null` may as well be a throttled answer (docs/sources/sina.md#k-lines): never "there is
      // none".
      return kind == .noData ? .transient : response.outcome
    }
    // What is not found at one host may be at the next (docs/sources/mairui.md#refusals).
    let isMissing = kind == .notFound || kind == .noData
    let outcome = isMissing && request.host + 1 < hostCount ? .transient : response.outcome
    switch outcome {
    case .transient, .malformed, .unchanged:
      requestQueue.hosts[request.feedRequest] = request.host + 1
    default: break
    }
    return outcome
  }
}

extension KeyRing.Outcome {
  /// The key is at fault, not the question: another key may have the answer.
  fileprivate var isAboutKey: Bool {
    switch self {
    case .quotaExhausted, .invalidLicence, .demoLicence: true
    case .throttled, .ok, .other: false
    }
  }
}

// MARK: - Repairs

extension HistoryWorker {
  private mutating func lookForRepairs(_ now: Timestamp, into actions: inout [WorkerAction]) {
    repairWake = nil
    guard bars != nil, repairs.requestsPerNight > 0 else { return }
    let first = repairs.firstDay(on: now.shanghaiDay, isTradingDay: calendar.isTradingDay)
    actions.append(.lookForRepairs(from: first))
  }

  private mutating func order(
    _ candidates: [RepairCandidate], at now: Timestamp, into actions: inout [WorkerAction]
  ) {
    let jobs = repairs.orders(candidates, at: now).compactMap { order -> PacedJob<FeedRequest>? in
      guard bars?.isRequestable(order.symbol) == true else { return nil }
      return PacedJob(
        .minutes(of: order, on: now.shanghaiDay, calendar: calendar, from: source),
        priority: Priority.repair + order.want.rawValue)
    }
    repairWake = repairs.nextCheck(candidates, at: now).map { moment in
      max(moment, now).adding(seconds: Self.repairPauseSeconds)
    }
    // What still waits from an earlier evening is in the new order, with the bars it needs now.
    let wanted = Set(jobs.map(\.job))
    work(.withdrawn(Array(ordered.subtracting(wanted))), at: now, into: &actions)
    ordered = wanted
    work(.enqueued(jobs), at: now, into: &actions)
  }

  private func factors(of symbols: [Symbol]) -> Set<FeedRequest> {
    guard let bars, bars.hasFactors else { return [] }
    return Set(
      symbols.filter(bars.isRequestable).flatMap { symbol in
        AdjustmentFactor.Kind.allCases.map { FeedRequest(.factors(symbol, $0), to: source) }
      })
  }

  private mutating func askForFactors(
    _ wanted: Set<FeedRequest>, at now: Timestamp, into actions: inout [WorkerAction],
    priority: Int = Priority.factors
  ) {
    factorsMissed.subtract(wanted)
    let jobs = wanted.sorted { $0.text < $1.text }.map { feedRequest in
      PacedJob(feedRequest, priority: priority)
    }
    work(.enqueued(jobs), at: now, into: &actions)
  }
}

// MARK: - Lists and days

extension HistoryWorker {
  private mutating func ask(
    for parts: [ListPart], at now: Timestamp, into actions: inout [WorkerAction]
  ) {
    for part in parts where collecting[part, default: 0] == 0 {
      collecting[part] = 1
      let query = definition.lists?.pageRows == nil ? FeedQuery.list(part) : .listCount(part)
      enqueue([query], priority: Priority.lists, at: now, into: &actions)
    }
  }

  private mutating func askForPages(
    of part: ListPart, count: Int, at now: Timestamp, into actions: inout [WorkerAction]
  ) {
    let pageRows = definition.lists?.pageRows ?? 1
    let pages = max((count + pageRows - 1) / pageRows, 1)
    collecting[part, default: 0] += pages
    enqueue(
      (1...pages).map { .listPage(part, page: $0) }, priority: Priority.lists, at: now,
      into: &actions)
  }

  private mutating func enqueue(
    _ queries: [FeedQuery], priority: Int, at now: Timestamp, into actions: inout [WorkerAction]
  ) {
    let jobs = queries.map { PacedJob(FeedRequest($0, to: source), priority: priority) }
    work(.enqueued(jobs), at: now, into: &actions)
  }

  /// Next year's days appear between late December and the first days of January. They are asked
  /// for until they are there, ever more often, and most on a supposed day: it is recorded like a
  /// trading day, and may be none. A calendar that has ended certifies no day any more, so the plan
  /// wakes itself.
  private mutating func askForCalendar(_ now: Timestamp, into actions: inout [WorkerAction]) {
    let today = now.shanghaiDay
    calendarWake = nil
    guard definition.hasTradingDays,
      today.distance(to: calendar.lastDay) <= Self.calendarDaysLeftMax
    else { return }
    if isSupposed(today), calendarRequest.missedOn != today {
      calendarRequest.missedOn = today
      actions.append(
        .alarm(
          "the trading calendar ended on \(calendar.lastDay): \(today) is recorded as a trading "
            + "day, and the calendar is requested every five minutes"))
    }
    let due = calendarRequest.at.map { calendarDue(after: $0, on: today) } ?? now
    guard due <= now || calendarRequest.at.map({ $0 > now }) ?? true else {
      calendarWake = due
      return
    }
    calendarRequest.at = now
    calendarWake = calendarDue(after: now, on: today)
    enqueue([.tradingDays], priority: Priority.calendar, at: now, into: &actions)
  }

  /// No calendar has said anything of it, whatever was observed.
  private func isSupposed(_ day: TradingDay) -> Bool {
    calendar.declaration(of: day).isSupposedToTrade
  }

  private func calendarDue(after asked: Timestamp, on today: TradingDay) -> Timestamp {
    let morning = { Timestamp(day: $0, secondOfDay: Self.calendarSecondOfDay) }
    if isSupposed(today) {
      return max(asked.adding(seconds: Self.calendarPauseSeconds), morning(today))
    }
    return today.distance(to: calendar.lastDay) <= Self.calendarDaysLeftHourly
      ? asked.adding(seconds: Self.calendarHourSeconds)
      : morning(asked.shanghaiDay.advanced(by: 1))
  }
}
