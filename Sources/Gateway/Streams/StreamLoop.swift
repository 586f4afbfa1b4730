/// The followers of one event loop and the market as they see it. Touched on that loop only.

import NIOCore
import Platform

final class StreamLoop {
  let eventLoop: any EventLoop
  let services: StreamServices
  private(set) var market: StreamMarket
  private var encoder = OutputEncoder()
  /// By slot; a slot is used again.
  private var connected: [FollowerConnection?] = []
  private var freeSlots: [Int] = []
  /// By slot: when `tick` is due. An array of its own, for it is scanned ten times a second.
  private var deadlines: [Int64] = []
  /// By slot: the commit it was last notified of.
  private var touched: [Int] = []
  private var commit = 0
  private var ticks = 0
  /// By place: the slots that follow its quotes.
  private var watchers: [[Int32]] = []

  init(eventLoop: any EventLoop, services: StreamServices) {
    self.eventLoop = eventLoop
    self.services = services
    market = StreamMarket(services.source)
  }

  /// Takes the first state that was read, if it is there. Until then there are no followers.
  /// - Returns: whether there is something to follow.
  @discardableResult
  func load() -> Bool {
    if market.epoch == 0 { market = StreamMarket(services.source) }
    return market.epoch != 0
  }

  // MARK: Followers

  /// - Returns: its slot.
  func add(_ connection: FollowerConnection) -> Int {
    services.connections.opening()
    if let slot = freeSlots.popLast() {
      connected[slot] = connection
      deadlines[slot] = connection.follower.deadline
      return slot
    }
    connected.append(connection)
    deadlines.append(connection.follower.deadline)
    touched.append(0)
    return connected.count - 1
  }

  func remove(slot: Int, following places: [SeriesPlace]) {
    services.connections.closing()
    unwatch(places, slot: slot)
    connected[slot] = nil
    deadlines[slot] = .max
    freeSlots.append(slot)
  }

  func setDeadline(_ deadline: Int64, slot: Int) { deadlines[slot] = deadline }

  func watch(_ places: [SeriesPlace], slot: Int) {
    for place in places {
      let missing = place.index + 1 - watchers.count
      if missing > 0 { watchers.append(contentsOf: repeatElement([], count: missing)) }
      watchers[place.index].append(Int32(slot))
    }
  }

  func unwatch(_ places: [SeriesPlace], slot: Int) {
    for place in places where place.index < watchers.count {
      guard let index = watchers[place.index].firstIndex(of: Int32(slot)) else { continue }
      watchers[place.index].swapAt(index, watchers[place.index].count - 1)
      watchers[place.index].removeLast()
    }
  }

  // MARK: News

  func receive(_ news: FeedNews) {
    switch news {
    case .update(let update) where update.epoch != market.epoch:
      reload(.anotherDatabase, seq: update.seq)
    case .update(let update): apply(update)
    case .resync(let reason, _, let seq): reload(reason, seq: seq)
    case .connection:
      market.restate(services.source.current)
      encoder = OutputEncoder()
      forEachFollower { $0.feedChanged(now: $1) }
    }
  }

  private func apply(_ update: FeedUpdate) {
    let previousSeq = market.seq
    guard market.apply(update) else { return }
    guard update.messages.isEmpty else {
      return forEachFollower { $0.marketChanged(by: update, previousSeq: previousSeq, now: $1) }
    }
    let now = MonotonicClock.milliseconds()
    commit += 1
    touch(watching: update.stocks)
    for slot in connected.indices where touched[slot] == commit {
      connected[slot]?.marketChanged(by: update, previousSeq: previousSeq, now: now)
    }
  }

  private func touch(watching stocks: [EncodedStock]) {
    touched.withUnsafeMutableBufferPointer { touched in
      for index in stocks.indices {
        // Of the stock nothing else: other loops count its references, too.
        let place = stocks[index].place.index
        guard place < watchers.count else { continue }
        for slot in watchers[place] { touched[Int(slot)] = commit }
      }
    }
  }

  private func reload(_ reason: ResyncReason, seq: Int64) {
    market = StreamMarket(services.source)
    encoder = OutputEncoder()
    forEachFollower { $0.resynced(reason, seq: seq, now: $1) }
  }

  func forEachFollower(_ body: (FollowerConnection, _ now: Int64) -> Void) {
    let now = MonotonicClock.milliseconds()
    for case let connection? in connected { body(connection, now) }
  }

  /// Called every `StreamLimits.tickMilliseconds`.
  func tick() {
    let now = MonotonicClock.milliseconds()
    for slot in deadlines.indices where deadlines[slot] <= now {
      connected[slot]?.tick(now: now)
    }
    ticks += 1
    guard ticks % StreamLimits.grantCheckTicks == 0 else { return }
    for connection in connected { connection?.checkGrant(now: now) }
  }

  // MARK: Messages

  func write(
    _ output: FollowerOutput, reached: Follower.Reached?, framing: StreamFraming,
    to buffer: inout ByteBuffer
  ) {
    encoder.write(
      output, framing: framing, reached: reached, of: market,
      feeds: { services.source.current.feeds(at: .now) }, to: &buffer)
  }
}
