/// A connection between the moment the server accepts it and the moment it is served.
///
/// A server that stops forgets those that wait for the second (swift-nio #2637), and the channel of
/// a connection that nobody served stops the process: its writer was never finished. So whoever
/// forgets this finishes and closes it.

import HummingbirdCore
import NIOCore
import Synchronization

package final class AcceptedConnection: ServerChildChannelValue {
  private let http: HTTP1Channel.Value
  /// Completes with the connection's first request that opens no stream, or with its end: what
  /// waits in Hummingbird for requests takes five kilobytes, and most connections become streams.
  let isHTTP: EventLoopFuture<Void>
  private let isServed = Atomic(false)

  package var channel: any Channel { http.channel }

  init(_ http: HTTP1Channel.Value, isHTTP: EventLoopFuture<Void>) {
    self.http = http
    self.isHTTP = isHTTP
  }

  /// For whoever serves it, and finishes it then.
  func take() -> HTTP1Channel.Value {
    isServed.store(true, ordering: .relaxed)
    return http
  }

  deinit {
    guard !isServed.load(ordering: .relaxed) else { return }
    let http = http
    Task { try? await http.executeThenClose { _, _ in } }
  }
}
