import NIOCore
import NIOHTTP1

/// Ends connections whose client sends a head or a body, or takes an answer, a few bytes at a time:
/// Hummingbird's own timeout is for idle connections.
final class ExchangeTimeout: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  private var exchanges = ExchangeCount()
  private var stall = AnswerStall()
  private var nextLook: Scheduled<Void>?
  private let clock: HeadClock?
  private let connections: ConnectionTable?

  /// - Parameters:
  ///   - clock: notes when a head began; nil: heads have no bound.
  ///   - connections: counts what was ended.
  init(awaitingHeads clock: HeadClock? = nil, counting connections: ConnectionTable? = nil) {
    self.clock = clock
    self.connections = connections
  }

  func handlerAdded(context: ChannelHandlerContext) { watch(context: context, look: 1, since: nil) }

  func handlerRemoved(context: ChannelHandlerContext) {
    nextLook?.cancel()
    nextLook = nil
  }

  /// Looks whether the client still sends and takes, and once a period whether the same exchange
  /// goes on: that has one whole period at least.
  /// - Parameter earlier: how many were answered when one was found last; nil where none was.
  private func watch(context: ChannelHandlerContext, look: Int64, since earlier: Int?) {
    let period = TimeAmount.seconds(HTTPPipeline.lookSeconds)
    nextLook = context.eventLoop.assumeIsolated().scheduleTask(in: period) { [self] in
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
      let isBusy = !exchanges.isIdle || waiting > 0
      if isBusy, earlier == exchanges.answered { return end(.exchange) }
      watch(context: context, look: 1, since: isBusy ? exchanges.answered : nil)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let part = Self.unwrapInboundIn(data)
    exchanges.read(part)
    switch part {
    case .head: clock?.headCame()
    case .body: break
    case .end: clock?.requestEnded()
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    exchanges.write(Self.unwrapOutboundIn(data))
    context.write(data, promise: promise)
  }
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
