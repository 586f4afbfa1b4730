// Runs a paced queue against a source, on virtual time.
import Market

@testable import Polling

/// What the source does with one request; nil milliseconds is an answer that never comes.
struct PacedReply {
  var milliseconds: Int64? = 100
  var outcome = RequestOutcome.ok
  var retryAfterSeconds: Int?
}

struct PacedBench {
  typealias Queue = PacedQueue<Int>
  typealias Source = (Int, Timestamp) -> PacedReply

  struct Sent {
    let elapsed: Int64
    let wall: Timestamp
    let id: PollRequestID
    let job: Int
  }

  struct Response {
    let elapsed: Int64
    let id: PollRequestID
    let outcome: RequestOutcome
  }

  var queue: Queue
  /// Elapsed microseconds, never stepped.
  private(set) var elapsed: Int64 = 0
  private var offset: Int64
  private var wakeElapsed: Int64?
  private var inFlightRequests: [(elapsed: Int64, id: PollRequestID, reply: PacedReply)] = []
  private(set) var sent: [Sent] = []
  private(set) var responses: [Response] = []
  private(set) var actions: [Queue.Action] = []

  init(_ queue: Queue, at start: Timestamp = moment(9, 0)) {
    self.queue = queue
    offset = start.microseconds
  }

  var now: Timestamp { Timestamp(microseconds: elapsed + offset) }

  var jobs: [Int] { sent.map(\.job) }

  mutating func stepClock(seconds: Int64) { offset += seconds * 1_000_000 }

  mutating func enqueue(_ jobs: [Int], priority: Int = 0, _ source: Source = { _, _ in .init() }) {
    feed(.enqueued(jobs.map { PacedJob($0, priority: priority) }), source)
  }

  mutating func feed(_ event: Queue.Event, _ source: Source) {
    for action in queue.received(event, at: now) {
      actions.append(action)
      switch action {
      case .request(let id, let job):
        sent.append(Sent(elapsed: elapsed, wall: now, id: id, job: job))
        let reply = source(job, now)
        if let milliseconds = reply.milliseconds {
          inFlightRequests.append((elapsed + milliseconds * 1_000, id, reply))
        }
      case .wake(let at): wakeElapsed = elapsed + max(at.microseconds(since: now), 0)
      case .finished, .abandoned, .health: break
      }
    }
  }

  /// Lets time pass until so much has elapsed since the start.
  mutating func run(untilElapsedSeconds seconds: Int64, _ source: Source = { _, _ in .init() }) {
    while let next = nextElapsed, next <= seconds * 1_000_000 {
      elapsed = max(elapsed, next)
      if let wakeElapsed, wakeElapsed == next {
        self.wakeElapsed = nil
        feed(.woke, source)
      } else if let index = inFlightRequests.firstIndex(where: { $0.elapsed == next }) {
        let inFlightRequest = inFlightRequests.remove(at: index)
        responses.append(
          Response(elapsed: elapsed, id: inFlightRequest.id, outcome: inFlightRequest.reply.outcome)
        )
        feed(
          .answered(
            inFlightRequest.id, inFlightRequest.reply.outcome,
            retryAfterSeconds: inFlightRequest.reply.retryAfterSeconds),
          source)
      }
    }
    elapsed = max(elapsed, seconds * 1_000_000)
  }

  private var nextElapsed: Int64? {
    [wakeElapsed, inFlightRequests.map(\.elapsed).min()].compactMap { $0 }.min()
  }

  var finished: [Int] {
    actions.compactMap { action in
      if case .finished(let job) = action { return job }
      return nil
    }
  }

  var abandoned: [Int: [PacedEnd]] {
    actions.reduce(into: [:]) { ends, action in
      if case .abandoned(let job, let end) = action { ends[job, default: []].append(end) }
    }
  }

  var conditions: [SourceState.Condition] {
    actions.compactMap { action in
      if case .health(let state) = action { return state.condition }
      return nil
    }
  }
}

/// A queue with a wide budget, so that a test meets only the bound it is about.
func pacedQueue(
  perMinute: Int = 6_000, burst: Int = 100, inFlight: Int = 4,
  change: (inout PacedQueueConfiguration) -> Void = { _ in }
) -> PacedQueue<Int> {
  var configuration = PacedQueueConfiguration(
    requestsPerMinute: perMinute, burst: burst, inFlightMax: inFlight, seed: 7)
  change(&configuration)
  return PacedQueue(configuration)
}
