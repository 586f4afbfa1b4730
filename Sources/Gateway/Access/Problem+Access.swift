import AppStore
import HTTPTypes
import Market
import Postgres

/// Why access control and a user's own things refuse a request. None of it holds what the client
/// sent: that could be a token.
extension Problem {
  package static let unauthenticated = unauthorized(
    "a token is needed: send Authorization: Bearer cndl_…")

  package static let invalidToken = unauthorized("the token is not in force")

  private static func unauthorized(_ title: String) -> Problem {
    Problem(
      .unauthorized, code: "unauthenticated", title: title,
      headers: [.wwwAuthenticate: "Bearer realm=\"candled\""])
  }

  package static func forbidden(_ scope: TokenScope) -> Problem {
    Problem(.forbidden, code: "forbidden", title: "the token lacks the scope \(scope.rawValue)")
  }

  package static let foreignOrigin = Problem(
    .forbidden, code: "forbidden",
    title: "pages of this origin may not use the gateway: add it to gateway.origins, or the "
      + "gateway's name to gateway.hosts")

  package static let misdirected = Problem(
    .misdirectedRequest, code: "misdirected",
    title: "the gateway has another name: add the one in the Host header to gateway.hosts")

  package static let tokenInAddress = Problem(
    .badRequest, code: "invalid_argument",
    title: "a token does not belong into an address, where logs keep it: revoke this one and send "
      + "another in the Authorization header")

  package static func tooManyRequests(retryAfterSeconds: Int) -> Problem {
    Problem(
      .tooManyRequests, code: "too_many_requests", title: "too many requests",
      headers: [.retryAfter: String(retryAfterSeconds)])
  }

  /// Well-formed, and no value that can be stored.
  static func unstorable(_ field: String, expected: String) -> Problem {
    Problem(
      .unprocessableContent, code: "invalid_argument", title: "\(field): expected \(expected)",
      faults: [Fault(field: field, expected: expected, found: "")])
  }

  static func bodyTooLarge(bytesMax: Int) -> Problem {
    Problem(
      .contentTooLarge, code: "body_too_large", title: "The body has more than \(bytesMax) bytes.")
  }

  init(_ error: AppStoreError) {
    switch error {
    case .store(let cause) where cause.isReadOnly: self = .readOnly
    case .store, .termIsOver: self = .storeAway
    case .unknownAccount:
      self.init(.notFound, code: "unknown_account", title: error.description)
    case .unknown(let thing, _):
      self.init(.notFound, code: "unknown_\(thing.rawValue)", title: error.description)
    case .nameTaken: self.init(.conflict, code: "name_taken", title: error.description)
    case .limitReached: self.init(.conflict, code: "limit_reached", title: error.description)
    case .tooManyOfDay:
      let day = Int64(86_400_000_000)
      let left = day - Timestamp.now.microseconds % day
      self.init(
        .tooManyRequests, code: "day_limit", title: error.description,
        headers: [.retryAfter: String(left / 1_000_000 + 1)])
    case .tooLarge(let bytesMax): self = .bodyTooLarge(bytesMax: bytesMax)
    case .invalid(let field, let expected): self = .unstorable(field, expected: expected)
    }
  }
}
