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

  /// For the line. What concerns the key alone is the ring's to say.
  package var outcome: PacedOutcome {
    guard response != nil else { return .transient }
    guard let refusal else { return .ok }
    switch refusal.kind {
    case .throttled: return .throttled
    case .banned: return .banned
    case .malformed, .transient: return .transient
    case .quotaExhausted, .unauthorised, .entitlement, .notFound, .noData, .invalidSymbol,
      .programmingError, .implausible:
      return .failed
    }
  }

  /// For the key.
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
