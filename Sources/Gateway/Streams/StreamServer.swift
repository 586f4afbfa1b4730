/// Hummingbird's HTTP/1 server, whose connections may become streams.

import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

package struct StreamServer: ServerChildChannel {
  package typealias Value = HTTP1Channel.Value

  private let http: HTTP1Channel
  private let hub: StreamHub

  package init(http: HTTP1Channel, hub: StreamHub) {
    self.http = http
    self.hub = hub
  }

  package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    let hub = hub
    return http.setup(channel: channel, logger: logger).flatMapThrowing { value in
      let pipeline = channel.pipeline.syncOperations
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try pipeline.addHandler(StreamUpgradeHandler(hub: hub), position: .after(decoder))
      return value
    }
  }

  package func handle(value: Value, logger: Logger) async {
    await http.handle(value: value, logger: logger)
  }
}

extension HTTPServerBuilder {
  /// HTTP/1 with WebSockets at `/ws` and `/v1/ws` and events at `/v1/stream`.
  package static func streams(
    _ hub: StreamHub, configuration: HTTP1Channel.Configuration = .init()
  ) -> HTTPServerBuilder {
    HTTPServerBuilder { responder in
      StreamServer(
        http: HTTP1Channel(responder: responder, configuration: configuration), hub: hub)
    }
  }
}
