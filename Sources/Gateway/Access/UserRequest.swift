import AppStore
import Foundation
import HTTPTypes

/// A request of a known user. Access control has let in nobody without the route's scope.
struct UserRequest: Sendable {
  let identity: Principal.Identity
  let arguments: Arguments

  /// Of the path.
  var id: Int64 { arguments.integer("id") ?? 0 }

  /// The account that it names; nil for the user's first.
  var account: Int64? { arguments.integer("account") }

  /// Of the client.
  var key: String? { arguments["Idempotency-Key"] }

  /// - Throws: 400 where it is not the JSON that is expected.
  func body<Body: Decodable>(_ type: Body.Type) throws(Problem) -> Body {
    let json = arguments.body.isEmpty ? Array("{}".utf8) : arguments.body
    return try JSONBody.decode(type, from: Data(json))
  }
}

extension Route {
  /// Of what changes a user's own things.
  static let problemsOfChange: [HTTPResponse.Status] = [
    .notFound, .conflict, .contentTooLarge, .unprocessableContent, .serviceUnavailable,
  ]

  /// A route of what belongs to a user. Without a token it answers 401.
  static func ofUser(
    _ path: String, method: HTTPRequest.Method = .get, summary: String,
    scope: TokenScope? = .account, parameters: [Parameter] = [],
    status: HTTPResponse.Status = .ok, answer: Schema?, others: [DeclaredAnswer] = [],
    body: Schema? = nil, problems: [HTTPResponse.Status], door: Door? = nil,
    respond: @escaping @Sendable (UserRequest) async throws(Problem) -> Answer
  ) -> Route {
    Route(
      path, method: method, summary: summary, scope: scope, parameters: parameters,
      status: status, answer: answer, others: others, body: body, problems: problems, door: door
    ) { arguments in
      let identity = try arguments.principal.requireIdentity()
      return try await respond(UserRequest(identity: identity, arguments: arguments))
    }
  }
}
