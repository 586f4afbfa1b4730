/// What a response of Sina's history and list pages means if it holds no data.
///
/// The hosts refuse in the words the quote host uses, so what `QuoteOutcome` knows is asked first;
/// only the format behind it differs. Sentences never quote the body.

enum SinaRefusal {
  /// nil where the body is to be read.
  static func classify(_ body: UnsafeRawBufferPointer, status: Int) -> FeedRefusal? {
    guard let outcome = QuoteOutcome.refusal(ofAnyHost: body.trimmed, status: status) else {
      return nil
    }
    return switch outcome {
    case .throttled: FeedRefusal(.throttled(retryAfterSeconds: nil), "too many requests")
    case .banned: FeedRefusal(.banned, "HTTP \(status): the address is blocked")
    case .unauthorised: FeedRefusal(.unauthorised, "HTTP \(status): the Referer is not accepted")
    case .notFound: FeedRefusal(.notFound, "HTTP \(status): the file does not exist")
    case .transient: FeedRefusal(.transient, "HTTP \(status): the server failed")
    case .empty: FeedRefusal(.transient, "the response is empty")
    case .ok, .poisoned: FeedRefusal(.malformed, "a response to another request: quotes")
    case .malformed: FeedRefusal(.programmingError, "HTTP \(status): the request was refused")
    }
  }

  /// The literal `null`, wrapped or not: too much was asked, of too little known, or too often. The
  /// last is what must be assumed (docs/sources/sina.md).
  static let null = FeedRefusal(
    .throttled(retryAfterSeconds: nil),
    "null instead of rows: too many requests, or too many rows requested")

  /// `{"__ERROR":1,"__ERRORMSG":"Input error"}`.
  static let inputError = FeedRefusal(.programmingError, "the parameters were refused")
}
