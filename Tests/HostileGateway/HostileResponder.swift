import Dispatch
import Gateway
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import Platform

/// What Hummingbird does above the pipeline, one request after the other and at once: the event
/// loop waits for the answer.
final class HostileResponder: ChannelInboundHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundOut = HTTPResponsePart

  private let table: RouteTable
  private let log: Logger
  private var request: HTTPRequest?
  private var body = ByteBuffer()
  private(set) var failures: [String] = []

  init(table: RouteTable, log: Logger) {
    self.table = table
    self.log = log
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch Self.unwrapInboundIn(data) {
    case .head(let head): (request, body) = (head, ByteBuffer())
    case .body(var part):
      // A little more than any route takes.
      if body.readableBytes <= RouteTable.bodyBytesMax { body.writeBuffer(&part) }
    case .end:
      guard let head = request else { return }
      request = nil
      answer(Request(head: head, body: RequestBody(buffer: body)), context: context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let head = HTTPResponse(
      status: .badRequest, headerFields: [.connection: "close", .contentLength: "0"])
    context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    context.close(promise: nil)
  }

  private func answer(_ request: Request, context: ChannelHandlerContext) {
    let source = ApplicationRequestContextSource(channel: context.channel, logger: log)
    let answered = Locked<(head: HTTPResponse, body: ByteBuffer)?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task { [table] in
      defer { done.signal() }
      guard
        let response = try? await table.respond(
          to: request, context: GatewayContext(source: source))
      else { return }
      let collected = CollectedBody()
      try? await response.body.write(collected)
      answered.withLock { $0 = (response.head, collected.buffer) }
    }
    // An answer that waits for this loop never comes: that is a complaint, not a test without end.
    _ = done.wait(timeout: .now() + .seconds(30))
    guard let (head, body) = answered.withLock({ $0 }) else {
      failures.append("no answer to \(request.head.path ?? "")")
      return context.close(promise: nil)
    }
    if head.status.code == 500 || !(200...599).contains(head.status.code) {
      failures.append("\(head.status.code) to \(request.head.path ?? "")")
    }
    context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
    context.write(Self.wrapOutboundOut(.body(body)), promise: nil)
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    if request.headers[.connection] == "close" { context.close(promise: nil) }
  }
}

private final class CollectedBody: ResponseBodyWriter, Sendable {
  private let collected = Locked(ByteBuffer())

  var buffer: ByteBuffer { collected.withLock { $0 } }

  func write(_ buffer: ByteBuffer) { collected.withLock { _ = $0.writeImmutableBuffer(buffer) } }

  func finish(_ trailingHeaders: HTTPFields?) {}
}
