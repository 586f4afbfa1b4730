// What the transport's tests share.
import Platform
import Transport

/// The client's error, or nil if it answered.
func failure(
  _ client: HTTPClient, _ request: HTTPRequest
) async -> TransportError.Code? {
  do throws(TransportError) {
    _ = try await client.send(request)
    return nil
  } catch {
    return error.code
  }
}

extension HTTPRequest {
  /// A request to a test server with limits no test waits for.
  init(_ base: String, _ path: String = "/") throws {
    self.init(
      base: try BaseAddress(parsing: base), path: path, deadlineMilliseconds: 30_000,
      route: "test")
  }
}

/// Counts across the server's threads.
final class Tally: Sendable {
  private let count = Locked(0)

  func increment() { count.withLock { $0 += 1 } }

  var value: Int { count.withLock { $0 } }
}
