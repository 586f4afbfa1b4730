/// A small HTTP/1 server on swift-nio, with one thread of its own: one response a connection.
///
/// It must never cost the process anything, so everything it holds is bounded: the connections, the
/// bytes of a head, the seconds from accept to close, the responses under way. A client that is too
/// slow is disconnected; when all places are taken the oldest connection goes. A handler that can
/// respond at once does so on this thread, which needs nothing of Swift's concurrency pool.

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Operations

package final class HTTPServer: Sendable {
  /// How a request is responded to.
  package enum Reply: Sendable {
    case now(ServerResponse)
    /// By a task. `unavailable` is sent if it is late, or if too many are under way.
    case later(unavailable: ServerResponse, @Sendable () async -> ServerResponse)
  }

  package enum Event: Sendable, Hashable {
    /// A port of 0 has become one.
    case listening(ListenAddress)
    /// Said once; it is tried again until it succeeds.
    case refused(String)
  }

  package struct Limits: Sendable {
    /// A scraper, a monitor, an operator, and room for those who do not go.
    package var connectionsMax = 64
    package var headBytesMax = 8_192
    /// From accept to the end of the head, and again for the response.
    package var secondsMax: Int64 = 5
    /// A response takes a millisecond; so many are under way only if what makes them hangs.
    package var laterMax = 16
    package var laterSecondsMax: Int64 = 3
    package var retrySeconds: Int64 = 2

    package init() {}
  }

  private let address: ListenAddress
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  private let gate = Gate()

  /// Begins to listen, at once or, while the address is taken, as soon as it is free.
  /// - Parameters:
  ///   - events: called on the server's thread.
  ///   - handler: called on the server's thread; must not wait.
  package init(
    at address: ListenAddress, limits: Limits = Limits(),
    events: @escaping @Sendable (Event) -> Void,
    handler: @escaping @Sendable (ServerRequest) -> Reply
  ) {
    self.address = address
    let (loop, gate) = (group.next(), gate)
    loop.execute {
      Listener(
        at: address, on: loop, limits: limits, gate: gate, events: events, handler: handler
      ).listen()
    }
  }

  deinit { stop() }

  /// Stops listening and ends every connection. Returns when that is done.
  package func stop() {
    guard gate.close() else { return }
    // It fails only for a group that is shut down already.
    try? group.syncShutdownGracefully()
    ListeningSocket.removeFile(of: address)
  }
}

/// Keeps tasks from handing responses to a thread that has ended.
final class Gate: Sendable {
  private let isOpen = NIOLockedValueBox(true)

  /// - Returns: whether it was open.
  func close() -> Bool {
    isOpen.withLockedValue { isOpen in
      defer { isOpen = false }
      return isOpen
    }
  }

  func execute(on loop: any EventLoop, work: @escaping @Sendable () -> Void) {
    isOpen.withLockedValue { if $0 { loop.execute(work) } }
  }
}
