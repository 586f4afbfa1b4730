/// Waiting for what the server says unasked.

import Glibc
import Market

/// Why a wait ended.
package enum WakeReason: Sendable {
  case notification, timeout, interrupted
}

extension PostgresConnection {
  /// Blocks until the server notifies, `interrupt` becomes readable, or time is up.
  /// - Throws: `connectionLost`.
  package func wait(milliseconds: Int32, interrupt: Int32) throws(StoreError) -> WakeReason {
    // A notification may have come in with the answer of the last query.
    if try consumeNotifications() { return .notification }
    var descriptors = [
      pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
      pollfd(fd: interrupt, events: Int16(POLLIN), revents: 0),
    ]
    let ready = poll(&descriptors, nfds_t(descriptors.count), milliseconds)
    if ready <= 0 { return .timeout }
    if descriptors[1].revents != 0 { return .interrupted }
    return try consumeNotifications() ? .notification : .timeout
  }
}
