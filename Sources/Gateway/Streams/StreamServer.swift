/// Hummingbird's HTTP/1 server, whose connections may become streams.

import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

package struct StreamServer: ServerChildChannel {
  private let http: HTTP1Channel
  /// nil: no connection becomes a stream.
  private let hub: StreamHub?
  private let connections: ConnectionTable?
  /// Of the first read: the head of a request that opens a stream.
  private static let headBytes = 512
  private static let readBytesMin = 64
  private static let readBytesMax = 64 << 10

  package init(http: HTTP1Channel, hub: StreamHub?, counting connections: ConnectionTable?) {
    self.http = http
    self.hub = hub
    self.connections = connections
  }

  package func setup(
    channel: any Channel, logger: Logger
  ) -> EventLoopFuture<AcceptedConnection> {
    let (hub, connections) = (hub, connections)
    return http.setup(channel: channel, logger: logger).flatMapThrowing { value in
      // The other side may have ended it already.
      try? channel.syncOptions?.setOption(
        .socketOption(.so_sndbuf), value: SocketOptionValue(HTTPPipeline.sendBufferBytes))
      connections?.opened(channel)
      let isHTTP = channel.eventLoop.makePromise(of: Void.self)
      let connection = AcceptedConnection(value, isHTTP: isHTTP.futureResult)
      guard let hub else {
        isHTTP.succeed()
        return connection
      }
      channel.closeFuture.whenComplete { _ in isHTTP.succeed() }
      try channel.syncOptions?.setOption(
        .recvAllocator,
        value: AdaptiveRecvByteBufferAllocator(
          minimum: Self.readBytesMin, initial: Self.headBytes, maximum: Self.readBytesMax))
      try hub.install(on: channel.pipeline.syncOperations, isHTTP: isHTTP)
      return connection
    }
  }

  package func handle(value: AcceptedConnection, logger: Logger) async {
    await withTaskCancellationHandler {
      // It never fails.
      try? await value.isHTTP.get()
    } onCancel: {
      value.channel.close(mode: .input, promise: nil)
    }
    await http.handle(value: value.take(), logger: logger)
  }
}

extension StreamHub {
  /// Lets requests of a connection open streams. It must have HTTP's decoder, and run on an event
  /// loop of the hub.
  /// - Parameter isHTTP: is completed with the first request that opens none.
  package func install(
    on pipeline: ChannelPipeline.SynchronousOperations, isHTTP: EventLoopPromise<Void>? = nil
  ) throws {
    let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
    try pipeline.addHandler(
      StreamUpgradeHandler(hub: self, isHTTP: isHTTP), position: .after(decoder))
  }
}

extension HTTPServerBuilder {
  /// HTTP/1, with a hub also WebSockets at `/ws` and `/v1/ws` and events at `/v1/stream`.
  /// - Parameter connections: the same that the configuration has.
  package static func streams(
    _ hub: StreamHub?, counting connections: ConnectionTable? = nil,
    configuration: HTTP1Channel.Configuration = .init()
  ) -> HTTPServerBuilder {
    HTTPServerBuilder { responder in
      StreamServer(
        http: HTTP1Channel(responder: responder, configuration: configuration), hub: hub,
        counting: connections)
    }
  }
}
