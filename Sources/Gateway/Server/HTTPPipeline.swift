/// What a connection passes below Hummingbird: bounds of a request's head and of its exchanges,
/// compression, /livez.

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
    remove(try? pipeline.handler(type: ExchangeTimeout.self))
    (try? pipeline.handler(type: ConnectionUse.self))?.becomesStream()
    guard let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
    else { return }
    // It still decodes what it has, which the others must keep from Hummingbird.
    pipeline.removeHandler(decoder).assumeIsolated().whenComplete { _ in
      remove(try? pipeline.handler(type: StreamUpgradeHandler.self))
      remove(try? pipeline.handler(type: PlainHeads.self))
      remove(try? pipeline.handler(type: HTTPResponseCompressor.self))
      remove(try? pipeline.handler(type: UndecodableRequestBypass.self))
      remove(try? pipeline.handler(type: ConnectionUse.self))
      remove(try? pipeline.handler(type: LivenessHandler.self))
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
    // From the network inwards: each sees what those behind it answer.
    var handlers: [any ChannelHandler] = [
      PlainHeads(), HTTPPipeline.compressor(), UndecodableRequestBypass(),
    ]
    if let connections { handlers.append(ConnectionUse(of: context.channel, in: connections)) }
    handlers.append(ExchangeTimeout(awaitingHeads: clock, counting: connections))
    handlers.append(LivenessHandler())
    do {
      let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try pipeline.addHandlers(handlers, position: .after(decoder))
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
