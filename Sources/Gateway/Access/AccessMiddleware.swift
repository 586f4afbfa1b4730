import AppStore
import HTTPTypes
import Hummingbird
import NIOCore

/// Puts `AccessControl` before every route, and holds each to its scope. Nothing is logged here: a
/// request's head may hold a token.
package struct AccessMiddleware: MiddlewareProtocol {
  private let control: AccessControl

  package init(_ control: AccessControl) { self.control = control }

  package func handle(
    _ request: Request, context: GatewayContext,
    next: (Request, GatewayContext) async throws -> Response
  ) async throws -> Response {
    let verdict = control.admit(AccessRequest(request, peer: context.remoteAddress?.ipAddress))
    var response = try await respond(to: request, context: context, by: verdict, next: next)
    control.finished(verdict, status: response.status.code)
    for (name, value) in verdict.headers {
      if let name = HTTPField.Name(name) {
        response.headers.append(HTTPField(name: name, value: value))
      }
    }
    return response
  }

  private func respond(
    to request: Request, context: GatewayContext, by verdict: AccessVerdict,
    next: (Request, GatewayContext) async throws -> Response
  ) async throws -> Response {
    switch verdict.outcome {
    case .preflight: return Response(status: .noContent)
    case .refused(let problem): return Response(problem, through: context.door)
    case .admitted(let principal):
      do throws(Problem) {
        try control.require(context.route?.scope ?? .open, of: principal)
      } catch {
        return Response(error, through: context.door)
      }
      var context = context
      context.principal = principal
      return try await QueryPool.$client.withValue(verdict.key) {
        try await next(request, context)
      }
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
    self.init(target: request.uri.string, peer: peer)
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
