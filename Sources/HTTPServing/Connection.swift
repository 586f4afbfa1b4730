/// What a connection of the small server has beside its one exchange: bounds.

import NIOCore
import NIOHTTP1

/// Notes a connection while it is open, and ends it at its deadline.
final class ConnectionDeadline: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  private let listener: Listener
  private var deadline: Scheduled<Void>?

  init(of listener: Listener) { self.listener = listener }

  func channelActive(context: ChannelHandlerContext) {
    listener.opened(context.channel)
    allow(listener.limits.secondsMax, context: context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    listener.closed(context.channel)
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .head = Self.unwrapInboundIn(data) {
      allow(listener.limits.laterSecondsMax + listener.limits.secondsMax, context: context)
    }
    context.fireChannelRead(data)
  }

  private func allow(_ seconds: Int64, context: ChannelHandlerContext) {
    deadline?.cancel()
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(seconds)) {
      context.close(promise: nil)
    }
  }
}

/// Stands before the parser: no more than the bound of a head goes in, and nothing behind the head.
final class HeadLimit: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let exchange: HTTPExchange
  private var bytesLeft: Int

  init(of exchange: HTTPExchange, bytesMax: Int) {
    self.exchange = exchange
    bytesLeft = bytesMax
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard exchange.isOpen else { return }
    var bytes = Self.unwrapInboundIn(data)
    if let slice = bytes.readSlice(length: min(bytesLeft, bytes.readableBytes)) {
      bytesLeft -= slice.readableBytes
      context.fireChannelRead(Self.wrapInboundOut(slice))
    }
    if bytes.readableBytes > 0 {
      exchange.refuse(ServerResponse.text("the request is too long", status: 431).answer())
    }
  }
}
