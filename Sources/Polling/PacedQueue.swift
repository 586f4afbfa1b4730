// What every request beside the live quotes is asked through: lists, K-lines, bars, calendars.
//
// Jobs wait in one line a host: the highest priority first, then first come. A token bucket paces
// them; trouble slows the whole line, because it is the host that is in trouble:
//
//   throttled → nothing for max(Retry-After, backoff), then one at a time until an answer is good
//   banned    → the breaker: nothing at all, then one job as the probe
//   silent    → after five fruitless answers in a row one at a time, with growing pauses
//
// Sans-IO, like the poller. What it must never do: exceed the budget, ask while banned, have one
// job in flight twice, or lose one: each ends exactly once, as `finished` or `abandoned`.
import Market

/// The line of jobs of one host.
package struct PacedQueue<Job: Hashable & Sendable>: Sendable {
  package enum Event: Sendable, Hashable {
    /// A job that waits already gets the higher priority, and is no longer postponed; one that is
    /// in flight stays as it is.
    case enqueued([PacedJob<Job>])
    /// They are not wanted any more; what is in flight is not asked for again.
    case withdrawn([Job])
    /// The moment of the latest `wake` has come. Early or late does no harm.
    case woke
    /// Unknown ids are ignored.
    case answered(PollRequestID, RequestOutcome, retryAfterSeconds: Int?)
    /// The moments from here on are of a clock that was set, by so much: no time has passed.
    case clockJumped(microseconds: Int64)
    /// No more requests; those in flight may still be answered.
    case stopping
  }

  package enum Action: Sendable, Hashable {
    case request(PollRequestID, Job)
    /// Replaces every earlier wake.
    case wake(at: Timestamp)
    case finished(Job)
    case abandoned(Job, PacedEnd)
    /// The health, on change only.
    case health(SourceState)
  }

  struct PendingRequest: Sendable {
    let job: Job
    var priority: Int
    /// Its number in the queue.
    var place: UInt64
    /// The earliest moment to send it, on the wall clock.
    var notBefore: Timestamp?
    /// The moment until which it rests, on the steady axis.
    var restsUntil: Timestamp
    var retries = 0
    var refusals = 0
  }

  struct InFlightRequest: Sendable {
    var pendingRequest: PendingRequest
    let isProbe: Bool
    /// The moment at which it counts as lost, on the steady axis.
    let expiresAt: Timestamp
    var isWithdrawn = false
  }

  let configuration: PacedQueueConfiguration
  var gate: HostGate
  var isStopping = false

  private(set) var waiting: [Job: PendingRequest] = [:]
  /// The waiting jobs that may be sent, and those whose moment has not come.
  private var ready = ReadyHeap<Job>()
  private(set) var resting: Set<Job> = []
  var inFlight: [PollRequestID: InFlightRequest] = [:]
  var inFlightIDs: [Job: PollRequestID] = [:]
  var placeLast: UInt64 = 0

  var wakeAt: Timestamp?
  var actions: [Action] = []

  package init(_ configuration: PacedQueueConfiguration) {
    self.configuration = configuration
    gate = HostGate(
      requestsPerMinute: configuration.requestsPerMinute, burst: configuration.burst,
      retryMilliseconds: configuration.retryMilliseconds...configuration.retryMillisecondsMax,
      seed: configuration.seed)
  }

  /// Jobs waiting or in flight.
  package var count: Int { waiting.count + inFlight.count }

  /// Takes an event at a wall-clock moment; returns what to do, in order.
  package mutating func received(_ event: Event, at now: Timestamp) -> [Action] {
    actions = []
    if case .clockJumped(let microseconds) = event {
      gate.clockJumped(microseconds: microseconds)
    }
    _ = gate.advance(to: now)
    switch event {
    case .enqueued(let jobs): for job in jobs { enqueue(job) }
    case .withdrawn(let jobs): for job in jobs { withdraw(job) }
    case .woke, .clockJumped: wakeAt = nil
    case .answered(let id, let outcome, let retryAfterSeconds):
      answered(id, outcome: outcome, retryAfterSeconds: retryAfterSeconds, at: now)
    case .stopping: stop()
    }
    expireLost(now)
    if !isStopping { sendReady(now) }
    armWake(now)
    return actions
  }

  private mutating func enqueue(_ wanted: PacedJob<Job>) {
    if let id = inFlightIDs[wanted.job] {
      inFlight[id]?.isWithdrawn = false
    } else if var pendingRequest = waiting[wanted.job] {
      pendingRequest.priority = max(pendingRequest.priority, wanted.priority)
      pendingRequest.notBefore = nil
      insert(pendingRequest)
    } else if isStopping {
      actions.append(.abandoned(wanted.job, .stopped))
    } else if waiting.count >= configuration.waitingMax {
      actions.append(.abandoned(wanted.job, .overflow))
    } else {
      placeLast += 1
      insert(
        PendingRequest(
          job: wanted.job, priority: wanted.priority, place: placeLast, restsUntil: gate.steady))
    }
  }

  private mutating func withdraw(_ job: Job) {
    if let id = inFlightIDs[job] {
      inFlight[id]?.isWithdrawn = true
    } else if waiting[job] != nil {
      leaveLine(job)
      actions.append(.abandoned(job, .withdrawn))
    }
  }

  private mutating func stop() {
    isStopping = true
    for pendingRequest in waiting.values.sorted(by: { $0.place < $1.place }) {
      actions.append(.abandoned(pendingRequest.job, .stopped))
    }
    waiting = [:]
    resting = []
    ready = ReadyHeap()
  }
}

// MARK: - The line

extension PacedQueue {
  /// Puts a job into the line. Whether its moment has come shows when one is to be sent.
  mutating func insert(_ pendingRequest: PendingRequest) {
    waiting[pendingRequest.job] = pendingRequest
    resting.insert(pendingRequest.job)
  }

  mutating func leaveLine(_ job: Job) {
    waiting[job] = nil
    resting.remove(job)
  }

  /// The first of those whose moment has come.
  mutating func firstReady(_ now: Timestamp) -> PendingRequest? {
    for job in resting {
      guard let pendingRequest = waiting[job], isReady(pendingRequest, at: now) else { continue }
      resting.remove(job)
      ready.insert(
        ReadyHeap.Entry(job: job, priority: pendingRequest.priority, place: pendingRequest.place))
    }
    if ready.count > 2 * waiting.count + Self.entriesSpare { rebuildReady() }
    while let entry = ready.first {
      if let pendingRequest = waiting[entry.job], pendingRequest.place == entry.place,
        pendingRequest.priority == entry.priority, !resting.contains(entry.job)
      {
        if isReady(pendingRequest, at: now) { return pendingRequest }
        // The clock was set back.
        resting.insert(entry.job)
      }
      ready.removeFirst()
    }
    return nil
  }

  private static var entriesSpare: Int { 64 }

  private mutating func rebuildReady() {
    ready = ReadyHeap(
      waiting.values.filter { !resting.contains($0.job) }.map { pendingRequest in
        ReadyHeap.Entry(
          job: pendingRequest.job, priority: pendingRequest.priority, place: pendingRequest.place)
      })
  }

  private func isReady(_ pendingRequest: PendingRequest, at now: Timestamp) -> Bool {
    pendingRequest.restsUntil <= gate.steady && pendingRequest.notBefore.map { $0 <= now } ?? true
  }
}
