// What passes between a paced queue and the shell that performs its requests.

/// Why a job ended without success.
package enum PacedEnd: Sendable, Hashable {
  case failed
  /// Its tries are used up; the last outcome.
  case triesSpent(RequestOutcome)
  case withdrawn
  case stopped
  /// The queue was full when it came.
  case overflow
}

/// A job, and how it is to be asked for.
package struct PacedJob<Job: Hashable & Sendable>: Sendable, Hashable {
  package let job: Job
  /// The highest goes first.
  package let priority: Int

  package init(_ job: Job, priority: Int) {
    self.job = job
    self.priority = priority
  }
}

/// What is fixed for the life of a paced queue.
package struct PacedQueueConfiguration: Sendable {
  package var requestsPerMinute: Int
  package var burst: Int
  package var inFlightMax: Int
  package var seed: UInt64
  package var deadlineMilliseconds = 15_000
  /// The fruitless responses of its own after which a job is given up.
  package var retriesMax = 4
  /// The throttled or banned responses after which it is: those are no fault of the job.
  package var refusalsMax = 12
  package var retryMilliseconds = 1_000
  package var retryMillisecondsMax = 60_000
  /// A night of repairs is 5,500 jobs; a whole market's backfill some ten thousand chunks.
  package var waitingMax = 100_000

  package init(requestsPerMinute: Int, burst: Int, inFlightMax: Int, seed: UInt64) {
    self.requestsPerMinute = requestsPerMinute
    self.burst = burst
    self.inFlightMax = inFlightMax
    self.seed = seed
  }
}
