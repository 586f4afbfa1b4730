import Market
import Postgres
import Reader

/// One follower: a connection, a cursor, and a thread that waits in poll(2) for the next hint.
///
///     connect → LISTEN → read after cursor → hand out → wait → read …
///                  ↑______________ lost, pause _______________|
///
/// The cursor moves only as items are handed out, and reading always starts behind it: whatever
/// happens to a connection, no change is skipped or repeated. It must never trust a hint's content.
actor FollowSession {
  private let executor = ThreadExecutor(name: "candled-follow")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let items: FeedItems
  private var cursor: Int64?
  private var epoch: Int64?
  private var reader: StoreReader?
  /// Read but not handed out yet, last first.
  private var waiting: [FeedItem] = []
  /// There may be more than was read: after connecting, a hint, a batch that ended early, or some
  /// time.
  private var mayHaveMore = true
  private var failures = 0
  nonisolated let interrupt = Interrupt()

  private static let pauseMillisecondsMin: Int32 = 50

  init(_ items: FeedItems) {
    self.items = items
    (cursor, epoch) = (items.after, items.epoch)
  }

  /// The next item; blocks this actor's own thread. nil once interrupted.
  func next() -> Result<FeedItem?, StoreError> {
    while !interrupt.isSignalled {
      if let item = waiting.popLast() {
        advance(past: item)
        return .success(item)
      }
      do throws(StoreError) {
        try readOrWait()
      } catch {
        reader = nil
        if !error.isTransient { return .failure(error) }
        if failures == 0 { items.onConnection(.lost(error)) }
        pause()
      }
    }
    return .success(nil)
  }

  private func readOrWait() throws(StoreError) {
    let reader = try connected()
    if mayHaveMore {
      mayHaveMore = false
      enqueue(try reader.changes(after: cursor))
      if failures > 0 { items.onConnection(.restored) }
      failures = 0
    } else {
      _ = try reader.wait(
        milliseconds: Int32(clamping: max(items.pollSeconds, 1) * 1_000),
        interrupt: interrupt.descriptor)
      mayHaveMore = true
    }
  }

  private func connected() throws(StoreError) -> StoreReader {
    if let reader { return reader }
    let fresh = try StoreReader(following: items.url)
    reader = fresh
    mayHaveMore = true
    return fresh
  }

  private func enqueue(_ batch: StoreReader.Batch) {
    let isAnother = epoch.map { $0 != batch.epoch } ?? false
    let isAhead = cursor.map { $0 > batch.lastSeq } ?? false
    epoch = batch.epoch
    if isAnother || isAhead {
      waiting = [.restarted(epoch: batch.epoch, seq: batch.lastSeq)]
      return
    }
    if cursor == nil { cursor = batch.lastSeq }
    mayHaveMore = batch.hasMore
    waiting = batch.changes.reversed().map { .change($0) }
    if let skipped = batch.skipped {
      waiting.append(.skipped(from: skipped.lowerBound, to: skipped.upperBound))
    }
  }

  private func advance(past item: FeedItem) {
    switch item {
    case .change(let change): cursor = change.seq
    case .skipped(_, let last): cursor = last
    case .restarted(_, let seq): cursor = seq
    }
  }

  /// Full jitter, so that a hundred followers do not come back at the same moment.
  private func pause() {
    let ceiling = Self.pauseMillisecondsMin << min(failures, 7)
    failures += 1
    interrupt.wait(milliseconds: .random(in: 1...min(ceiling, max(items.retryMillisecondsMax, 1))))
  }
}
