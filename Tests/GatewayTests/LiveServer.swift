import Hummingbird
import NIOCore
import TestTraits
import Testing

@testable import Gateway

/// An application on a free port of loopback while a test asks it.
enum LiveServer {
  static func run<Result: Sendable>(
    _ gateway: Gateway, _ parts: Gateway.Parts,
    body: @escaping @Sendable (_ port: Int) async throws -> Result
  ) async throws -> Result {
    try await run({ gateway.application(parts, onRunning: $0) }, body: body)
  }

  /// - Parameters:
  ///   - make: the application, which must call what it is given once it listens.
  ///   - body: gets the port. It has a thread of its own and may wait in C: the server, and the
  ///     other tests, need the pool's.
  static func run<Result: Sendable>(
    _ make: (@escaping @Sendable (any Channel) async -> Void) throws -> some ApplicationProtocol,
    body: @escaping @Sendable (_ port: Int) async throws -> Result
  ) async throws -> Result {
    let (ports, running) = AsyncStream.makeStream(of: Int.self)
    let application = try make { running.yield($0.localAddress?.port ?? 0) }
    // Safe: ended below. A child of a test that has a thread of its own would serve on that thread.
    let service = Task.detached {
      defer { running.finish() }
      do { try await application.runService() } catch is CancellationError {}
    }
    defer { service.cancel() }
    for await port in ports {
      let result = try await onOwnThread { try await body(port) }
      service.cancel()
      try await service.value
      return result
    }
    try await service.value
    throw StreamsClient.Closed()
  }
}
