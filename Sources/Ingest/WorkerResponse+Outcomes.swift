import Feeds
import Polling

/// What a worker's answer means for the line it was asked through and for the key it was asked
/// with.

extension WorkerResponse {
  package var refusal: FeedRefusal? {
    if case .refused(let refusal) = response { refusal } else { nil }
  }

  /// The word for logs, metric labels and JSON; nil where nothing was made of the answer.
  var outcomeName: String? {
    switch response {
    case nil: nil
    case .quotes(let outcome): outcome.name
    case .refused(let refusal): refusal.kind.name
    default: "ok"
    }
  }

  /// The outcome for the queue.
  package var outcome: RequestOutcome {
    switch response {
    // It came and was not taken: asking again at once would not make room here.
    case nil: isReceived ? .unchanged : .transient
    case .quotes(let outcome): RequestOutcome(outcome)
    case .refused(let refusal): RequestOutcome(refusal.kind)
    default: .ok
    }
  }

  /// The outcome for the key.
  var keyOutcome: KeyRing.Outcome {
    guard response != nil else { return .other }
    guard let refusal else { return .ok }
    switch refusal.kind {
    case .quotaExhausted: return .quotaExhausted
    case .unauthorised: return .invalidLicence
    case .throttled(let seconds):
      return .throttled(retryAfterSeconds: retryAfterSeconds ?? seconds)
    default: return .other
    }
  }

  /// The later of what header and body ask for.
  package var waitSeconds: Int? {
    guard case .throttled(let seconds) = refusal?.kind else { return retryAfterSeconds }
    return [retryAfterSeconds, seconds].compactMap { $0 }.max()
  }
}

extension RequestOutcome {
  fileprivate init(_ outcome: QuoteOutcome) {
    switch outcome {
    case .ok: self = .ok
    case .throttled: self = .throttled
    case .banned: self = .banned
    case .unauthorised: self = .unauthorised
    case .poisoned: self = .poisoned
    case .empty: self = .empty
    case .malformed: self = .malformed
    case .transient: self = .transient
    case .notFound: self = .notFound
    }
  }

  fileprivate init(_ refusal: FeedRefusal.Kind) {
    switch refusal {
    case .throttled: self = .throttled
    case .banned: self = .banned
    case .malformed: self = .malformed
    case .transient: self = .transient
    case .notFound: self = .notFound
    case .unauthorised: self = .unauthorised
    case .quotaExhausted, .entitlement, .noData, .invalidSymbol, .programmingError, .implausible:
      self = .failed
    }
  }
}
