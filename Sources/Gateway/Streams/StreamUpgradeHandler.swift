/// Takes over a connection whose request opens a stream, whichever request of the connection it is,
/// and leaves all others to HTTP. It stands behind `HTTPServerPipelineHandler`: no request comes
/// here while an earlier one has no answer. After it took over, the follower stands first in the
/// pipeline, and HTTP's handlers go.

import AppStore
import HTTPServing
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

final class StreamUpgradeHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let hub: StreamHub
  /// Of the request for a stream: what its answer says to a page.
  private var pageHeaders: [(name: String, value: String)] = []
  private var taken: (request: StreamRequest, head: HTTPRequestHead)?
  /// Of a stream behind a door.
  private var translator: (any StreamTranslator)?
  private var isTakenOver = false
  private static let subprotocol = "candled.v1"

  init(hub: StreamHub) { self.hub = hub }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (Self.unwrapInboundIn(data), taken) {
    case (.head(let head), nil):
      for door in hub.services.doors where translator == nil { translator = door(head) }
      let request = StreamRequest(
        head, isBehindDoor: translator != nil, takesAnySecret: hub.services.isAnonymousAllowed)
      guard let request else { return context.fireChannelRead(data) }
      taken = (request, head)
    case (_, nil): context.fireChannelRead(data)
    case (.end, let taken?) where !isTakenOver:
      isTakenOver = true
      takeOver(taken.request, head: taken.head, context: context)
    case (_, _?): break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // In what stands behind the request for a stream.
    if !isTakenOver { context.fireErrorCaught(error) }
  }

  private func takeOver(
    _ request: StreamRequest, head: HTTPRequestHead, context: ChannelHandlerContext
  ) {
    let origin = hub.services.originRule.verdict(origin: request.origin, host: request.host)
    pageHeaders = hub.services.originRule.headers(for: origin)
    do throws(Problem) {
      if head.headers[canonicalForm: "host"].count != 1 { throw .hostExpected }
      if AccessControl.holdsToken(head.uri) { throw .tokenInAddress }
      if let problem = request.problem { throw problem }
      if origin == .misdirected { throw .misdirected }
      if request.hasOtherAuthorization { throw .unauthenticated }
      if origin == .foreign { throw .foreignOrigin }
      if !hub.streams(on: context.eventLoop).load() { throw .storeAway }
      if request.framing == .webSocket {
        try acceptWebSocket(request, head: head, context: context)
      } else {
        try acceptEvents(request, context: context)
      }
    } catch {
      refuse(error, context: context)
    }
  }

  // MARK: WebSocket

  private func acceptWebSocket(
    _ request: StreamRequest, head: HTTPRequestHead, context: ChannelHandlerContext
  ) throws(Problem) {
    let offered = head.headers[canonicalForm: "sec-websocket-protocol"].map(String.init)
    let upgrader = NIOWebSocketServerUpgrader(
      shouldUpgrade: { channel, _ in
        var headers = HTTPHeaders()
        if offered.contains(Self.subprotocol) {
          headers.add(name: "Sec-WebSocket-Protocol", value: Self.subprotocol)
        }
        return channel.eventLoop.makeSucceededFuture(headers)
      },
      upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })
    let identity = request.credential == nil ? try counted(request, context: context) : nil
    upgrader.buildUpgradeResponse(
      channel: context.channel, upgradeRequest: head, initialResponseHeaders: [:]
    ).assumeIsolated().whenComplete { response in
      guard case .success(let headers) = response else {
        if let identity { self.hub.services.connections.remove(identity) }
        return self.refuse(.malformedUpgrade, context: context)
      }
      let head = HTTPResponseHead(
        version: .http1_1, status: .switchingProtocols, headers: headers)
      context.writeAndFlush(Self.wrapOutboundOut(.head(head)), promise: nil)
      let peer = self.peer(of: request, context: context)
      self.follow(
        FollowerConnection.Opening(
          framing: .webSocket, peer: peer, client: self.hub.services.access.client(at: peer),
          credential: request.credential,
          isAnonymousAllowed: self.hub.services.isAnonymousAllowed, identity: identity),
        context: context)
    }
  }

  // MARK: Events

  private func acceptEvents(
    _ request: StreamRequest, context: ChannelHandlerContext
  ) throws(Problem) {
    guard let credential = request.credential else {
      guard hub.services.isAnonymousAllowed else { throw .unauthenticated }
      let identity = try counted(request, context: context)
      return followEvents(request, identity: identity, grant: nil, context: context)
    }
    let peer = peer(of: request, context: context)
    let grant = try hub.services.access.grant(for: credential, from: peer).get()
    if let scope = request.subscription?.scope(lackedBy: grant) { throw .forbidden(scope) }
    guard hub.services.connections.add(grant.identity, atMost: hub.services.connectionsMax) else {
      throw .tooManyStreams
    }
    followEvents(request, identity: grant.identity, grant: grant, context: context)
  }

  private func followEvents(
    _ request: StreamRequest, identity: String?, grant: StreamGrant?,
    context: ChannelHandlerContext
  ) {
    var preamble = context.channel.allocator.buffer(capacity: 256)
    preamble.writeString("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n")
    preamble.writeString("cache-control: no-store\r\nconnection: close\r\n")
    // nginx gathers answers otherwise, and passes events on late.
    preamble.writeString("x-accel-buffering: no\r\n")
    for field in Answer.headersOfAll {
      preamble.writeString("\(field.name.canonicalName): \(field.value)\r\n")
    }
    for (name, value) in pageHeaders { preamble.writeString("\(name): \(value)\r\n") }
    preamble.writeString("\r\nretry: 2000\n\n")
    let peer = peer(of: request, context: context)
    follow(
      FollowerConnection.Opening(
        framing: .events, peer: peer, client: hub.services.access.client(at: peer),
        preamble: preamble, isAnonymousAllowed: true, identity: identity, grant: grant,
        request: request.subscription),
      context: context)
  }

  /// Counts a stream that comes without a credential.
  private func counted(
    _ request: StreamRequest, context: ChannelHandlerContext
  ) throws(Problem) -> String? {
    let peer = peer(of: request, context: context)
    guard let identity = try hub.services.access.identity(of: peer).get() else { return nil }
    let countMax = StreamLimits.connectionsOfAddressMax
    guard hub.services.connections.add(identity, atMost: countMax) else {
      throw .tooManyStreams
    }
    return identity
  }

  private func peer(of request: StreamRequest, context: ChannelHandlerContext) -> StreamPeer {
    StreamPeer(
      address: context.channel.remoteAddress?.ipAddress, forwardedFor: request.forwardedFor)
  }

  // MARK: Outcomes

  private func follow(_ opening: FollowerConnection.Opening, context: ChannelHandlerContext) {
    count(opening.framing == .webSocket ? .switchingProtocols : .ok)
    let channel = context.channel
    let pipeline = channel.pipeline.syncOperations
    let first: any ChannelHandler =
      opening.framing == .webSocket
      ? ByteToMessageHandler(
        WebSocketFrameDecoder(
          maxFrameSize: translator == nil
            ? StreamLimits.frameBytesMax : StreamLimits.doorFrameBytesMax))
      : InboundDiscard()
    do {
      try Self.setOptions(of: channel)
      HTTPPipeline.leave(context: context)
      let connection = FollowerConnection(
        opening, translator: translator, streams: hub.streams(on: context.eventLoop))
      // One by one: the connection writes when it is added, and where that fails NIO reads what is
      // left of the socket. The decoder must stand before it by then.
      try pipeline.addHandler(first, position: .first)
      try pipeline.addHandler(connection, position: .after(first))
    } catch {
      if let identity = opening.identity { hub.services.connections.remove(identity) }
      channel.close(promise: nil)
    }
  }

  private func count(_ status: HTTPResponseStatus, refusal: String? = nil) {
    let isSocket = taken?.request.framing == .webSocket
    hub.services.counters.count(
      stream: isSocket ? "/ws" : StreamRoute.path, status: Int(status.code), refusal: refusal)
  }

  private static func setOptions(of channel: any Channel) throws {
    guard let options = channel.syncOptions else { return }
    try options.setOption(
      .socketOption(.so_sndbuf), value: SocketOptionValue(StreamLimits.sendBufferBytes))
    try options.setOption(
      .writeBufferWaterMark,
      value: ChannelOptions.Types.WriteBufferWaterMark(
        low: StreamLimits.lowWaterBytes, high: StreamLimits.highWaterBytes))
    try options.setOption(
      .recvAllocator,
      value: AdaptiveRecvByteBufferAllocator(minimum: 256, initial: 256, maximum: 4_096))
  }

  /// Answers, and ends the connection.
  private func refuse(_ problem: Problem, context: ChannelHandlerContext) {
    var refusal = Answer(problem, through: translator?.door)
    count(HTTPResponseStatus(statusCode: problem.status.code), refusal: refusal.refusal)
    refusal.headers.append(contentsOf: Answer.headersOfAll)
    var (head, body) = (refusal.http.head, refusal.body)
    head.headers.replaceOrAdd(name: "Content-Length", value: "\(body.readableBytes)")
    head.headers.replaceOrAdd(name: "Connection", value: "close")
    for (name, value) in pageHeaders { head.headers.add(name: name, value: value) }
    context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
    context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
    let channel = context.channel
    context.writeAndFlush(Self.wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
      channel.close(promise: nil)
    }
  }
}

/// What a reader of events sends after its request is of no use.
private final class InboundDiscard: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
