/// What a connection passes below Hummingbird: bounds of a request's head, /livez from the event
/// loop, compression.

import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTPCompression

package enum HTTPPipeline {
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

  /// - Parameter connections: nil: their numbers have no bounds.
  package static func configuration(
    counting connections: ConnectionTable? = nil
  ) -> HTTP1Channel.Configuration {
    HTTP1Channel.Configuration(
      additionalChannelHandlers: [PipelineInstaller(counting: connections)],
      idleTimeout: .seconds(idleSecondsMax),
      httpDecoderConfiguration: .init(
        maxHeaderFieldSize: headBytesMax, maxHeaderListSize: headBytesMax,
        maxHeaderFieldCount: headersMax))
  }

  /// The connection has become a stream: an answer to what stood behind its request must not get
  /// into it, and HTTP's handlers go. Hummingbird's end stays, it cannot be removed.
  /// - Parameter context: of a handler in front of Hummingbird.
  static func leave(context: ChannelHandlerContext) {
    // It writes nothing more.
    context.fireUserInboundEventTriggered(ChannelEvent.outputClosed)
    let pipeline = context.pipeline.syncOperations
    func remove(_ handler: (some RemovableChannelHandler)?) {
      if let handler { pipeline.removeHandler(handler, promise: nil) }
    }
    remove(try? pipeline.handler(type: HTTPConnectionStateHandler.self))
    remove(try? pipeline.handler(type: HeadClock.self))
    (try? pipeline.handler(type: RequestCountingHandler.self))?.becomesStream()
    guard let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
    else { return }
    // It still decodes what it has, which the others must keep from Hummingbird.
    pipeline.removeHandler(decoder).assumeIsolated().whenComplete { _ in
      remove(try? pipeline.handler(type: StreamUpgradeHandler.self))
      remove(try? pipeline.handler(type: PlainHeads.self))
      remove(try? pipeline.handler(type: HTTPResponseCompressor.self))
      remove(try? pipeline.handler(type: RequestCountingHandler.self))
      remove(try? pipeline.handler(type: HTTPResponseEncoder.self))
    }
  }

  /// A smaller answer is not worth the work.
  private static let compressedBytesMin = 1_000

  static func compressor() -> HTTPResponseCompressor {
    // Each connection has the buffer from its start, and it grows where something is compressed.
    HTTPResponseCompressor(initialByteBufferCapacity: 64) { head, isSupported in
      let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
      let type = head.headers.first(name: "content-type") ?? ""
      let isText =
        type.hasPrefix("application/") || type.hasPrefix("text/")
        || type.hasPrefix("image/svg")
      guard isSupported, isText, length >= compressedBytesMin, head.status == .ok else {
        return .doNotCompress
      }
      if let tag = head.headers.first(name: "etag"), tag.hasSuffix("\"") {
        head.headers.replaceOrAdd(name: "etag", value: "\(tag.dropLast())-gzip\"")
      }
      return .compressIfPossible
    }
  }
}

/// Puts the handlers that work with HTTP/1 in front of Hummingbird's own codec, and goes.
final class PipelineInstaller: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  private let connections: ConnectionTable?

  init(counting connections: ConnectionTable?) { self.connections = connections }

  func handlerAdded(context: ChannelHandlerContext) {
    let pipeline = context.pipeline.syncOperations
    let clock = HeadClock()
    let counting = RequestCountingHandler(counting: connections, awaitingHeads: clock)
    do {
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try pipeline.addHandlers(
        [PlainHeads(), HTTPPipeline.compressor(), counting], position: .after(decoder))
      try pipeline.addHandler(clock, position: .first)
    } catch {
      context.fireErrorCaught(error)
    }
  }
}

/// Keeps the compressor from answers to HEAD: it would end them with bytes of no answer. And leads
/// a request of HTTP/1.1 without a host on as one with two, which is refused alike: behind the
/// codec it would look like one of HTTP/1.0, which needs none.
final class PlainHeads: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data) else {
      return context.fireChannelRead(data)
    }
    if head.method == .HEAD { head.headers.remove(name: "accept-encoding") }
    if head.version == .http1_1, !head.headers.contains(name: "host") {
      head.headers.add(contentsOf: [("host", ""), ("host", "")])
    }
    context.fireChannelRead(wrapInboundOut(.head(head)))
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

/// Since when the kernel takes nothing of what waits on a connection.
struct AnswerStall {
  private var since: (moment: NIODeadline, bytes: Int)?

  /// To be called now and then.
  mutating func isOver(waitingBytes bytes: Int, at now: NIODeadline) -> Bool {
    guard bytes > 0, let since, bytes == since.bytes else {
      since = bytes > 0 ? (now, bytes) : nil
      return false
    }
    return now - since.moment >= .seconds(HTTPPipeline.stallSecondsMax)
  }
}

/// Counts the requests of a connection that have no answer yet, for three ends. It answers /livez
/// on the event loop, also while every thread of the concurrency pool hangs. And it leads the
/// answer to what could not be decoded past the compressor, which stops the process over an answer
/// without a request (swift-nio-extras 1.35). And it ends connections whose client sends a body, or
/// takes an answer, a few bytes at a time: Hummingbird's own timeout is for idle connections.
final class RequestCountingHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private var unanswered = 0
  /// A request's end has not come. Its answer may have gone before: what follows is read, and lost.
  private var isReading = false
  /// The answer to the request that is read, if it is made here.
  private var ready: WholeAnswer?
  /// Whether the client wants the connection to end after the request.
  private var isLast = false
  /// In front of the compressor; nil for an answer to a request.
  private var bypass: ChannelHandlerContext?
  private var answered = 0
  private var exchange: Scheduled<Void>?

  private let connections: ConnectionTable?
  private let clock: HeadClock?
  private var id: ObjectIdentifier?
  private var stall = AnswerStall()

  init(counting connections: ConnectionTable? = nil, awaitingHeads clock: HeadClock? = nil) {
    self.connections = connections
    self.clock = clock
  }

  func handlerAdded(context: ChannelHandlerContext) {
    id = ObjectIdentifier(context.channel)
    watch(context: context, look: 1, since: nil)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    exchange?.cancel()
    (exchange, bypass) = (nil, nil)
  }

  /// What it was for is over.
  func becomesStream() {
    exchange?.cancel()
    exchange = nil
    if let id { connections?.becameStream(id) }
  }

  /// Looks whether the client still sends and takes, and once a period whether the same exchange
  /// goes on: that has one whole period at least.
  /// - Parameter earlier: how many were answered when one was found last; nil where none was.
  private func watch(context: ChannelHandlerContext, look: Int64, since earlier: Int?) {
    let period = TimeAmount.seconds(HTTPPipeline.lookSeconds)
    exchange = context.eventLoop.assumeIsolated().scheduleTask(in: period) { [self] in
      let now = context.eventLoop.now
      let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
      let end = { (limit: ConnectionTable.Limit) in
        self.connections?.note(limit)
        if waiting > 0 { context.channel.abandon() } else { context.close(promise: nil) }
      }
      if stall.isOver(waitingBytes: waiting, at: now) { return end(.stalled) }
      if let since = clock?.waitsSince, now - since >= .seconds(HTTPPipeline.headSecondsMax) {
        return end(.head)
      }
      guard look * HTTPPipeline.lookSeconds >= HTTPPipeline.exchangeSecondsMax else {
        return watch(context: context, look: look + 1, since: earlier)
      }
      let isBusy = unanswered > 0 || isReading || waiting > 0
      if isBusy, earlier == answered { return end(.exchange) }
      watch(context: context, look: 1, since: isBusy ? answered : nil)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      unanswered += 1
      isReading = true
      clock?.headCame()
      if unanswered == 1, let id { connections?.began(id) }
      isLast = !head.isKeepAlive
      // Behind others on the connection it waits for its turn.
      ready = unanswered == 1 && Self.isLiveness(head) ? Self.alive : nil
    case .body: break
    case .end:
      isReading = false
      clock?.requestEnded()
      if unanswered == 0, let id { connections?.rests(id) }
      if let ready { return write(ready, context: context) }
    }
    if ready == nil { context.fireChannelRead(data) }
  }

  private static func isLiveness(_ head: HTTPRequestHead) -> Bool {
    head.uri == "/livez" && head.method == .GET && head.headers["host"].count < 2
  }

  private static let alive = WholeAnswer(
    status: .ok,
    headers: [.contentType: "application/json", .cacheControl: "no-store"]
      + WholeAnswer.headersOfAll,
    body: ByteBuffer(string: "{\"status\":\"alive\"}"))

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let part = unwrapOutboundIn(data)
    if case .head = part, unanswered == 0 {
      bypass = try? context.pipeline.syncOperations.context(
        handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self)
    }
    guard case .end = part else { return (bypass ?? context).write(data, promise: promise) }
    (bypass ?? context).write(data, promise: ended(promise, context: context))
    unanswered = max(unanswered - 1, 0)
    answered += 1
    bypass = nil
  }

  /// A connection rests when the kernel has its last answer.
  private func ended(
    _ promise: EventLoopPromise<Void>?, context: ChannelHandlerContext
  ) -> EventLoopPromise<Void>? {
    guard let connections, let id else { return promise }
    let written = promise ?? context.eventLoop.makePromise()
    written.futureResult.assumeIsolated().whenComplete { [self] _ in
      if unanswered == 0, !isReading { connections.rests(id) }
    }
    return written
  }

  private func write(_ answer: WholeAnswer, context: ChannelHandlerContext) {
    ready = nil
    var headers = HTTPHeaders()
    for field in answer.headers { headers.add(name: field.name.rawName, value: field.value) }
    let head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status.code),
      headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if answer.body.readableBytes > 0 {
      context.write(wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil)
    }
    unanswered -= 1
    answered += 1
    context.writeAndFlush(
      wrapOutboundOut(.end(nil)), promise: ended(nil, context: context))
    if isLast { context.close(mode: .output, promise: nil) }
  }
}
