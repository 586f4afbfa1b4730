/// What a whole response with live quotes amounts to. A refusal is never "no data": nothing may be
/// concluded about an instrument from one.

package enum QuoteOutcome: Sendable, Hashable {
  /// An answer with so many lines, good, unknown and rejected ones together.
  case ok(lines: Int)
  /// Too many requests (429, or the literal `null`).
  case throttled
  /// The address is blocked: 456, a ban page, HTML in place of quotes.
  case banned
  /// No accepted Referer or a blocked network: `Kinsoku jikou desu!`, `Forbidden`, 401.
  case unauthorised
  /// One malformed token voided the whole batch: `sys_auth="FAILED"`.
  case poisoned
  /// No body at all; seen now and then (easyquotation #116).
  case empty
  /// The body is no response in the format.
  case malformed
  /// The server failed: 5xx, 408.
  case transient
  case notFound

  /// What an HTTP status says where the body says nothing; nil for a success.
  init?(refusedWith status: Int) {
    switch status {
    case 200..<300: return nil
    case 401, 407: self = .unauthorised
    case 403, 456, 300..<400: self = .banned
    case 404, 410: self = .notFound
    case 408, 500..<600: self = .transient
    case 429: self = .throttled
    default: self = .malformed
    }
  }

  /// The word for logs, metric labels and JSON.
  package var name: String {
    switch self {
    case .ok: "ok"
    case .throttled: "throttled"
    case .banned: "banned"
    case .unauthorised: "unauthorised"
    case .poisoned: "poisoned"
    case .empty: "empty"
    case .malformed: "malformed"
    case .transient: "transient"
    case .notFound: "not_found"
    }
  }
}
