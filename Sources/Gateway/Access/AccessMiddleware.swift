import AppStore
import HTTPTypes
import NIOCore

/// Puts `AccessControl` before every route, and holds each to its scope. Nothing is logged here: a
/// request's head may hold a token.
package struct AccessMiddleware: Sendable {
  private let control: AccessControl
  /// nil: neither connections nor unread answers have bounds.
  private let connections: ConnectionTable?

  package init(_ control: AccessControl, counting connections: ConnectionTable? = nil) {
    self.control = control
    self.connections = connections
  }

  func handle(
    _ request: Request, context: GatewayContext, next: (GatewayContext) async -> Answer
  ) async -> Answer {
    let verdict = control.admit(
      AccessRequest(request, peer: context.peer?.ipAddress), cost: context.cost)
    var answer: Answer
    do throws(Problem) {
      answer = try await respond(context: context, by: verdict, next: next)
      let bytes = answer.body.readableBytes
      if let problem = connections?.hold(bytes, of: verdict.key, on: context.connection) {
        throw problem
      }
    } catch {
      answer = Answer(error, through: context.door)
    }
    let sent = request.method == .head ? 0 : answer.body.readableBytes
    control.finished(verdict, status: answer.status.code, bytes: sent)
    answer.headers.append(contentsOf: verdict.fields)
    return answer
  }

  /// Checks the route's scope, here alone.
  private func respond(
    context: GatewayContext, by verdict: AccessVerdict, next: (GatewayContext) async -> Answer
  ) async throws(Problem) -> Answer {
    switch verdict.outcome {
    case .refused(let problem): throw problem
    case .preflight(isListed: false): return Answer(status: .noContent)
    case .preflight:
      // The table answers OPTIONS with the methods that the path has.
      let methods = await next(context).headers[.allow]
      return Answer(status: .noContent, headers: OriginRule.preflightHeaders(methods: methods))
    case .admitted(let principal):
      try control.require(context.route?.scope, of: principal)
      if let problem = connections?.identify(context.connection, as: verdict.key) {
        throw problem
      }
      var context = context
      context.principal = principal
      return await AccessKey.$current.withValue(verdict.key) { await next(context) }
    }
  }
}

extension AccessVerdict {
  fileprivate var fields: [HTTPField] {
    headers.compactMap { name, value in
      HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
    }
  }
}

extension AccessControl {
  /// - Parameter scope: nil: for everybody.
  /// - Throws: 401 without a token that is needed, 403 with one that lacks the scope.
  func require(_ scope: TokenScope?, of principal: Principal) throws(Problem) {
    guard let scope, scope != .market || !options.anonymous else { return }
    _ = try principal.identity(with: scope)
  }
}

extension AccessRequest {
  package init(_ request: Request, peer: String?) {
    self.init(target: request.target, peer: peer)
    let headers = request.headers
    func value(_ name: String) -> String? {
      HTTPField.Name(name).flatMap { name in
        let values = headers[values: name]
        return values.isEmpty ? nil : values.joined(separator: ",")
      }
    }
    authorization = headers[.authorization]
    secretKey = value("APCA-API-SECRET-KEY")
    origin = headers[.origin]
    host = request.head.authority
    forwardedFor = value("X-Forwarded-For")
    isPreflight =
      request.method == .options && headers[.accessControlRequestMethod] != nil && origin != nil
    isGuarded = ![.get, .head, .options].contains(request.method) || headers[.upgrade] != nil
  }
}
