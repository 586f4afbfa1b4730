// What the transport's tests share.
import Glibc
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

/// What a shell command prints, as bytes.
func output(_ command: String) -> [UInt8] {
  guard let stream = popen(command, "r") else { return [] }
  defer { pclose(stream) }
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = fread(&chunk, 1, chunk.count, stream)
    guard count > 0 else { return bytes }
    bytes += chunk[..<count]
  }
}

/// Counts across the server's threads.
///
/// `@unchecked Sendable`: every access to `count` is under the lock.
final class Tally: @unchecked Sendable {
  private var count = 0
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
  }

  deinit { mutex.deallocate() }

  func increment() {
    pthread_mutex_lock(mutex)
    count += 1
    pthread_mutex_unlock(mutex)
  }

  var value: Int {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return count
  }
}
