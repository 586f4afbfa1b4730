/// Stands on a listening socket: takes so many connections at a time, and ends them in order when
/// the server stops.

import NIOCore

package final class AcceptedConnections: ChannelDuplexHandler {
  package typealias InboundIn = any Channel
  package typealias InboundOut = any Channel
  package typealias OutboundIn = Never

  private let countMax: Int
  private let stopSecondsMax: Int64
  private let ended: EventLoopPromise<Void>
  private var open: [ObjectIdentifier: any Channel] = [:]
  private var isListening = true
  private var isReadDue = false

  /// - Parameters:
  ///   - countMax: further ones wait in the kernel.
  ///   - stopSecondsMax: for the exchanges under way when the server stops.
  ///   - ended: completes when the server has stopped and the last connection is closed.
  package init(countMax: Int, stopSecondsMax: Int64, ended: EventLoopPromise<Void>) {
    self.countMax = countMax
    self.stopSecondsMax = stopSecondsMax
    self.ended = ended
  }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let channel = Self.unwrapInboundIn(data)
    let (id, loop) = (ObjectIdentifier(channel), context.eventLoop)
    open[id] = channel
    let bound = NIOLoopBound((self, context), eventLoop: loop)
    channel.closeFuture.hop(to: loop).whenComplete { _ in
      let (connections, context) = bound.value
      connections.closed(id, context: context)
    }
    context.fireChannelRead(data)
  }

  package func read(context: ChannelHandlerContext) {
    isReadDue = open.count >= countMax
    if !isReadDue { context.read() }
  }

  package func channelInactive(context: ChannelHandlerContext) {
    isListening = false
    context.fireChannelInactive()
    stop(loop: context.eventLoop)
  }

  private func closed(_ id: ObjectIdentifier, context: ChannelHandlerContext) {
    open[id] = nil
    if !isListening { return endIfDone() }
    if isReadDue { read(context: context) }
  }

  private func endIfDone() { if open.isEmpty { ended.succeed() } }

  private func stop(loop: any EventLoop) {
    for channel in open.values {
      channel.eventLoop.execute {
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
      }
    }
    loop.assumeIsolated().scheduleTask(in: .seconds(stopSecondsMax)) { [self] in
      for channel in open.values { channel.close(promise: nil) }
    }
    endIfDone()
  }
}
