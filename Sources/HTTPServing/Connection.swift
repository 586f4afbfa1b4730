/// One connection: a request comes in, a response goes out, the connection ends.

import NIOCore
import NIOHTTP1

final class Connection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum Phase {
    case reading, waiting, writing
    /// All is sent; what the client still sends is thrown away, so that closing resets nothing.
    case leaving
  }

  private let listener: Listener
  private var context: ChannelHandlerContext?
  private var phase = Phase.reading
  private var deadline: Scheduled<Void>?
  private var isInputClosed = false
  /// HEAD gets the length and no body.
  private var wantsBody = true

  init(of listener: Listener) { self.listener = listener }

  var isReading: Bool { phase == .reading }

  // MARK: Events of the channel

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    listener.opened(context.channel)
    allow(listener.limits.secondsMax) { $0.end() }
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    listener.closed(context.channel)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard isReading, case .head(let head) = unwrapInboundIn(data) else { return }
    guard let request = ServerRequest(head) else { return refuse(.notHTTP) }
    phase = .waiting
    wantsBody = head.method != .HEAD
    switch listener.handler(request) {
    case .now(let response): respond(response)
    case .later(let unavailable, let make): respond(by: make, unavailable: unavailable)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case ChannelEvent.inputClosed = event else { return }
    isInputClosed = true
    if phase == .reading || phase == .leaving { end() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is HTTPParserError else { return end() }
    refuse(.notHTTP)
  }

  // MARK: Responses

  /// In place of a response to a request that cannot be read.
  func refuse(_ response: ServerResponse) {
    if isReading { respond(response) }
  }

  private func respond(
    by make: @escaping @Sendable () async -> ServerResponse, unavailable: ServerResponse
  ) {
    guard listener.tasksUnderWay < listener.limits.laterMax else { return respond(unavailable) }
    listener.tasksUnderWay += 1
    allow(listener.limits.laterSecondsMax) { $0.respond(unavailable) }
    let (loop, gate) = (listener.loop, listener.gate)
    let bound = NIOLoopBound(self, eventLoop: loop)
    // Unstructured: the thread goes on with other connections. It ends by itself, is bounded in
    // number, and its response is dropped once the deadline has passed.
    Task {
      let response = await make()
      gate.execute(on: loop) {
        bound.value.listener.tasksUnderWay -= 1
        bound.value.respond(response)
      }
    }
  }

  /// The first response is sent, whatever comes later is not.
  private func respond(_ response: ServerResponse) {
    guard phase == .reading || phase == .waiting, let context else { return }
    phase = .writing
    allow(listener.limits.secondsMax) { $0.end() }
    context.write(wrapOutboundOut(.head(response.head)), promise: nil)
    if wantsBody {
      let body = context.channel.allocator.buffer(string: response.body)
      context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      self.leave()
    }
  }

  private func leave() {
    phase = .leaving
    if isInputClosed { end() } else { context?.close(mode: .output, promise: nil) }
  }

  private func end() { context?.close(promise: nil) }

  /// Replaces the deadline.
  private func allow(_ seconds: Int64, otherwise: @escaping (Connection) -> Void) {
    deadline?.cancel()
    deadline = listener.loop.assumeIsolated().scheduleTask(in: .seconds(seconds)) {
      otherwise(self)
    }
  }
}

/// Stands before the parser: no more than the bound of a head goes in, and nothing behind the head.
final class HeadLimit: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let connection: Connection
  private var bytesLeft: Int

  init(of connection: Connection) {
    self.connection = connection
    bytesLeft = connection.headBytesMax
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard connection.isReading else { return }
    var bytes = unwrapInboundIn(data)
    if let slice = bytes.readSlice(length: min(bytesLeft, bytes.readableBytes)) {
      bytesLeft -= slice.readableBytes
      context.fireChannelRead(wrapInboundOut(slice))
    }
    if bytes.readableBytes > 0 {
      connection.refuse(.text("the request is too long", status: 431))
    }
  }
}

extension ServerResponse {
  fileprivate static let notHTTP = text("not an HTTP request", status: 400)
}

extension Connection {
  var headBytesMax: Int { listener.limits.headBytesMax }
}
