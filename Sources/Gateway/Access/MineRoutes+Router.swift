import HTTPTypes
import Hummingbird
import NIOCore

/// The table of `MineRoutes` on a router of Hummingbird.
extension MineRoutes {
  /// Longer bodies are answered 413.
  package static let bodyBytesMax = 65_536

  package func add<Context: AccessRequestContext>(to router: Router<Context>) {
    for route in Self.table {
      guard let method = HTTPRequest.Method(route.method.rawValue) else { continue }
      router.on(RouterPath(route.path), method: method) { request, context in
        try await respond(to: request, context: context, by: route)
      }
    }
  }

  private func respond<Context: AccessRequestContext>(
    to request: Request, context: Context, by route: MineRoute
  ) async throws -> Response {
    let body: ByteBuffer
    do {
      body = try await request.body.collect(upTo: Self.bodyBytesMax)
    } catch is NIOTooManyBytesError {
      throw AccessProblem(
        status: 413, code: "too_large",
        title: "the body is larger than \(Self.bodyBytesMax) bytes")
    }
    if let scope = route.scope { _ = try context.principal.identity(with: scope) }
    var parameters: [String: String] = [:]
    for (name, value) in context.parameters { parameters[String(name)] = String(value) }
    let answer = try await route.respond(
      self,
      MineRequest(
        principal: context.principal, parameters: parameters,
        body: Array(body.readableBytesView)))
    var headers = HTTPFields()
    headers[.cacheControl] = "no-store"
    if let location = answer.location { headers[.location] = location }
    if !answer.body.isEmpty { headers[.contentType] = "application/json" }
    return Response(
      status: .init(code: answer.status), headers: headers,
      body: .init(byteBuffer: ByteBuffer(bytes: answer.body)))
  }
}

/// The context of a request at the gateway.
package struct GatewayRequestContext: AccessRequestContext {
  package var coreContext: CoreRequestContextStorage
  package var principal = Principal.anonymous
  package let remoteAddress: SocketAddress?

  package init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    remoteAddress = source.channel.remoteAddress
  }
}
