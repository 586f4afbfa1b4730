import NIOCore
import NIOHTTP1

/// Ends connections that are idle, and those whose client sends a head or a body, or takes an
/// answer, a few bytes at a time; and notes in `ConnectionTable` whether a connection is in use. It
/// rests when the kernel has its last answer. Here, behind `HTTPServerPipelineHandler`, requests
/// come one at a time.
final class ExchangeTimeout: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// A request's end has not come. Its answer may have gone before: what follows is read, and lost.
  private var isReading = false
  /// A request has no whole answer.
  private var isUnanswered = false
  private var answeredCount = 0
  /// Answers that the kernel does not have.
  private var untakenCount = 0
  private var stall = AnswerStall()
  private var nextLook: Scheduled<Void>?
  private var activeAt = NIODeadline.distantPast
  private let clock: HeadClock?
  private let connections: ConnectionTable?
  private var id: ObjectIdentifier?

  /// - Parameters:
  ///   - clock: notes when a head began; nil: heads have no bound.
  ///   - connections: counts what was ended. nil: the numbers of connections have no bounds.
  init(awaitingHeads clock: HeadClock? = nil, counting connections: ConnectionTable? = nil) {
    self.clock = clock
    self.connections = connections
  }

  func handlerAdded(context: ChannelHandlerContext) {
    id = ObjectIdentifier(context.channel)
    activeAt = context.eventLoop.now
    watch(context: context, look: 1, since: nil)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    nextLook?.cancel()
    nextLook = nil
  }

  func becomesStream() { id.map { connections?.becameStream($0) } }

  /// Looks whether the client still sends and takes, and once a period whether the same exchange
  /// goes on: that has one whole period at least.
  /// - Parameter earlier: how many were answered when one was found last; nil where none was.
  private func watch(context: ChannelHandlerContext, look: Int64, since earlier: Int?) {
    let period = TimeAmount.seconds(HTTPPipeline.lookSeconds)
    nextLook = context.eventLoop.assumeIsolated().scheduleTask(in: period) { [self] in
      let now = context.eventLoop.now
      let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
      let end = { (limit: ConnectionTable.Limit?) in
        limit.map { self.connections?.note($0) }
        if waiting > 0 { context.channel.abandon() } else { context.close(promise: nil) }
      }
      if stall.isOver(waitingBytes: waiting, at: now) { return end(.stalled) }
      // A head behind a request that is not answered is held back.
      if !isUnanswered, let since = clock?.waitsSince,
        now - since >= .seconds(HTTPPipeline.headSecondsMax)
      {
        return end(.head)
      }
      let isResting = waiting == 0 && (isReading || !isUnanswered)
      if isResting, now - activeAt >= .seconds(HTTPPipeline.idleSecondsMax) { return end(nil) }
      guard look * HTTPPipeline.lookSeconds >= HTTPPipeline.exchangeSecondsMax else {
        return watch(context: context, look: look + 1, since: earlier)
      }
      let isBusy = !isIdle || waiting > 0
      if isBusy, earlier == answeredCount { return end(.exchange) }
      watch(context: context, look: 1, since: isBusy ? answeredCount : nil)
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    activeAt = context.eventLoop.now
    switch Self.unwrapInboundIn(data) {
    case .head:
      (isReading, isUnanswered) = (true, true)
      clock?.headCame()
      id.map { connections?.began($0) }
    case .body: break
    case .end:
      isReading = false
      clock?.requestEnded()
      restIfIdle()
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .end = Self.unwrapOutboundIn(data) else {
      return context.write(data, promise: promise)
    }
    isUnanswered = false
    answeredCount += 1
    untakenCount += 1
    activeAt = context.eventLoop.now
    let written = promise ?? context.eventLoop.makePromise(of: Void.self)
    written.futureResult.assumeIsolated().whenComplete { _ in
      self.untakenCount -= 1
      self.restIfIdle()
    }
    context.write(data, promise: written)
  }

  private var isIdle: Bool { !isReading && !isUnanswered }

  private func restIfIdle() {
    if isIdle, untakenCount == 0 { id.map { connections?.rests($0) } }
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
