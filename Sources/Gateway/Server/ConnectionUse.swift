import NIOCore
import NIOHTTP1

/// Notes in `ConnectionTable` whether a connection is in use. It rests when the kernel has its last
/// answer.
final class ConnectionUse: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private var exchanges = ExchangeCount()
  private let connections: ConnectionTable
  private let id: ObjectIdentifier

  init(of channel: any Channel, in connections: ConnectionTable) {
    self.connections = connections
    id = ObjectIdentifier(channel)
  }

  func becomesStream() { connections.becameStream(id) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = Self.unwrapInboundIn(data)
    exchanges.read(part)
    switch part {
    case .head: if exchanges.unanswered == 1 { connections.began(id) }
    case .body: break
    case .end: if exchanges.unanswered == 0 { connections.rests(id) }
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let part = Self.unwrapOutboundIn(data)
    exchanges.write(part)
    guard case .end = part else { return context.write(data, promise: promise) }
    let written = promise ?? context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenComplete { [self] _ in
      if exchanges.isIdle { connections.rests(id) }
    }
    context.write(data, promise: written)
  }
}
