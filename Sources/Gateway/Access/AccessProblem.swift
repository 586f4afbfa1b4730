import AppStore
import Market

/// Why a request is refused, in the terms of the API: RFC 9457 with a code. Never holds what the
/// client sent: it could be a token.
package struct AccessProblem: Error, Sendable, Hashable {
  package struct Field: Sendable, Hashable {
    package var field: String
    package var expected: String

    package init(field: String, expected: String) {
      self.field = field
      self.expected = expected
    }
  }

  package var status: Int
  package var code: String
  /// One sentence for people.
  package var title: String
  package var fields: [Field]
  /// How long to wait before another attempt; nil where that would not help.
  package var retryAfterSeconds: Int?

  package init(
    status: Int, code: String, title: String, fields: [Field] = [], retryAfterSeconds: Int? = nil
  ) {
    self.status = status
    self.code = code
    self.title = title
    self.fields = fields
    self.retryAfterSeconds = retryAfterSeconds
  }

  package static let unauthenticated = AccessProblem(
    status: 401, code: "unauthenticated",
    title: "a token is needed: send Authorization: Bearer cndl_…")

  package static let invalidToken = AccessProblem(
    status: 401, code: "unauthenticated", title: "the token is not in force")

  package static func forbidden(_ scope: TokenScope) -> AccessProblem {
    AccessProblem(
      status: 403, code: "forbidden", title: "the token lacks the scope \(scope.rawValue)")
  }

  package static let foreignOrigin = AccessProblem(
    status: 403, code: "forbidden",
    title: "pages of this origin may not use the gateway: add it to gateway.origins, or the "
      + "gateway's name to gateway.hosts")

  package static let misdirected = AccessProblem(
    status: 421, code: "misdirected",
    title: "the gateway has another name: add the one in the Host header to gateway.hosts")

  package static let tokenInAddress = AccessProblem(
    status: 400, code: "invalid_argument",
    title: "a token does not belong into an address, where logs keep it: revoke this one and send "
      + "another in the Authorization header")

  package static func tooManyRequests(retryAfterSeconds: Int) -> AccessProblem {
    AccessProblem(
      status: 429, code: "too_many_requests", title: "too many requests",
      retryAfterSeconds: retryAfterSeconds)
  }

  package static func invalid(_ field: String, expected: String) -> AccessProblem {
    AccessProblem(
      status: 422, code: "invalid_argument", title: "\(field): expected \(expected)",
      fields: [Field(field: field, expected: expected)])
  }

  package static let storeAway = AccessProblem(
    status: 503, code: "store_away", title: "the database cannot be reached",
    retryAfterSeconds: 1)

  package init(_ error: AppStoreError) {
    switch error {
    case .store: self = .storeAway
    case .unknownToken:
      self.init(status: 404, code: "unknown_token", title: error.description)
    case .unknownWatchlist:
      self.init(status: 404, code: "unknown_watchlist", title: error.description)
    case .nameTaken: self.init(status: 409, code: "name_taken", title: error.description)
    case .tooManyTokens, .tooManyWatchlists, .tooManySymbols:
      self.init(status: 409, code: "limit_reached", title: error.description)
    case .invalid(let field, let expected): self = .invalid(field, expected: expected)
    }
  }
}
