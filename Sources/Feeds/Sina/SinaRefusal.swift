/// What an answer of Sina's history and list pages amounts to if it is none.
///
/// The hosts refuse in the words the quote host uses, so what `QuoteOutcome` knows is asked first;
/// only the format behind it differs. Sentences never quote the body.

import Market

enum SinaRefusal {
  /// nil where the body is to be read.
  static func classify(_ body: UnsafeRawBufferPointer, status: Int) -> FeedRefusal? {
    guard let outcome = QuoteOutcome.refusal(ofAnyHost: body.trimmed, status: status) else {
      return nil
    }
    return switch outcome {
    case .throttled: FeedRefusal(.throttled(retryAfterSeconds: nil), "asked too often")
    case .banned: FeedRefusal(.banned, "HTTP \(status): the address is blocked")
    case .unauthorised: FeedRefusal(.unauthorised, "HTTP \(status): the Referer is not accepted")
    case .notFound: FeedRefusal(.notFound, "HTTP \(status): there is no such file")
    case .transient: FeedRefusal(.transient, "HTTP \(status): the server failed")
    case .empty: FeedRefusal(.transient, "an empty answer")
    case .ok, .poisoned: FeedRefusal(.malformed, "an answer to a request for quotes")
    case .malformed: FeedRefusal(.programmingError, "HTTP \(status): the request was refused")
    }
  }

  /// The literal `null`, wrapped or not: too much was asked, of too little known, or too often. The
  /// last is what must be assumed (upstreams/sina.md §2, §4).
  static let null = FeedRefusal(
    .throttled(retryAfterSeconds: nil), "null in place of rows: asked too often, or too much")

  /// `{"__ERROR":1,"__ERRORMSG":"Input error"}`.
  static let inputError = FeedRefusal(.programmingError, "the parameters were refused")
}
