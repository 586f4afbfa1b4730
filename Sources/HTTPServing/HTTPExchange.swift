/// Answers the requests of a connection, one after the other. In front of it stands NIO's
/// `HTTPServerPipelineHandler`, which holds back what is sent behind a request until that is
/// answered, and ends the connection in order when the server stops. A connection for a single
/// request needs none.

import Glibc
import NIOCore
import NIOHTTP1

package struct HTTPAnswer: Sendable {
  package var head: HTTPResponseHead
  package var body: ByteBuffer

  package init(head: HTTPResponseHead, body: ByteBuffer = ByteBuffer()) {
    self.head = head
    self.body = body
  }
}

package final class HTTPExchange: ChannelInboundHandler, RemovableChannelHandler {
  package typealias InboundIn = HTTPServerRequestPart
  package typealias OutboundOut = HTTPServerResponsePart

  /// All of it; of one beyond the bound some more bytes than that. Throws where the connection
  /// ends, or is no HTTP any more, before the body is whole.
  package typealias Body = @Sendable () async throws -> ByteBuffer
  /// May be called on any thread while the event loop runs. What comes after the first is dropped.
  package typealias Reply = @Sendable (HTTPAnswer) -> Void
  package typealias Responder = (HTTPRequestHead, _ body: @escaping Body, @escaping Reply) -> Void

  private let bodyBytesMax: Int
  private let isSingle: Bool
  private let refusal: HTTPAnswer
  private let respond: Responder
  private var context: ChannelHandlerContext?
  private var body: BodyReading?
  /// Of the last request, from one.
  private var number = 0
  /// The last request has no answer.
  private var isAnswering = false
  /// Comes up once the client has taken more of what it was answered before.
  private var waiting: (head: HTTPRequestHead, body: Body)?
  /// Answers that the kernel does not have.
  private var untakenCount = 0
  /// No further request is answered.
  private var isLast = false
  private var isInputClosed = false

  /// - Parameters:
  ///   - isSingle: whether the connection ends with the first answer.
  ///   - refusal: what answers that which is no HTTP.
  ///   - respond: called on the event loop; must not wait.
  package init(
    bodyBytesMax: Int = 0, isSingle: Bool = false, refusal: HTTPAnswer = .badRequest,
    respond: @escaping Responder
  ) {
    self.bodyBytesMax = bodyBytesMax
    self.isSingle = isSingle
    self.refusal = refusal
    self.respond = respond
  }

  /// Whether a request may still be answered.
  var isOpen: Bool { !isLast }

  // MARK: Events of the channel

  package func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  package func handlerRemoved(context: ChannelHandlerContext) { leave() }

  package func channelInactive(context: ChannelHandlerContext) {
    leave()
    context.fireChannelInactive()
  }

  private func leave() {
    body?.breakOff()
    (context, body, waiting) = (nil, nil, nil)
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch Self.unwrapInboundIn(data) {
    case .head(let head): if !isLast { begin(head, context: context) }
    case .body(let part): body?.append(part, atMost: bodyBytesMax)
    case .end:
      body?.finish()
      body = nil
    }
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable, let (head, body) = waiting {
      waiting = nil
      answer(head, body: body)
    }
    context.fireChannelWritabilityChanged()
  }

  package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed = event {
      isInputClosed = true
      breakOff(context: context)
    }
    context.fireUserInboundEventTriggered(event)
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is HTTPParserError else {
      if !isLast { context.close(promise: nil) }
      return
    }
    // Within a body an answer is due, or gone before.
    if isAnswering || body != nil { breakOff(context: context) } else { refuse(refusal) }
  }

  /// In place of an answer to a request that cannot be read.
  func refuse(_ answer: HTTPAnswer) {
    // A connection that is closed within a head has no whole one either.
    guard !isAnswering, !isLast, context?.channel.isActive == true else { return }
    (isAnswering, isLast) = (true, true)
    write(answer, to: number)
  }

  /// Nothing more comes that can be answered.
  private func breakOff(context: ChannelHandlerContext) {
    body?.breakOff()
    body = nil
    isLast = true
    if !isAnswering, untakenCount == 0 { context.close(promise: nil) }
  }

  // MARK: Answers

  private func begin(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
    number += 1
    isAnswering = true
    isLast = isSingle || !head.isKeepAlive || Self.offersUpgrade(head)
    let loop = context.eventLoop
    let promise = loop.makePromise(of: ByteBuffer.self)
    self.body = BodyReading(promise)
    let whole = promise.futureResult
    let bound = NIOLoopBound(self, eventLoop: loop)
    let isAwaited = head.headers[canonicalForm: "expect"].contains { $0 == "100-continue" }
    let body: Body = {
      if isAwaited { loop.execute { bound.value.askForBody() } }
      return try await whole.get()
    }
    if context.channel.isWritable { answer(head, body: body) } else { waiting = (head, body) }
  }

  /// Where nobody takes the upgrade the decoder reads no further request.
  private static func offersUpgrade(_ head: HTTPRequestHead) -> Bool {
    head.method == .CONNECT
      || head.headers.contains(name: "upgrade")
        && head.headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
  }

  private func askForBody() {
    guard isAnswering, body != nil, let context else { return }
    let head = HTTPResponseHead(version: .http1_1, status: .continue)
    context.writeAndFlush(Self.wrapOutboundOut(.head(head)), promise: nil)
  }

  private func answer(_ head: HTTPRequestHead, body: @escaping Body) {
    guard let loop = context?.eventLoop else { return }
    let (bound, number) = (NIOLoopBound(self, eventLoop: loop), number)
    respond(head, body) { answer in
      // Never within the read: each of many requests in a packet would be within the one before.
      loop.execute { bound.value.write(answer, to: number) }
    }
  }

  private func write(_ answer: HTTPAnswer, to request: Int) {
    guard isAnswering, request == number, let context else { return }
    // The end of the answer brings up the next request.
    isAnswering = false
    untakenCount += 1
    var head = answer.head
    head.headers.replaceOrAdd(name: "Date", value: HTTPAnswer.date(at: time(nil)))
    if isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
    context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
    if answer.body.readableBytes > 0 {
      context.write(Self.wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil)
    }
    let written = context.writeAndFlush(Self.wrapOutboundOut(.end(nil)))
    written.assumeIsolated().whenComplete { _ in
      self.untakenCount -= 1
      guard self.isLast, !self.isAnswering, self.untakenCount == 0 else { return }
      // What the client still sends is thrown away, so that closing resets nothing.
      self.context?.close(mode: self.isInputClosed ? .all : .output, promise: nil)
    }
  }
}

extension HTTPAnswer {
  package static let badRequest = HTTPAnswer(
    head: HTTPResponseHead(
      version: .http1_1, status: .badRequest, headers: ["Content-Length": "0"]))

  /// `Sun, 06 Nov 1994 08:49:37 GMT`
  package static func date(at seconds: time_t) -> String {
    var (seconds, fields) = (seconds, tm())
    gmtime_r(&seconds, &fields)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
      strftime(text.baseAddress, text.count, "%a, %d %b %Y %H:%M:%S GMT", &fields)
      return text.baseAddress.map { String(cString: $0) } ?? ""
    }
  }
}

/// The body of a request, as far as it has come.
private struct BodyReading {
  private var bytes = ByteBuffer()
  private var whole: EventLoopPromise<ByteBuffer>?

  init(_ whole: EventLoopPromise<ByteBuffer>) { self.whole = whole }

  mutating func append(_ part: ByteBuffer, atMost bytesMax: Int) {
    guard whole != nil else { return }
    bytes.writeImmutableBuffer(part)
    if bytes.readableBytes > bytesMax { finish() }
  }

  /// What comes behind this is not kept.
  mutating func finish() {
    whole?.succeed(bytes)
    (whole, bytes) = (nil, ByteBuffer())
  }

  func breakOff() { whole?.fail(ChannelError.inputClosed) }
}
