/// What a connection is made of: bounds of a request's head and of its exchanges, streams, routes.

import HTTPServing
import Logging
import NIOCore
import NIOHTTP1

package struct HTTPPipeline: Sendable {
  package static let headBytesMax = 8 * 1024
  static let headersMax = 100
  static let idleSecondsMax: Int64 = 60
  /// From a request's head to the last byte of its answer; twice that at most.
  static let exchangeSecondsMax: Int64 = 60
  /// Until the first head of a connection is whole, and any other from its first byte on. A head is
  /// 8 KiB, and opens in one round trip; browsers open some connections before they need them.
  static let headSecondsMax: Int64 = 10
  /// A client that takes no byte of an answer for that long is closed, as streams are.
  static let stallSecondsMax = StreamLimits.stallMillisecondsMax / 1_000
  /// How often these are looked at.
  static let lookSeconds: Int64 = 5
  /// The kernel's share of an answer, which it doubles: enough for 1 MB a second over 100 ms.
  package static let sendBufferBytes = 64 << 10
  /// Of the first read: the head of a request that opens a stream.
  private static let headBytes = 512
  private static let readBytesMin = 64
  private static let readBytesMax = 64 << 10

  private let table: RouteTable
  /// nil: no connection becomes a stream.
  private let hub: StreamHub?
  /// nil: their numbers have no bounds.
  private let connections: ConnectionTable?
  private let log: Logger

  package init(
    _ table: RouteTable, hub: StreamHub?, counting connections: ConnectionTable?, log: Logger
  ) {
    self.table = table
    self.hub = hub
    self.connections = connections
    self.log = log
  }

  /// Called on the channel's event loop.
  func install(on channel: any Channel) throws {
    let context = GatewayContext(of: channel, log: log)
    let exchange = HTTPExchange(bodyBytesMax: RouteTable.bodyBytesMax) { [table] in
      table.respond(to: Request($0, body: $1), context: context, reply: $2)
    }
    try install(on: channel, answering: exchange)
  }

  /// - Parameter exchange: what answers, a request at a time.
  package func install(
    on channel: any Channel, answering exchange: any ChannelHandler
  ) throws {
    // The other side may have ended it already.
    try? channel.syncOptions?.setOption(
      .socketOption(.so_sndbuf), value: SocketOptionValue(Self.sendBufferBytes))
    connections?.opened(channel)
    let pipeline = channel.pipeline.syncOperations
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = Self.headBytesMax
    limits.maxHeaderListSize = Self.headBytesMax
    limits.maxHeaderFieldCount = Self.headersMax
    let clock = HeadClock()
    try pipeline.addHandlers(
      clock, HTTPResponseEncoder(),
      ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits)),
      HTTPServerPipelineHandler(), ExchangeTimeout(awaitingHeads: clock, counting: connections))
    if let hub {
      try channel.syncOptions?.setOption(
        .recvAllocator,
        value: AdaptiveRecvByteBufferAllocator(
          minimum: Self.readBytesMin, initial: Self.headBytes, maximum: Self.readBytesMax))
      try pipeline.addHandler(StreamUpgradeHandler(hub: hub))
    }
    try pipeline.addHandler(exchange)
  }

  /// The connection has become a stream: HTTP's handlers go.
  /// - Parameter context: of a handler in front of those that answer.
  static func leave(context: ChannelHandlerContext) {
    let pipeline = context.pipeline.syncOperations
    func remove<Handler: RemovableChannelHandler>(_ type: Handler.Type) {
      if let handler = try? pipeline.handler(type: type) {
        pipeline.removeHandler(handler, promise: nil)
      }
    }
    (try? pipeline.handler(type: ExchangeTimeout.self))?.becomesStream()
    remove(HeadClock.self)
    remove(ExchangeTimeout.self)
    guard let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
    else { return }
    // It still decodes what it has, and an answer to that must not get into the stream.
    pipeline.removeHandler(decoder).assumeIsolated().whenComplete { _ in
      // What this held back goes to the next, which throws it away.
      remove(HTTPServerPipelineHandler.self)
      remove(StreamUpgradeHandler.self)
      remove(HTTPExchange.self)
      remove(HTTPResponseEncoder.self)
    }
  }
}

/// Notes when the head that a connection waits for began.
final class HeadClock: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer

  /// nil while no head is due, or nothing of it has come.
  private(set) var waitsSince: NIODeadline?
  private var isBetween = false

  func handlerAdded(context: ChannelHandlerContext) { waitsSince = context.eventLoop.now }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isBetween { (waitsSince, isBetween) = (context.eventLoop.now, false) }
    context.fireChannelRead(data)
  }

  func headCame() { (waitsSince, isBetween) = (nil, false) }

  func requestEnded() { isBetween = true }
}
