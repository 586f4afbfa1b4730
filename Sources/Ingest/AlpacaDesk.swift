import Feeds
import Market
import Polling

/// Asks Alpaca for American bars, the exchange's calendar and the names of what is recorded. One
/// account, one budget; pages of one walk follow each other, and a symbol the source refuses is
/// left out from then on.
struct AlpacaDesk: Desk {
  let name = "bars"
  let source: Source
  private let feed: AlpacaFeed
  private let key: String
  private var plan: BarsPlan
  private var queue: PacedQueue<FeedRequest>
  private var queueWake: Timestamp?
  private var asked: [PollRequestID: FeedRequest] = [:]
  /// What each question under way is part of.
  private var walks: [FeedRequest: Walk] = [:]
  /// Questions of a window that are not answered yet; a refused one may have been cut in two.
  private var parts: [BarsWindow: Int] = [:]
  private var calendarAskedOn: TradingDay?

  private struct Walk: Sendable {
    let window: BarsWindow
    var pages: PageWalk
  }

  private static let calendarDaysBack = 10
  private static let calendarDaysAhead = 30
  private static let calendarRefreshDays = 7

  init(feed: AlpacaFeed, key: String, plan: BarsPlan, requestsPerMinute: Int, seed: UInt64) {
    source = feed.source
    self.feed = feed
    self.key = key
    self.plan = plan
    var line = PacedQueueConfiguration(
      requestsPerMinute: requestsPerMinute, burst: min(requestsPerMinute, 10), inFlightMax: 4,
      seed: seed)
    line.deadlineMilliseconds = HTTPFeedUpstream.deadlineMilliseconds
    queue = PacedQueue(line)
  }

  mutating func received(_ event: DeskEvent, at now: Timestamp) -> [DeskAction] {
    var actions: [DeskAction] = []
    switch event {
    case .started:
      askForReference(now, &actions)
      askForBars(now, &actions)
    case .woke:
      work(.woke, now, &actions)
      askForReference(now, &actions)
      askForBars(now, &actions)
    case .answered(let id, let answer): take(answer, to: id, now, &actions)
    case .stopping: work(.stopping, now, &actions)
    case .certified, .repairsFound, .exRights: break
    }
    let wake = plan.nextWake(after: now)
    actions.append(.wake(at: min(queueWake ?? wake, wake)))
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
            DeskRequest(id: id, question: question, key: key, deadlineMilliseconds: deadline)))
      case .wake(let moment): queueWake = moment
      case .health(let state): actions.append(.health(state))
      case .finished: break
      case .gaveUp(let question, _): end(question)
      }
    }
  }

  private mutating func askForReference(_ now: Timestamp, _ actions: inout [DeskAction]) {
    let today = now.newYorkDay
    if let last = calendarAskedOn, last.distance(to: today) < Self.calendarRefreshDays { return }
    calendarAskedOn = today
    let calendar = FeedRequest.alpacaCalendar(
      from: today.advanced(by: -Self.calendarDaysBack),
      to: today.advanced(by: Self.calendarDaysAhead))
    work(
      .enqueued([PacedJob(calendar, priority: 1), PacedJob(.alpacaAssets, priority: -1)]), now,
      &actions)
  }

  private mutating func askForBars(_ now: Timestamp, _ actions: inout [DeskAction]) {
    for window in plan.due(at: now) {
      ask(window, plan.symbols(of: window.chunk), now, &actions)
    }
  }

  private mutating func ask(
    _ window: BarsWindow, _ symbols: [Symbol], _ now: Timestamp, _ actions: inout [DeskAction]
  ) {
    guard
      let query = AlpacaBarsQuery(
        symbols: symbols, timeframe: window.timeframe, feed: feed, start: window.from,
        end: window.to)
    else { return plan.failed(window) }
    let question = FeedRequest.alpacaBars(query)
    walks[question] = Walk(window: window, pages: PageWalk(query))
    parts[window, default: 0] += 1
    work(.enqueued([PacedJob(question, priority: 0)]), now, &actions)
  }
}

// MARK: - Answers

extension AlpacaDesk {
  private mutating func take(
    _ answer: DeskAnswer, to id: PollRequestID, _ now: Timestamp, _ actions: inout [DeskAction]
  ) {
    guard let question = asked.removeValue(forKey: id) else { return }
    if case .unauthorised = answer.refusal?.kind {
      actions.append(.alarm("Alpaca does not accept the key"))
    }
    switch answer.answer {
    case .sessions(let sessions): plan.learn(sessions)
    case .candles(let page): turn(page, of: question, now, &actions)
    case .refused(let refusal): refused(refusal, question, now, &actions)
    default: break
    }
    work(.answered(id, answer.outcome, retryAfterSeconds: answer.waitSeconds), now, &actions)
  }

  /// The next page is asked for ahead of what waits, with the same parameters.
  private mutating func turn(
    _ page: CandlePage, of question: FeedRequest, _ now: Timestamp,
    _ actions: inout [DeskAction]
  ) {
    guard var walk = walks.removeValue(forKey: question), case .alpacaBars(var query) = question
    else { return }
    let rows = page.candles.count + page.refused.count
    switch walk.pages.received(rows: rows, token: page.nextPageToken) {
    case .complete: finish(walk.window)
    case .broken(let fault):
      actions.append(.alarm("a walk through Alpaca's pages would not end: \(fault)"))
      fail(walk.window)
    case .next(let token):
      query.pageToken = token
      walks[.alpacaBars(query)] = walk
      work(.enqueued([PacedJob(.alpacaBars(query), priority: 10)]), now, &actions)
    }
  }

  private mutating func refused(
    _ refusal: FeedRefusal, _ question: FeedRequest, _ now: Timestamp,
    _ actions: inout [DeskAction]
  ) {
    guard case .invalidSymbol(let name) = refusal.kind, case .alpacaBars(let query) = question,
      let walk = walks.removeValue(forKey: question)
    else { return }
    let culprit = query.symbols.count == 1 ? query.symbols.first : name.flatMap { Symbol($0) }
    if let culprit, query.symbols.contains(culprit) {
      plan.drop(culprit)
      actions.append(.alarm("Alpaca does not know \(culprit): it is left out"))
      again(walk.window, query.symbols.filter { $0 != culprit }, now, &actions)
    } else {
      let half = query.symbols.count / 2
      again(walk.window, Array(query.symbols[..<half]), now, &actions)
      again(walk.window, Array(query.symbols[half...]), now, &actions)
    }
    finish(walk.window)
  }

  private mutating func again(
    _ window: BarsWindow, _ symbols: [Symbol], _ now: Timestamp, _ actions: inout [DeskAction]
  ) {
    if !symbols.isEmpty { ask(window, symbols, now, &actions) }
  }

  /// One part of a window is read; the window is, once all are.
  private mutating func finish(_ window: BarsWindow) {
    guard let left = parts[window] else { return }
    parts[window] = left > 1 ? left - 1 : nil
    if left == 1 { plan.completed(window) }
  }

  private mutating func fail(_ window: BarsWindow) {
    parts[window] = nil
    walks = walks.filter { $0.value.window != window }
    plan.failed(window)
  }

  private mutating func end(_ question: FeedRequest) {
    if let walk = walks[question] { fail(walk.window) }
  }
}
