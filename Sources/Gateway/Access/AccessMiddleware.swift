import HTTPTypes
import Hummingbird
import NIOCore

/// What the gateway's request contexts have: the caller, as the door left it.
package protocol AccessRequestContext: RequestContext, RemoteAddressRequestContext {
  var principal: Principal { get set }
}

/// Puts `AccessControl` before every route. Nothing is logged here: a request's head may hold a
/// token.
package struct AccessMiddleware<Context: AccessRequestContext>: RouterMiddleware {
  private let control: AccessControl

  package init(_ control: AccessControl) { self.control = control }

  package func handle(
    _ request: Request, context: Context,
    next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    let verdict = control.admit(AccessRequest(request, peer: context.remoteAddress?.ipAddress))
    var response: Response
    switch verdict.outcome {
    case .preflight: response = Response(status: .noContent)
    case .refused(let problem): response = Response(problem)
    case .admitted(let principal):
      var context = context
      context.principal = principal
      do {
        response = try await next(request, context)
      } catch let problem as AccessProblem {
        response = Response(problem)
      } catch let error as any HTTPResponseError {
        control.finished(verdict, status: error.status.code)
        throw error
      }
    }
    control.finished(verdict, status: response.status.code)
    for (name, value) in verdict.headers {
      if let name = HTTPField.Name(name) {
        response.headers.append(HTTPField(name: name, value: value))
      }
    }
    return response
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
    forwardedProto = value("X-Forwarded-Proto")
    isPreflight =
      request.method == .options && headers[.accessControlRequestMethod] != nil && origin != nil
    isGuarded = ![.get, .head, .options].contains(request.method) || headers[.upgrade] != nil
  }
}

extension Response {
  /// RFC 9457.
  package init(_ problem: AccessProblem) {
    var headers = HTTPFields()
    headers[.contentType] = "application/problem+json"
    for (name, value) in problem.headers {
      if let name = HTTPField.Name(name) { headers[name] = value }
    }
    self.init(
      status: .init(code: problem.status), headers: headers,
      body: .init(byteBuffer: ByteBuffer(bytes: problem.json)))
  }
}
