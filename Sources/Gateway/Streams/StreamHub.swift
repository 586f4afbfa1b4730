/// All followers of this process: one `StreamLoop` for each event loop. News cost one `execute` for
/// each loop, however many follow.

import NIOCore
import Platform

package final class StreamHub: FeedSink {
  let services: StreamServices
  private let wasLoaded: Locked<Bool>
  let loops: [ObjectIdentifier: NIOLoopBoundBox<StreamLoop?>]

  /// - Parameter group: the one that the server runs on.
  package init(group: any EventLoopGroup, services: StreamServices) {
    self.services = services
    wasLoaded = Locked(services.source.current.isLoaded)
    var loops: [ObjectIdentifier: NIOLoopBoundBox<StreamLoop?>] = [:]
    for loop in group.makeIterator() {
      loops[ObjectIdentifier(loop)] = .makeEmptyBox(valueType: StreamLoop.self, eventLoop: loop)
    }
    self.loops = loops
  }

  package func receive(_ news: FeedNews) {
    if case .resync = news, isFirstLoad() {
      // There was nothing to follow before: whoever follows already began with it.
      return onLoops { _ = $0.load() }
    }
    onLoops { $0.receive(news) }
  }

  private func onLoops(_ body: @escaping @Sendable (StreamLoop) -> Void) {
    for box in loops.values { box.eventLoop.execute { body(self.streams(in: box)) } }
  }

  /// - Parameter body: also gets the steady clock's milliseconds.
  private func forEachFollower(
    _ body: @escaping @Sendable (FollowerConnection, _ now: Int64) -> Void
  ) {
    onLoops { $0.forEachFollower(body) }
  }

  private func isFirstLoad() -> Bool {
    wasLoaded.withLock { wasLoaded in
      defer { wasLoaded = true }
      return !wasLoaded
    }
  }

  /// - Parameter items: what was added to outboxes, by user.
  func deliver(_ items: [Int64: [OutboxItem]]) {
    forEachFollower { $0.deliver(items, now: $1) }
  }

  /// - Parameter portfolios: those that changed, by user and account.
  func deliver(portfolios changed: [Int64: [Int64: [UInt8]]]) {
    services.portfolios.note(changed)
    forEachFollower { $0.deliver(portfolios: changed, now: $1) }
  }

  /// Something may have been added that was not delivered.
  func recheckOutboxes() { forEachFollower { $0.recheckOutbox(now: $1) } }

  /// Called on `eventLoop`.
  func streams(on eventLoop: any EventLoop) -> StreamLoop {
    guard let box = loops[ObjectIdentifier(eventLoop)] else {
      preconditionFailure("the server runs on another group of event loops than the hub")
    }
    return streams(in: box)
  }

  private func streams(in box: NIOLoopBoundBox<StreamLoop?>) -> StreamLoop {
    if let streams = box.value { return streams }
    let streams = StreamLoop(eventLoop: box.eventLoop, services: services)
    box.value = streams
    let period = TimeAmount.milliseconds(StreamLimits.tickMilliseconds)
    box.eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { [weak self] task in
      if let self { self.streams(in: box).tick() } else { task.cancel() }
    }
    return streams
  }
}
