/// Waiting for what the server says unasked.

import Glibc
import Market

/// Why a wait ended.
package enum WakeReason: Sendable {
  case notification, timeout, interrupted
}

/// How a connection learns that something was committed: by LISTEN or, on a standby, which takes
/// none, by looking. Asked once a connection: a session that outlives the standby's promotion goes
/// on looking.
package enum CommitHints: Sendable, Hashable {
  case notifications
  case looks(everyMilliseconds: Int32)
}

extension PostgresConnection {
  /// Of who wants to know at once. A look costs a standby a statement of a fraction of a
  /// millisecond.
  package static let lookMilliseconds: Int32 = 100

  /// From now on `wait` ends when something is notified on one of the channels or, on a standby,
  /// when it is time to look.
  /// - Throws: `connectionLost`, `transient`, `refused`.
  package func listen(
    to channels: [String], lookingEvery milliseconds: Int32 = lookMilliseconds
  ) throws(StoreError) {
    if try isStandby() {
      hints = .looks(everyMilliseconds: milliseconds)
    } else {
      try execute(channels.map { "listen \($0)" }.joined(separator: "; "), context: "listen")
    }
  }

  private static let readIsStandby = Statement(
    name: "is_standby", sql: "select pg_is_in_recovery()")

  /// Whether the server is a standby now: it takes no writes.
  package func isStandby() throws(StoreError) -> Bool {
    var row = try run(Self.readIsStandby, context: "listen").row(0)
    return try row.bool()
  }

  /// Blocks until the server notifies, `interrupt` becomes readable, or time is up; where there are
  /// no notifications, no longer than to the next look.
  /// - Throws: `connectionLost`.
  package func wait(milliseconds: Int32, interrupt: Int32) throws(StoreError) -> WakeReason {
    // A notification may have come in with the answer of the last query.
    if try consumeNotifications() { return .notification }
    var descriptors = [
      pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
      pollfd(fd: interrupt, events: Int16(POLLIN), revents: 0),
    ]
    var limit = milliseconds
    if case .looks(let everyMilliseconds) = hints { limit = min(limit, everyMilliseconds) }
    let ready = poll(&descriptors, nfds_t(descriptors.count), limit)
    if ready <= 0 { return .timeout }
    if descriptors[1].revents != 0 { return .interrupted }
    return try consumeNotifications() ? .notification : .timeout
  }
}
