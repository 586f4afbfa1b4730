import Candles
import Commits
import Feeds
import Ingest
import Journal
import Logging
import Market
import Polling
import Store

/// A part of a backfill that is stored, and remembered as stored, in one transaction: its requests
/// and the days of theirs that are wanted.
package struct BackfillTask: Sendable {
  /// What it is remembered by; nil for one that is not.
  package var chunk: HistoryCommit.Chunk?
  package var feedRequests: [FeedRequest]
  package var days: ClosedRange<TradingDay>

  package init(
    chunk: HistoryCommit.Chunk? = nil, feedRequests: [FeedRequest], days: ClosedRange<TradingDay>
  ) {
    self.chunk = chunk
    self.feedRequests = feedRequests
    self.days = days
  }
}

/// How a backfill stands.
package struct BackfillProgress: Sendable, Hashable {
  package var tasks = 0
  package var tasksDone = 0
  /// Given up: nothing of them is stored.
  package var tasksFailed = 0
  package var requests = 0
  package var candles = 0
  package var revisions = 0
  package var gapsClosed = 0
  package var startedAt: Timestamp
  package var now: Timestamp

  /// From the pace so far; nil before there is one.
  package var secondsLeft: Int64? {
    let done = Int64(tasksDone + tasksFailed)
    guard done > 0 else { return nil }
    return now.microseconds(since: startedAt) / 1_000_000 * (Int64(tasks) - done) / done
  }
}

/// Fills history beside the daemon: requests within the source's budget, journals each response,
/// stores each task whole.
///
/// Its journal is its own, its rows enter the same change feed. Killed at any moment it loses at
/// most the tasks under way; those that are stored are known by their chunks.
package actor Backfill {
  let parts: BackfillParts
  var queue: PacedQueue<FeedRequest>
  var tasks: [Int: Open] = [:]
  /// The task a request belongs to.
  var owners: [FeedRequest: Int] = [:]
  var walks: [FeedRequest: PageWalk] = [:]
  var inFlight: [PollRequestID: FeedRequest] = [:]
  var progress: BackfillProgress
  var isStopping = false

  let clock: EngineClock
  private var wakes = WakePlan()
  private let events: AsyncStream<Event>
  let inbox: AsyncStream<Event>.Continuation

  enum Event: Sendable {
    case answered(PollRequestID, UpstreamResponse, requestedAt: Timestamp)
    case woke(for: Timestamp)
    case stop
  }

  /// A task under way.
  struct Open {
    var task: BackfillTask
    var left: Int
    var bars: [BarBatch] = []
    var factors: [FactorBatch] = []
  }

  package init(_ parts: sending BackfillParts, line: PacedQueueConfiguration) {
    clock = parts.clock
    self.parts = parts
    queue = PacedQueue(line)
    (events, inbox) = AsyncStream.makeStream(of: Event.self)
    let now = clock.now
    progress = BackfillProgress(startedAt: now, now: now)
  }

  /// Asks the backfill to end after what is under way.
  package nonisolated func stop() { inbox.yield(.stop) }

  /// Carries out the tasks, in order as far as responses come in order.
  /// - Parameters:
  ///   - later: begun once all of `tasks` are done; not at all if one was given up.
  ///   - report: called after each task.
  /// - Returns: how it stands at the end; fewer tasks done than there are if it was stopped.
  /// - Throws: `StoreError` where the store refuses for good, `JournalError`.
  package func run(
    _ tasks: [BackfillTask], later: [BackfillTask] = [],
    report: @Sendable (BackfillProgress) -> Void
  ) async throws -> BackfillProgress {
    // No response would ever end one without requests.
    let rounds = [tasks, later].map { $0.filter { !$0.feedRequests.isEmpty } }
    progress.tasks = rounds.reduce(0) { $0 + $1.count }
    var iterator = events.makeAsyncIterator()
    for round in rounds where progress.tasksFailed == 0 && !isStopping {
      for (place, task) in round.enumerated() { enqueue(task, place: place) }
      perform(queue.received(.woke, at: clock.now))
      while !self.tasks.isEmpty, !(isStopping && inFlight.isEmpty) {
        guard let event = await iterator.next(isolation: self) else { break }
        let before = progress
        try await handle(event)
        progress.now = clock.now
        let ended = progress.tasksDone + progress.tasksFailed
        if ended != before.tasksDone + before.tasksFailed { report(progress) }
      }
    }
    try parts.journal.sync()
    return progress
  }

  private func enqueue(_ task: BackfillTask, place: Int) {
    tasks[place] = Open(task: task, left: task.feedRequests.count)
    for feedRequest in task.feedRequests { owners[feedRequest] = place }
    // Earlier tasks first, so that few are under way at once.
    perform(
      queue.received(
        .enqueued(task.feedRequests.map { PacedJob($0, priority: -place) }),
        at: clock.now))
  }

  private func handle(_ event: Event) async throws {
    let now = clock.now
    switch event {
    case .woke(let moment):
      wakes.woke(for: moment)
      perform(queue.received(.woke, at: now))
    case .stop:
      isStopping = true
      perform(queue.received(.stopping, at: now))
    case .answered(let id, let response, let requestedAt):
      guard let feedRequest = inFlight.removeValue(forKey: id) else { return }
      let workerResponse = try handle(response, to: feedRequest, requestedAt: requestedAt, at: now)
      if let refusal = workerResponse.refusal {
        parts.log.warning(
          "request refused",
          metadata: ["request": "\(feedRequest.journalKey)", "why": "\(refusal.sentence)"])
      }
      if workerResponse.refusal?.kind == .unauthorised {
        throw HistoryError(.sourceFailed, sentence: "the source refused the API key")
      }
      try await advance(feedRequest, by: workerResponse, at: now)
      perform(
        queue.received(
          .answered(id, workerResponse.outcome, retryAfterSeconds: workerResponse.waitSeconds),
          at: now))
    }
  }

  func perform(_ actions: [PacedQueue<FeedRequest>.Action]) {
    for action in actions {
      switch action {
      case .request(let id, let feedRequest): send(feedRequest, id: id)
      case .wake(let moment): wake(at: moment)
      case .abandoned(let feedRequest, let end): abandon(feedRequest, because: end)
      case .finished, .health: break
      }
    }
  }

  private func send(_ feedRequest: FeedRequest, id: PollRequestID) {
    inFlight[id] = feedRequest
    progress.requests += 1
    let (upstream, key, inbox) = (parts.upstream, parts.key, inbox)
    let requestedAt = clock.now
    // Unstructured: the response is an event, and `run` waits for those it needs.
    Task {
      let response = await upstream.response(to: feedRequest, key: key, host: 0)
      inbox.yield(.answered(id, response, requestedAt: requestedAt))
    }
  }

  private func wake(at moment: Timestamp) {
    let now = clock.now
    guard wakes.mustSleep(until: moment, now: now) else { return }
    let (sleep, inbox) = (parts.sleep, inbox)
    let wait = clock.nanoseconds(until: moment, from: now)
    // Unstructured: a sleep that `run` no longer needs is left to end alone (`WakePlan`).
    Task {
      await sleep(wait)
      inbox.yield(.woke(for: moment))
    }
  }
}

/// What a backfill is joined from.
package struct BackfillParts {
  package var upstream: any Upstream
  /// The label of the key to ask with; nil where none is needed.
  package var key: String?
  package var writer: HistoryWriter
  package var journal: JournalWriter
  package var rules: CandleRules
  /// As far as it is known: bars of a day beyond it are refused.
  package var calendar: TradingCalendar
  package var log: Logger
  /// A scaled one, so that hours of requests are paced by the steady clock, whatever becomes of the
  /// wall clock.
  package var clock: EngineClock
  /// Waits so many nanoseconds.
  package var sleep: @Sendable (UInt64) async -> Void = { try? await Task.sleep(nanoseconds: $0) }

  package init(
    upstream: any Upstream, key: String?, writer: HistoryWriter, journal: JournalWriter,
    rules: CandleRules, calendar: TradingCalendar,
    clock: EngineClock = .scaled(from: EngineClock.realNow(), speed: 1), log: Logger
  ) {
    self.upstream = upstream
    self.key = key
    self.writer = writer
    self.journal = journal
    self.rules = rules
    self.calendar = calendar
    self.clock = clock
    self.log = log
  }
}
