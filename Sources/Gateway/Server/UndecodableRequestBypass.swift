import NIOCore
import NIOHTTP1

/// Leads the answer to what could not be decoded past the compressor, which stops the process over
/// an answer without a request (swift-nio-extras 1.35). It stands behind the compressor.
final class UndecodableRequestBypass: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private var exchanges = ExchangeCount()
  /// In front of the compressor; nil for an answer to a request.
  private var bypass: ChannelHandlerContext?

  func handlerRemoved(context: ChannelHandlerContext) { bypass = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    exchanges.read(Self.unwrapInboundIn(data))
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let part = Self.unwrapOutboundIn(data)
    if case .head = part, exchanges.unanswered == 0 {
      bypass = try? context.pipeline.syncOperations.context(
        handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
    }
    exchanges.write(part)
    (bypass ?? context).write(data, promise: promise)
    if case .end = part { bypass = nil }
  }
}
