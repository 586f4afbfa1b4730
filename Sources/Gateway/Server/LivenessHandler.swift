import HTTPTypes
import NIOCore
import NIOHTTP1

/// Answers /livez on the event loop, also while every thread of the concurrency pool hangs. Behind
/// a request that has no answer yet it waits for its turn, and the route answers.
final class LivenessHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// Of the requests that were passed on.
  private var exchanges = ExchangeCount()
  /// That is answered here, once it has ended.
  private var request: HTTPRequestHead?

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = Self.unwrapInboundIn(data)
    if case .head(let head) = part, exchanges.unanswered == 0, Self.isLiveness(head) {
      request = head
    }
    guard let request else {
      exchanges.read(part)
      return context.fireChannelRead(data)
    }
    if case .end = part { answer(request, context: context) }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    exchanges.write(Self.unwrapOutboundIn(data))
    context.write(data, promise: promise)
  }

  private static func isLiveness(_ head: HTTPRequestHead) -> Bool {
    head.uri == "/livez" && head.method == .GET && head.headers["host"].count < 2
  }

  private func answer(_ request: HTTPRequestHead, context: ChannelHandlerContext) {
    self.request = nil
    let body = ByteBuffer(string: "{\"status\":\"alive\"}")
    var headers: HTTPHeaders = [
      "Content-Type": "application/json", "Cache-Control": "no-store",
      "Content-Length": "\(body.readableBytes)",
    ]
    for field in Answer.headersOfAll {
      headers.add(name: field.name.canonicalName, value: field.value)
    }
    let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
    context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
    context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    if !request.isKeepAlive { context.close(mode: .output, promise: nil) }
  }
}
