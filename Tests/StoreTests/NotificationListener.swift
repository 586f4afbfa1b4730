import CPostgres

/// A bare libpq listener: what any client sees of a commit.
final class NotificationListener {
  private let handle: OpaquePointer

  struct Failure: Error {}

  init(url: String) throws {
    guard let handle = PQconnectdb(url) else { throw Failure() }
    self.handle = handle
    guard PQstatus(handle) == CONNECTION_OK else { throw Failure() }
    PQclear(PQexec(handle, "listen candled"))
  }

  deinit { PQfinish(handle) }

  /// Everything notified up to now: the answer to a query comes behind it.
  func payloads() throws -> [String] {
    PQclear(PQexec(handle, "select 1"))
    var payloads: [String] = []
    while let notification = PQnotifies(handle) {
      payloads.append(String(cString: notification.pointee.extra))
      PQfreemem(notification)
    }
    return payloads
  }
}
