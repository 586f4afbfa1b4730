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
    _ request: Request, context: GatewayContext,
    next: (Request, GatewayContext) async -> Answer
  ) async -> Answer {
    let verdict = control.admit(
      AccessRequest(request, peer: context.peer?.ipAddress), cost: context.cost)
    var answer = await respond(to: request, context: context, by: verdict, next: next)
    let bytes = answer.body.readableBytes
    if let problem = connections?.hold(bytes, of: verdict.key, on: context.connection) {
      answer = Answer(problem, through: context.door)
    }
    let sent = request.method == .head ? 0 : answer.body.readableBytes
    control.finished(verdict, status: answer.status.code, bytes: sent)
    answer.headers.append(contentsOf: verdict.fields)
    return answer
  }

  private func respond(
    to request: Request, context: GatewayContext, by verdict: AccessVerdict,
    next: (Request, GatewayContext) async -> Answer
  ) async -> Answer {
    switch entry(of: verdict, to: context.route, on: context.connection) {
    case .preflight(let isListed):
      guard isListed else { return Answer(status: .noContent) }
      // The table answers OPTIONS with the methods that the path has.
      let methods = await next(request, context).headers[.allow]
      return Answer(
        status: .noContent, headers: OriginRule.preflightHeaders(methods: methods))
    case .refused(let problem): return Answer(problem, through: context.door)
    case .admitted(let principal):
      var context = context
      context.principal = principal
      return await AccessKey.$current.withValue(verdict.key) { await next(request, context) }
    }
  }
}

extension AccessMiddleware {
  /// The verdict on a request to this route: the one place where its scope is checked.
  private func entry(
    of verdict: AccessVerdict, to route: Route?, on connection: ObjectIdentifier
  ) -> AccessVerdict.Outcome {
    guard case .admitted(let principal) = verdict.outcome else { return verdict.outcome }
    do throws(Problem) {
      try control.require(route?.scope ?? .open, of: principal)
    } catch {
      return .refused(error)
    }
    if let problem = connections?.identify(connection, as: verdict.key) {
      return .refused(problem)
    }
    return verdict.outcome
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
  /// - Throws: 401 without a token that is needed, 403 with one that lacks the scope.
  fileprivate func require(_ scope: Scope, of principal: Principal) throws(Problem) {
    switch scope {
    case .open: return
    case .market: try principal.requireMarket(anonymous: options.anonymous)
    case .account: _ = try principal.identity(with: .account)
    case .trade: _ = try principal.identity(with: .trade)
    case .admin: _ = try principal.identity(with: .admin)
    }
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
