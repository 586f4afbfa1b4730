import NIOCore
import TestTraits
import Testing

@testable import Gateway

/// A server on a free port of loopback while a test asks it.
enum LiveServer {
  static func run<Result: Sendable>(
    _ gateway: Gateway, _ parts: Gateway.Parts,
    body: @escaping @Sendable (_ port: Int) async throws -> Result
  ) async throws -> Result {
    try await run(try await gateway.listen(parts), body: body)
  }

  /// - Parameter body: gets the port. It has a thread of its own and may wait in C: the server, and
  ///   the other tests, need the pool's.
  static func run<Result: Sendable>(
    _ server: GatewayServer, body: @escaping @Sendable (_ port: Int) async throws -> Result
  ) async throws -> Result {
    defer { server.stop() }
    let port = server.channel.localAddress?.port ?? 0
    let result = try await onOwnThread { try await body(port) }
    server.stop()
    try await server.ended.get()
    return result
  }
}
