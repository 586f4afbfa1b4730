import Feeds
import Market
import Polling

/// Requests bars in stretches of time, the exchange's calendar and the names of what is recorded.
/// One account, one budget; pages of one walk follow each other, and a symbol the source refuses is
/// left out from then on.
struct BarsWorker: SourceWorker {
  /// One of the source's series, whose bars are requested.
  let source: Source
  private let definition: any SourceDefinition
  private var plan: BarsPlan
  private var requestQueue: RequestQueue
  /// When the plan is asked again: not at every turn of the line, or what fails would be asked for
  /// as fast as the budget allows.
  private var planWake = Timestamp(microseconds: 0)
  /// What each question under way is part of.
  private var walks: [FeedRequest: Walk] = [:]
  private var readings: [BarsWindow: Reading] = [:]
  /// What somebody was told of last, and has not been put right since.
  private var complaints: [Topic: String] = [:]
  /// Sessions are learned, and names looked up, from then on.
  private var calendarDue = TradingDay(daysSince1970: 0)
  /// Without sessions a holiday would pass for a day without trades: bars wait until the calendar
  /// is answered, well or not at all.
  private var isCalendarGivenUp = false
  private var namesDue = TradingDay(daysSince1970: 0)

  private struct Walk: Sendable {
    let window: BarsWindow
    var pages: PageWalk
  }

  /// How far a window is read.
  private struct Reading: Sendable {
    /// Questions not answered yet; a refused one may have been cut in two.
    var parts = 0
    var isAnswered = false
    /// Refused by name or alone, while nothing else had been answered: a source that refuses
    /// everything speaks of itself.
    var suspects: Set<Symbol> = []
    /// Refused after something else was answered.
    var condemned: Set<Symbol> = []
  }

  private enum Topic: Hashable { case bars, reference, listing }

  private static let calendarDaysBack = 10
  private static let calendarDaysAhead = 400
  /// A session may be withdrawn from one day to the next; names change seldom.
  private static let calendarRefreshDays = 1
  private static let refreshDays = 7
  /// How many of the symbols that a list lacks are named.
  private static let missingNamedMax = 20
  /// The pause from a failure to the next try, if no minute ends earlier.
  private static let failurePauseSeconds: Int64 = 300

  var hours: BarsHours { plan.hours }

  var delaySeconds: Int64 { plan.delaySeconds }

  /// The moment up to which all requested bars are read.
  var barsThrough: Timestamp? { plan.through }

  var name: String { definition.workerName }

  private var title: String { definition.title }

  /// The source of its calendar and names, which are of no series.
  private var reference: Source { definition.mainSeries }

  init(
    _ definition: any SourceDefinition, series: Source, key: String?, plan: BarsPlan,
    requestQueue: PacedQueueConfiguration
  ) {
    self.definition = definition
    source = series
    // Where every day trades there is no calendar to ask for.
    isCalendarGivenUp = !(definition is any SessionSource)
    self.plan = plan
    self.requestQueue = RequestQueue(requestQueue, key: key)
  }

  mutating func received(_ event: WorkerEvent, at now: Timestamp) -> [WorkerAction] {
    var actions: [WorkerAction] = []
    switch event {
    case .started:
      askForSessions(now, into: &actions)
      askForBars(now, into: &actions)
    case .woke:
      work(.woke, at: now, into: &actions)
      askForSessions(now, into: &actions)
      if planWake <= now { askForBars(now, into: &actions) }
    case .answered(let id, let response): handle(response, to: id, at: now, into: &actions)
    case .clockJumped(let microseconds):
      work(.clockJumped(microseconds: microseconds), at: now, into: &actions)
      // What was due by another clock says nothing of what is due by this one.
      calendarDue = min(calendarDue, day(at: now))
      askForSessions(now, into: &actions)
      askForBars(now, into: &actions)
    case .stopping: work(.stopping, at: now, into: &actions)
    case .certified, .repairsFound, .found, .responseWanted, .roleChanged: break
    }
    actions.append(.wake(at: min(requestQueue.wake ?? planWake, planWake)))
    return actions
  }

  private mutating func work(
    _ event: PacedQueue<FeedRequest>.Event, at now: Timestamp, into actions: inout [WorkerAction]
  ) {
    for ending in requestQueue.received(event, at: now, into: &actions) where ending.fault != nil {
      requestEnded(ending.feedRequest, at: now)
    }
  }

  private func day(at moment: Timestamp) -> TradingDay {
    plan.hours.zone.day(at: moment)
  }

  private mutating func askForSessions(_ now: Timestamp, into actions: inout [WorkerAction]) {
    let today = day(at: now)
    guard definition is any SessionSource, today >= calendarDue else { return }
    calendarDue = today.advanced(by: Self.calendarRefreshDays)
    let sessions = FeedQuery.sessions(
      from: today.advanced(by: -Self.calendarDaysBack),
      to: today.advanced(by: Self.calendarDaysAhead))
    work(
      .enqueued([PacedJob(FeedRequest(sessions, to: reference), priority: 1)]), at: now,
      into: &actions)
  }

  /// Requests the names of all instruments, of which only those with bars are kept: after the first
  /// bars.
  private mutating func askForNames(_ now: Timestamp, into actions: inout [WorkerAction]) {
    let today = day(at: now)
    guard definition.hasNames, today >= namesDue else { return }
    namesDue = today.advanced(by: Self.refreshDays)
    work(
      .enqueued([PacedJob(FeedRequest(.names, to: reference), priority: -1)]), at: now,
      into: &actions)
  }

  private mutating func askForBars(_ now: Timestamp, into actions: inout [WorkerAction]) {
    planWake = plan.nextWake(after: now)
    guard isCalendarGivenUp || plan.knownThrough != nil else { return }
    for window in plan.due(at: now) {
      readings[window] = Reading()
      ask(window, symbols: plan.symbols(of: window.chunk), at: now, into: &actions)
    }
  }

  private mutating func ask(
    _ window: BarsWindow, symbols: [Symbol], at now: Timestamp, into actions: inout [WorkerAction]
  ) {
    guard window.from < window.to, let bars = definition.bars,
      symbols.allSatisfy(bars.isRequestable)
    else {
      return fail(window, at: now)
    }
    let query = BarsQuery(
      symbols: symbols, timeframe: window.timeframe, start: window.from, end: window.to)
    let feedRequest = FeedRequest(.bars(query), to: source)
    walks[feedRequest] = Walk(window: window, pages: PageWalk(query, from: source))
    readings[window]?.parts += 1
    work(.enqueued([PacedJob(feedRequest, priority: 0)]), at: now, into: &actions)
  }

  /// Logs each thing that is wrong once.
  private mutating func complain(
    _ sentence: String, of topic: Topic, into actions: inout [WorkerAction]
  ) {
    guard complaints.updateValue(sentence, forKey: topic) != sentence else { return }
    actions.append(.alarm(sentence))
  }
}

// MARK: - Answers

extension BarsWorker {
  private mutating func handle(
    _ response: WorkerResponse, to id: PollRequestID, at now: Timestamp,
    into actions: inout [WorkerAction]
  ) {
    guard let feedRequest = requestQueue.request(id)?.feedRequest else { return }
    switch response.response {
    case .sessions(let sessions):
      complaints[.reference] = nil
      plan.learn(sessions)
      // A calendar without a day says no more than none.
      if plan.knownThrough == nil {
        calendarDue = day(at: now).advanced(by: 1)
        isCalendarGivenUp = true
      }
    case .candles(let page): handle(page, of: feedRequest, at: now, into: &actions)
    case .list(let list): seekTickers(in: list, into: &actions)
    case .refused(let refusal): refused(refusal, feedRequest: feedRequest, at: now, into: &actions)
    default: break
    }
    work(
      .answered(id, response.outcome, retryAfterSeconds: response.waitSeconds), at: now,
      into: &actions)
    if case .sessions = response.response { askForBars(now, into: &actions) }
  }

  /// A ticker that is gone is not refused: its bars are answered, and there are none any more.
  private mutating func seekTickers(in list: InstrumentList, into actions: inout [WorkerAction]) {
    let missing = Set(plan.symbols).subtracting(list.rows.map(\.symbol)).sorted()
    guard !missing.isEmpty else {
      complaints[.listing] = nil
      return
    }
    let named = missing.prefix(Self.missingNamedMax).map(\.description).joined(separator: ", ")
    let rest = missing.count - Self.missingNamedMax
    let names = rest > 0 ? "\(named) and \(rest) more" : named
    complain(
      "\(title)'s list of tradable stocks lacks \(names): a renamed or delisted "
        + "ticker gets no more bars", of: .listing, into: &actions)
  }

  /// The next page is asked for ahead of what waits, with the same parameters.
  private mutating func handle(
    _ page: CandlePage, of feedRequest: FeedRequest, at now: Timestamp,
    into actions: inout [WorkerAction]
  ) {
    guard var walk = walks.removeValue(forKey: feedRequest),
      case .bars(var query) = feedRequest.query
    else { return }
    readings[walk.window]?.isAnswered = true
    let rows = page.candles.count + page.refused.count
    switch walk.pages.received(rows: rows, token: page.nextPageToken) {
    case .complete: finish(walk.window, at: now, into: &actions)
    case .broken(let fault):
      complain("the pages of \(title)'s bars do not end: \(fault)", of: .bars, into: &actions)
      fail(walk.window, at: now)
    case .next(let token):
      query.pageToken = token
      let next = FeedRequest(.bars(query), to: source)
      walks[next] = walk
      work(.enqueued([PacedJob(next, priority: 10)]), at: now, into: &actions)
    }
  }

  private mutating func refused(
    _ refusal: FeedRefusal, feedRequest: FeedRequest, at now: Timestamp,
    into actions: inout [WorkerAction]
  ) {
    var topic = Topic.reference
    if case .bars = feedRequest.query { topic = .bars }
    switch refusal.kind {
    case .unauthorised:
      let file = definition.credentials.map { ": check \($0.file.key)" } ?? ""
      complain("\(title) refused the API key\(file)", of: topic, into: &actions)
    case .entitlement:
      complain(
        "the \(title) plan does not include recent \(source.name) bars", of: topic, into: &actions
      )
    case .invalidSymbol(let name): narrow(feedRequest, name: name, at: now, into: &actions)
    default: break
    }
  }

  /// One symbol voids its whole request: asked again without the one that is named, or in halves.
  private mutating func narrow(
    _ feedRequest: FeedRequest, name: String?, at now: Timestamp,
    into actions: inout [WorkerAction]
  ) {
    guard case .bars(let query) = feedRequest.query,
      let walk = walks.removeValue(forKey: feedRequest)
    else { return }
    let symbols = query.symbols
    let culprit = symbols.count == 1 ? symbols.first : name.flatMap { Symbol($0) }
    if let culprit, symbols.contains(culprit) {
      if readings[walk.window]?.isAnswered == true {
        readings[walk.window]?.condemned.insert(culprit)
      } else {
        readings[walk.window]?.suspects.insert(culprit)
      }
      again(walk.window, symbols: symbols.filter { $0 != culprit }, at: now, into: &actions)
    } else {
      again(walk.window, symbols: Array(symbols[..<(symbols.count / 2)]), at: now, into: &actions)
      again(walk.window, symbols: Array(symbols[(symbols.count / 2)...]), at: now, into: &actions)
    }
    finish(walk.window, at: now, into: &actions)
  }

  private mutating func again(
    _ window: BarsWindow, symbols: [Symbol], at now: Timestamp, into actions: inout [WorkerAction]
  ) {
    if !symbols.isEmpty { ask(window, symbols: symbols, at: now, into: &actions) }
  }

  /// One part of a window is read; the window is, once all are.
  private mutating func finish(
    _ window: BarsWindow, at now: Timestamp, into actions: inout [WorkerAction]
  ) {
    guard var reading = readings[window] else { return }
    reading.parts -= 1
    let suspects = reading.parts == 0 && reading.isAnswered ? reading.suspects : []
    reading.suspects.subtract(suspects)
    readings[window] = reading
    for suspect in suspects.sorted() { ask(window, symbols: [suspect], at: now, into: &actions) }
    if readings[window].map({ $0.parts > 0 }) == true { return }
    readings[window] = nil
    guard reading.isAnswered else {
      complain("\(title) refused every requested symbol", of: .bars, into: &actions)
      return fail(window, at: now)
    }
    for culprit in reading.condemned.sorted()
    where plan.symbols(of: window.chunk).contains(culprit) {
      plan.drop(culprit)
      actions.append(.alarm("\(title) does not know \(culprit): it is no longer requested"))
    }
    complaints[.bars] = nil
    plan.completed(window)
    askForNames(now, into: &actions)
  }

  private mutating func fail(_ window: BarsWindow, at now: Timestamp) {
    planWake = min(planWake, now.adding(seconds: Self.failurePauseSeconds))
    readings[window] = nil
    walks = walks.filter { $0.value.window != window }
    plan.failed(window)
  }

  private mutating func requestEnded(_ feedRequest: FeedRequest, at now: Timestamp) {
    let tomorrow = day(at: now).advanced(by: 1)
    switch feedRequest.query {
    case .sessions:
      calendarDue = tomorrow
      isCalendarGivenUp = true
    case .names: namesDue = tomorrow
    default: if let walk = walks[feedRequest] { fail(walk.window, at: now) }
    }
  }
}
