/// Why a response holds nothing to decode, in the classes a poller acts on.
///
/// A refusal is never "there is none": nothing may be concluded about an instrument from one. The
/// sentence is for people and may be logged and stored; it never quotes the body, which may repeat
/// what was asked for, the licence included.

package struct FeedRefusal: Error, Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// The key has no requests left today.
    case quotaExhausted
    /// The key is wrong, expired or of another environment.
    case unauthorised
    /// Too many requests.
    /// - retryAfterSeconds: from the body; the transport adds what a header contains.
    case throttled(retryAfterSeconds: Int?)
    /// The address is blocked.
    case banned
    /// There is nothing at this host, at this moment or for this key.
    case notFound
    /// A valid response without data.
    case noData
    /// The key is good, the plan does not include this.
    case entitlement
    /// One symbol voids the request; nil where the response does not name it.
    case invalidSymbol(String?)
    /// The request itself is wrong: repeating it is useless.
    case programmingError
    /// The body is not in the expected format, or cut off.
    case malformed
    /// The server failed; the same request may work later.
    case transient
    /// The body is in the expected format, and it cannot be true.
    case implausible
  }

  package let kind: Kind
  package let sentence: String

  package init(_ kind: Kind, _ sentence: String) {
    self.kind = kind
    self.sentence = sentence
  }

  /// An answer that is not the JSON it should be.
  init(_ fault: JSONFault) { self.init(.malformed, "unexpected JSON: \(fault)") }
}

extension FeedRefusal.Kind {
  /// The word for logs, metric labels and JSON.
  package var name: String {
    switch self {
    case .quotaExhausted: "quota_exhausted"
    case .unauthorised: "unauthorised"
    case .throttled: "throttled"
    case .banned: "banned"
    case .notFound: "not_found"
    case .noData: "no_data"
    case .entitlement: "entitlement"
    case .invalidSymbol: "invalid_symbol"
    case .programmingError: "programming_error"
    case .malformed: "malformed"
    case .transient: "transient"
    case .implausible: "implausible"
    }
  }
}
