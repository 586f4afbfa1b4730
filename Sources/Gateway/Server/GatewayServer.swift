/// The listening socket of a gateway. It serves HTTP/1, and with a hub WebSockets at `/ws` and
/// `/v1/ws` and events at `/v1/stream`.

import HTTPServing
import NIOCore
import NIOPosix
import Operations

package struct GatewayServer: Sendable {
  package let channel: any Channel
  /// Completes once it has stopped and every connection is closed.
  package let ended: EventLoopFuture<Void>

  /// Connections that make room, or find none, and are not closed yet. Further ones wait.
  private static let closingConnectionsMax = 1_000
  /// Of connections that the kernel has taken and we have not: a storm of reconnections.
  private static let backlog: Int32 = 4_096
  /// For the exchanges under way when it stops.
  private static let stopSecondsMax: Int64 = 5

  /// Listens.
  /// - Throws: `ListenError`.
  package init(
    at address: ListenAddress, on loops: any EventLoopGroup, connectionsMax: Int,
    serving pipeline: HTTPPipeline
  ) async throws {
    let promise = loops.next().makePromise(of: Void.self)
    let bootstrap = ServerBootstrap(group: loops)
      .serverChannelOption(.backlog, value: Self.backlog)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            AcceptedConnections(
              countMax: connectionsMax + Self.closingConnectionsMax,
              stopSecondsMax: Self.stopSecondsMax, ended: promise))
        }
      }
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try pipeline.install(on: channel) }
      }
    ended = promise.futureResult
    do {
      switch address {
      case .ipv4(let host, let port), .ipv6(let host, let port):
        channel = try await bootstrap.bind(host: host, port: Int(port)).get()
      case .unix(let path):
        channel = try await bootstrap.bind(
          unixDomainSocketPath: path, cleanupExistingSocketFile: true
        ).get()
      }
    } catch {
      promise.succeed()
      guard let error = error as? IOError else { throw error }
      throw ListenError(address: address, errorNumber: error.errnoCode)
    }
  }

  /// Listens no longer, and ends connections once what is under way on them is answered.
  package func stop() { channel.close(promise: nil) }

  /// Serves until its task is cancelled.
  package func run() async {
    await withTaskCancellationHandler {
      // It never fails.
      try? await ended.get()
    } onCancel: {
      stop()
    }
  }
}
