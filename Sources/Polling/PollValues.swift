// What passes between a poller or a queue and the worker that makes its requests.
import Market

/// Names a request for as long as it is in flight.
package struct PollRequestID: Sendable, Hashable {
  package let number: UInt64

  package init(_ number: UInt64) { self.number = number }
}

/// One request to perform.
package struct PollRequest: Sendable, Hashable {
  package enum Purpose: Sendable, Hashable, CaseIterable {
    /// The whole group.
    case sweep
    /// Whether a ban is over.
    case probe
    /// Part of a poisoned batch, or the reference symbol as its control.
    case search
  }

  package let id: PollRequestID
  package let purpose: Purpose
  /// Stable as long as the symbols are: the key of what the group answered before.
  package let group: UInt16
  /// The reference symbol first.
  package let symbols: [Symbol]
  /// The grid moment whose snapshot is wanted.
  package let slot: Timestamp
  package let deadlineMilliseconds: Int
}

/// What became of a request, once the body of its answer was classified.
package enum RequestOutcome: Sendable, Hashable {
  case ok
  /// Answered and not taken, its date or the journal being against it: the source did its part.
  case unchanged
  /// Too many requests.
  case throttled
  /// The host refuses us: 403, 456, a ban page.
  case banned
  /// The host does not know us: a missing Referer, a wrong key.
  case unauthorised
  case notFound
  case malformed
  /// One of the symbols voided the whole batch.
  case poisoned
  /// Nothing at all in the body.
  case empty
  /// No answer, or one that a second try may change: timeout, reset, 5xx, a cut-off body.
  case transient
  /// Answered, and asking again would be answered the same: no data, our own mistake.
  case failed
  /// It did not go out, or its key was at fault and not the job: again from then on, uncounted.
  case postponed(until: Timestamp)
}

/// How a source is doing.
package struct SourceState: Sendable, Hashable {
  package enum Condition: Sendable, Hashable, CaseIterable {
    case ok
    /// Some of a sweep is missing.
    case degraded
    /// Nothing usable for longer than a snapshot may straddle a minute.
    case stalled
    case banned
    case unauthorised
  }

  package let condition: Condition
  /// When it began; for `stalled`, the last moment the source proved itself alive.
  package let since: Timestamp

  package init(_ condition: Condition, since: Timestamp) {
    self.condition = condition
    self.since = since
  }
}

/// What is fixed for the life of a poller.
package struct PollerConfiguration: Sendable {
  /// An index that moves all day, first in every batch.
  package var referenceSymbol: Symbol
  package var batchSymbolsMax = BatchPlan.symbolsMaxDefault
  /// Longer than a slot: a slow answer is worth more than a timeout, and its group sits out the
  /// slots it overlaps.
  package var deadlineMilliseconds = 5_000
  package var inFlightMax = 32
  package var retriesPerSlotMax = 2
  package var retryMilliseconds = 200
  package var retryMillisecondsMax = 30_000
  /// Eight batches each 3 s are 160 a minute; the rest is for retries and bisection.
  package var requestsPerMinute = 240
  /// A whole sweep at once, and one to spare.
  package var requestsBurst = 16
  package var seed: UInt64

  package init(referenceSymbol: Symbol, seed: UInt64) {
    self.referenceSymbol = referenceSymbol
    self.seed = seed
  }
}
