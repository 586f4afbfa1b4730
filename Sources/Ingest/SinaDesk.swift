import Feeds
import Market
import Polling

/// Asks Sina for what its quotes do not tell: after each close the day's minutes once more, the
/// factors of what went ex dividend, the lists of instruments where Mairui is not asked, and next
/// year's trading days.
struct SinaDesk: Desk {
  let name = "history"
  let source = Source.sina
  private var lists: ListPlans
  private let repairs: RepairPlan
  private let calendar: CalendarBox
  private var queue: PacedQueue<FeedRequest>
  private var queueWake: Timestamp?
  private var sightingWake: Timestamp?
  private var asked: [PollRequestID: FeedRequest] = [:]
  /// The calendar was asked for on that day.
  private var calendarAskedOn: TradingDay?

  /// One line for the host: what cannot wait goes first.
  private enum Priority {
    static let calendar = 60
    static let repair = 40
    static let factors = 30
    static let lists = 20
  }

  /// - Parameter lists: of Sina's nodes; of none where Mairui is asked.
  init(
    lists: ListPlans, repairs: RepairPlan, calendar: CalendarBox, requestsPerMinute: Int,
    seed: UInt64
  ) {
    self.lists = lists
    self.repairs = repairs
    self.calendar = calendar
    var line = PacedQueueConfiguration(
      requestsPerMinute: requestsPerMinute, burst: 1, inFlightMax: 1, seed: seed)
    line.deadlineMilliseconds = HTTPFeedUpstream.deadlineMilliseconds
    queue = PacedQueue(line)
  }

  mutating func received(_ event: DeskEvent, at now: Timestamp) -> [DeskAction] {
    var actions: [DeskAction] = []
    switch event {
    case .started:
      perform(lists.started(at: now), now, &actions)
      lookForRepairs(now, &actions)
      askForCalendar(now, &actions)
    case .woke:
      perform(lists.woke(at: now), now, &actions)
      if let wake = sightingWake, wake <= now { lookForRepairs(now, &actions) }
      work(.woke, now, &actions)
    case .certified:
      lookForRepairs(now, &actions)
      askForCalendar(now, &actions)
    case .repairsFound(let candidates): order(candidates, now, &actions)
    case .exRights(let symbols): askForFactors(symbols, now, &actions)
    case .answered(let id, let answer): take(answer, to: id, now, &actions)
    case .stopping: work(.stopping, now, &actions)
    }
    if let wake = [lists.wake, queueWake, sightingWake].compactMap({ $0 }).min() {
      actions.append(.wake(at: wake))
    }
    return actions
  }

  private mutating func work(
    _ event: PacedQueue<FeedRequest>.Event, _ now: Timestamp, _ actions: inout [DeskAction]
  ) {
    // Or a wake that has come would be asked for again, for ever.
    if event == .woke { queueWake = nil }
    for action in queue.received(event, at: now) {
      switch action {
      case .request(let id, let question, let deadline):
        asked[id] = question
        actions.append(
          .request(
            DeskRequest(id: id, question: question, key: nil, deadlineMilliseconds: deadline)))
      case .wake(let moment): queueWake = moment
      case .health(let state): actions.append(.health(state))
      case .finished, .gaveUp: break
      }
    }
  }

  private mutating func take(
    _ answer: DeskAnswer, to id: PollRequestID, _ now: Timestamp, _ actions: inout [DeskAction]
  ) {
    guard let question = asked.removeValue(forKey: id) else { return }
    // `null` may as well be a throttled answer (sina.md §2): never "there is none".
    let outcome = answer.refusal?.kind == .noData ? PacedOutcome.transient : answer.outcome
    work(.answered(id, outcome, retryAfterSeconds: answer.waitSeconds), now, &actions)
    if case .sinaNodeCount(let node) = question, case .nodeCount(let count) = answer.answer {
      askForPages(of: node, count, now, &actions)
    }
    if case .sinaNodePage(let node, _) = question, let verdict = answer.listVerdict {
      perform(lists.judged(node.part, verdict, at: now), now, &actions)
    }
  }
}

// MARK: - Repairs

extension SinaDesk {
  private mutating func lookForRepairs(_ now: Timestamp, _ actions: inout [DeskAction]) {
    sightingWake = nil
    guard repairs.configuration.requestsPerNight > 0 else { return }
    let first = repairs.firstDay(on: now.shanghaiDay) { calendar.isTradingDay($0) }
    actions.append(.lookForRepairs(from: first))
  }

  private mutating func order(
    _ candidates: [RepairCandidate], _ now: Timestamp, _ actions: inout [DeskAction]
  ) {
    let jobs = repairs.orders(candidates, at: now).compactMap { order -> PacedJob<FeedRequest>? in
      guard SinaHistory.isRequestable(order.symbol) else { return nil }
      return PacedJob(
        .sinaKline(order.symbol, .minute1, bars: bars(from: order.firstDay, now)),
        priority: Priority.repair + order.want.rawValue)
    }
    sightingWake = repairs.nextSighting(candidates, at: now)
    if !jobs.isEmpty { work(.enqueued(jobs), now, &actions) }
  }

  /// A day more than there are: held up by a ban, the answer may come when the next day has begun.
  private func bars(from day: TradingDay, _ now: Timestamp) -> Int {
    let days = (day...max(day, now.shanghaiDay)).count { calendar.isTradingDay($0) != false }
    return min((days + 1) * Session.minutesPerDay, SinaKline.barsMax)
  }

  private mutating func askForFactors(
    _ symbols: [Symbol], _ now: Timestamp, _ actions: inout [DeskAction]
  ) {
    let jobs = symbols.filter(SinaHistory.isRequestable).flatMap { symbol in
      AdjustmentFactor.Kind.allCases.map { kind in
        PacedJob(FeedRequest.sinaFactors(symbol, kind), priority: Priority.factors)
      }
    }
    work(.enqueued(jobs), now, &actions)
  }
}

// MARK: - Lists and days

extension SinaDesk {
  private mutating func perform(
    _ wanted: [ListPlans.Action], _ now: Timestamp, _ actions: inout [DeskAction]
  ) {
    for action in wanted {
      switch action {
      case .ask(let part):
        guard let node = SinaNode(part) else { continue }
        work(
          .enqueued([PacedJob(.sinaNodeCount(node), priority: Priority.lists)]), now, &actions)
      case .alarm(let sentence): actions.append(.alarm(sentence))
      }
    }
  }

  private mutating func askForPages(
    of node: SinaNode, _ count: Int, _ now: Timestamp, _ actions: inout [DeskAction]
  ) {
    let pages = (count + SinaNode.pageRows - 1) / SinaNode.pageRows
    let jobs = (1...max(pages, 1)).map { page in
      PacedJob(FeedRequest.sinaNodePage(node, page: page), priority: Priority.lists)
    }
    work(.enqueued(jobs), now, &actions)
  }

  /// Next year's days appear in late December; they are asked for once a day from then on.
  private mutating func askForCalendar(_ now: Timestamp, _ actions: inout [DeskAction]) {
    let today = now.shanghaiDay
    guard calendar.current.freshness(on: today) != .fresh, calendarAskedOn != today else { return }
    calendarAskedOn = today
    work(.enqueued([PacedJob(.sinaCalendar, priority: Priority.calendar)]), now, &actions)
  }
}
