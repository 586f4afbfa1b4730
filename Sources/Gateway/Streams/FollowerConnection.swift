/// A follower and its channel: pulls messages while the channel takes them and writes whole frames
/// to the socket. It stands first in the pipeline; nothing below it, and nothing reaches what HTTP
/// left above it.

import AppStore
import NIOCore
import NIOWebSocket
import Platform

final class FollowerConnection: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = ByteBuffer

  private(set) var follower: Follower
  private let streams: StreamLoop
  private let opening: Opening
  /// Of a stream behind a door.
  private let translator: (any StreamTranslator)?
  private var assembler: MessageAssembler
  private var context: ChannelHandlerContext?
  private var slot = -1
  private var identity: String?
  private var grant: StreamGrant?
  /// Whose outbox is delivered to it.
  private var followedUser: Int64?
  /// Whose portfolios are.
  private var valuedUser: Int64?
  /// As the channel announces it.
  private var isWritable = true
  private enum Phase { case open, draining, finishing }
  private var phase = Phase.open
  /// Without a token: when more may be sent.
  private var drawsAt: Int64 = 0
  /// What waits while the channel is not writable.
  private var unsentBytes = 0 {
    didSet { streams.services.connections.unsentChanged(by: unsentBytes - oldValue) }
  }

  init(_ opening: Opening, translator: (any StreamTranslator)? = nil, streams: StreamLoop) {
    self.opening = opening
    self.translator = translator
    assembler =
      translator.map {
        MessageAssembler(isBinary: $0.isBinary, bytesMax: StreamLimits.doorMessageBytesMax)
      } ?? MessageAssembler()
    self.streams = streams
    identity = opening.identity
    grant = opening.grant
    follower = Follower(
      isAnonymousAllowed: opening.isAnonymousAllowed, now: MonotonicClock.milliseconds())
    setRights(of: grant)
  }

  private func setRights(of grant: StreamGrant?) {
    follower.access.mayReadMarket = grant?.mayReadMarket ?? opening.isAnonymousAllowed
    follower.outbox.isAllowed = grant?.userID != nil
  }

  // MARK: The channel

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    isWritable = context.channel.isWritable
    slot = streams.add(self)
    let now = MonotonicClock.milliseconds()
    if opening.preamble.readableBytes > 0 {
      context.write(Self.wrapOutboundOut(opening.preamble), promise: nil)
    }
    perform(follower.opened(with: opening.credential, in: streams.market))
    if let request = opening.request { receive(.subscribe(request), now: now) }
    drain(now: now)
    context.flush()
  }

  func handlerRemoved(context: ChannelHandlerContext) { leave() }

  func channelInactive(context: ChannelHandlerContext) {
    leave()
    context.fireChannelInactive()
  }

  private func leave() {
    guard context != nil else { return }
    context = nil
    unsentBytes = 0
    streams.remove(slot: slot, following: follower.prices.places)
    if let identity { streams.services.connections.remove(identity) }
    identity = nil
    follow(nil)
    followPortfolios(of: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard phase != .finishing else { return }
    let now = MonotonicClock.milliseconds()
    switch assembler.receive(Self.unwrapInboundIn(data)) {
    case .none: _ = follower.admit(now: now)
    case .message(let bytes):
      receive(
        translator?.read(bytes) ?? ClientMessage(json: bytes), bytes: bytes.count, now: now)
    case .ping(let payload):
      guard follower.admit(now: now), isWritable else { break }
      writeControl(opcode: 0xA, payload: payload)
    case .closed(let payload):
      writeControl(opcode: 0x8, payload: payload)
      finish()
    case .violation(let reason): follower.close(reason)
    }
    drain(now: now)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error as? NIOWebSocketError {
    case .invalidFrameLength: close(.messageTooLarge)
    case .fragmentedControlFrame, .multiByteControlFrameLength: close(.protocolError)
    case nil: context.close(promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent: close(.goingAway)
    case let event as ChannelEvent where event == .inputClosed: context.close(promise: nil)
    default: break
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    isWritable = context.channel.isWritable
    // Who takes no answers gets no questions in.
    try? context.channel.syncOptions?.setOption(.autoRead, value: isWritable)
    drain(now: MonotonicClock.milliseconds())
  }

  // MARK: Events

  private func receive(_ message: ClientMessage, bytes: Int = 0, now: Int64) {
    if isPlaceholder(message) {
      if follower.admit(now: now) { follower.reply(.authenticated(id: nil)) }
      return
    }
    guard streams.services.access.pay(message.cost, by: client) else {
      return follower.close(.tryAgainLater)
    }
    perform(
      follower.received(message, bytes: bytes, now: now, in: streams.market, resolve: resolver))
  }

  private var client: AccessKey { grant?.client ?? opening.client }

  /// Clients of other APIs cannot be without a secret: where none is needed, any will do.
  private func isPlaceholder(_ message: ClientMessage) -> Bool {
    guard translator != nil, opening.isAnonymousAllowed, case .authenticate(let token, _) = message
    else { return false }
    return !token.hasPrefix(TokenSecret.prefix)
  }

  private var resolver: Follower.Resolver {
    if let translator { translator.resolve } else { streams.services.source.resolver }
  }

  func marketChanged(by update: FeedUpdate, previousSeq: Int64, now: Int64) {
    guard let context else { return }
    let urgent = follower.marketChanged(
      by: update, previousSeq: previousSeq, isWritable: isWritable, in: streams.market)
    if let urgent {
      var buffer = ByteBuffer()
      encode(urgent, to: &buffer)
      context.write(Self.wrapOutboundOut(buffer), promise: nil)
    }
    drain(now: now)
  }

  func resynced(_ reason: ResyncReason, seq: Int64, now: Int64) {
    follower.resynced(reason, seq: seq, in: streams.market)
    drain(now: now)
  }

  func deliver(_ items: [Int64: [OutboxItem]], now: Int64) {
    guard let items = followedUser.flatMap({ items[$0] }) else { return }
    follower.outbox.receive(items)
    drain(now: now)
  }

  func deliver(portfolios: [Int64: [Int64: [UInt8]]], now: Int64) {
    guard let newest = valuedUser.flatMap({ portfolios[$0] }) else { return }
    follower.received(portfolios: newest)
    drain(now: now)
  }

  func recheckOutbox(now: Int64) {
    guard followedUser != nil else { return }
    follower.outbox.recheck()
    drain(now: now)
  }

  func feedChanged(now: Int64) {
    follower.feedChanged(now: now)
    drain(now: now)
  }

  func close(_ reason: StreamClose, now: Int64 = MonotonicClock.milliseconds()) {
    follower.close(reason)
    drain(now: now)
  }

  func tick(now: Int64) {
    follower.tick(
      bufferedBytes: bufferedBytes, now: now,
      stallMillisecondsMax: streams.services.connections.stallMillisecondsMax)
    drain(now: now)
  }

  /// Ends the stream of a token that was revoked or has expired.
  func checkGrant(now: Int64) {
    if let grant, !streams.services.access.isInForce(grant) { close(.forbidden, now: now) }
  }

  private func admission(of result: Result<StreamGrant, Problem>) -> StreamAdmission {
    let grant: StreamGrant
    switch result {
    case .success(let granted)
    where granted.mayReadMarket || granted.userID != nil && !follower.followsMarket:
      grant = granted
    case .failure(let problem) where problem.isForNow: return .refused(.tryAgainLater)
    case .success, .failure: return .refused(.forbidden)
    }
    if grant.userID != self.grant?.userID {
      // Nothing of the user before.
      follower.forgetUser()
      follow(nil)
      followPortfolios(of: nil)
    }
    self.grant = grant
    setRights(of: grant)
    if identity == grant.identity { return .granted }
    let services = streams.services
    let mayOpen = services.connections.add(grant.identity, atMost: services.connectionsMax)
    guard mayOpen else { return .refused(.tooManyConnections) }
    if let identity { streams.services.connections.remove(identity) }
    identity = grant.identity
    return .granted
  }

  /// To be followed by `drain`.
  private func perform(_ actions: [FollowerAction]) {
    for action in actions {
      switch action {
      case .watch(let places): streams.watch(places, slot: slot)
      case .unwatch(let places): streams.unwatch(places, slot: slot)
      case .authorize(let credential):
        let grant = streams.services.access.grant(for: credential, from: opening.peer)
        perform(
          follower.authorized(admission(of: grant), in: streams.market, resolve: resolver))
      case .startOutbox: readOutbox(after: nil)
      }
    }
  }

  // MARK: The outbox

  private func follow(_ userID: Int64?) {
    guard followedUser != userID else { return }
    if let followedUser { streams.services.users.withLock { $0.remove(followedUser) } }
    if let userID { streams.services.users.withLock { $0.add(userID) } }
    followedUser = userID
  }

  private func followPortfolios(of userID: Int64?) {
    guard valuedUser != userID else { return }
    if let valuedUser { streams.services.portfolios.leave(valuedUser) }
    valuedUser = userID
    if let userID { follower.received(portfolios: streams.services.portfolios.follow(userID)) }
  }

  /// - Parameter number: nil: only how far it goes.
  private func readOutbox(after number: Int64?) {
    guard let userID = grant?.userID else { return }
    // Before it is read, so that nothing falls between.
    follow(userID)
    let connection = NIOLoopBound(self, eventLoop: streams.eventLoop)
    let source = streams.services.source
    Task {
      let page = await source.outbox(of: userID, after: number)
      connection.eventLoop.execute {
        connection.value.received(page, of: userID, after: number)
      }
    }
  }

  private func received(_ page: OutboxPage?, of userID: Int64, after number: Int64?) {
    guard context != nil, userID == followedUser else { return }
    if number == nil {
      perform(follower.outboxStarted(at: page, in: streams.market, resolve: resolver))
    } else if let page {
      follower.received(page)
    } else {
      let pause = TimeAmount.milliseconds(StreamLimits.outboxRetryMilliseconds)
      streams.eventLoop.assumeIsolated().scheduleTask(in: pause) { [self] in
        follower.outbox.readFailed()
        drain(now: MonotonicClock.milliseconds())
      }
    }
    drain(now: MonotonicClock.milliseconds())
  }

  // MARK: Writing

  /// Writes what is due, as much as the channel takes, and flushes once.
  private func drain(now: Int64) {
    guard phase == .open, let context else { return }
    phase = .draining
    repeat {
      while isWritable && now >= drawsAt || follower.isClosed, write(in: context, now: now) {}
      context.flush()
      if follower.mayHandleWaiting {
        perform(follower.handleWaiting(in: streams.market, resolve: resolver))
      }
      // Flushing may have made room.
    } while isWritable && now >= drawsAt && follower.hasMore(in: streams.market, now: now)
    if phase == .draining { phase = .open }
    unsentBytes = isWritable ? 0 : bufferedBytes
    if isWritable {
      follower.unblocked()
    } else {
      follower.blocked(bufferedBytes: unsentBytes, now: now)
    }
    streams.setDeadline(min(follower.deadline, drawsAt > now ? drawsAt : .max), slot: slot)
    if follower.isClosed { return finish() }
    if let number = follower.outbox.nextRead() { readOutbox(after: number) }
    let valued = follower.followsPortfolios ? grant?.userID : nil
    if valued != valuedUser {
      followPortfolios(of: valued)
      drain(now: now)
    }
  }

  /// One write of about the high water mark.
  /// - Returns: whether there may be more.
  private func write(in context: ChannelHandlerContext, now: Int64) -> Bool {
    var buffer = ByteBuffer()
    while buffer.readableBytes < StreamLimits.highWaterBytes {
      let isAlone = buffer.readableBytes == 0
      guard let output = follower.next(in: streams.market, now: now, isAlone: isAlone) else {
        if !isAlone { send(buffer, in: context, now: now) }
        return false
      }
      encode(output, to: &buffer)
    }
    send(buffer, in: context, now: now)
    return true
  }

  private func send(_ buffer: ByteBuffer, in context: ChannelHandlerContext, now: Int64) {
    if grant == nil {
      drawsAt = now + streams.services.access.draw(buffer.readableBytes, by: client)
    }
    context.write(Self.wrapOutboundOut(buffer), promise: nil)
  }

  private func encode(_ output: FollowerOutput, to buffer: inout ByteBuffer) {
    if case .close(let reason) = output { streams.services.connections.closed(by: reason) }
    if let translator { return translator.write(output, to: &buffer) }
    streams.write(
      output, reached: output.isResumable ? follower.reached(in: streams.market) : nil,
      framing: opening.framing, to: &buffer)
  }

  private func writeControl(opcode: UInt8, payload: ByteBuffer) {
    guard let context else { return }
    var buffer = context.channel.allocator.buffer(capacity: 2 + payload.readableBytes)
    OutputEncoder.writeControl(opcode: opcode, payload: payload.readableBytesView, to: &buffer)
    context.writeAndFlush(Self.wrapOutboundOut(buffer), promise: nil)
  }

  /// Nothing more is sent. The client closes the connection, or a timer does: closing it at once
  /// could take the last message from it.
  private func finish() {
    guard phase != .finishing, let context else { return }
    phase = .finishing
    streams.setDeadline(.max, slot: slot)
    let channel = context.channel
    let written = context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer()))
    written.assumeIsolated().whenSuccess { channel.close(mode: .output, promise: nil) }
    let patience = TimeAmount.milliseconds(StreamLimits.closeMillisecondsMax)
    context.eventLoop.assumeIsolated().scheduleTask(in: patience) { [self] in
      // Of a client that takes nothing the kernel would keep it.
      if isWritable { channel.close(promise: nil) } else { channel.abandon() }
    }
  }

  private var bufferedBytes: Int {
    (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }
}
