import Dispatch
import Gateway
import HTTPServing
import Logging
import NIOCore
import NIOHTTP1
import Platform

/// In place of `HTTPExchange`: the event loop waits for the answer.
final class HostileResponder: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let table: RouteTable
  private let log: Logger
  private var head: HTTPRequestHead?
  private var body = ByteBuffer()
  private(set) var failures: [String] = []

  init(table: RouteTable, log: Logger) {
    self.table = table
    self.log = log
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch Self.unwrapInboundIn(data) {
    case .head(let head): (self.head, body) = (head, ByteBuffer())
    case .body(var part):
      // A little more than any route takes.
      if body.readableBytes <= RouteTable.bodyBytesMax { body.writeBuffer(&part) }
    case .end:
      guard let head else { return }
      self.head = nil
      answer(head, context: context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is HTTPParserError else { return context.close(promise: nil) }
    let head = HTTPResponseHead(
      version: .http1_1, status: .badRequest,
      headers: ["Connection": "close", "Content-Length": "0"])
    context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    context.close(promise: nil)
  }

  private func answer(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
    let request = Request(head) { [body] in body }
    let answered = Locked<HTTPAnswer?>(nil)
    let done = DispatchSemaphore(value: 0)
    let origin = GatewayContext(of: context.channel, log: log)
    Task { [table] in
      let answer = await table.respond(to: request, context: origin)
      answered.withLock { $0 = answer.http }
      done.signal()
    }
    // An answer that waits for this loop never comes: that is a complaint, not a test without end.
    _ = done.wait(timeout: .now() + .seconds(30))
    guard let answer = answered.withLock({ $0 }) else {
      failures.append("no answer to \(head.uri)")
      return context.close(promise: nil)
    }
    if answer.head.status.code == 500 || !(200...599).contains(answer.head.status.code) {
      failures.append("\(answer.head.status.code) to \(head.uri)")
    }
    context.write(Self.wrapOutboundOut(.head(answer.head)), promise: nil)
    context.write(Self.wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil)
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    if !head.isKeepAlive { context.close(promise: nil) }
  }
}
