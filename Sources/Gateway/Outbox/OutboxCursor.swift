/// How far a follower is in the outbox of its token's user. Rows come from the gateway's own thread
/// as they are stored; where one is missing, or more wait than are kept, they are read from the
/// database from the last number on: none is lost, and a client that comes again names its number,
/// and its epoch: after a restored backup the same numbers are given again.

struct OutboxCursor: Sendable, Equatable {
  /// Whether the token has a user whose things it may follow.
  var isAllowed = false
  /// A subscription that waits until it is known where the outbox ends.
  var starting: ChannelsRequest?
  private(set) var channels: Set<UserChannel> = []
  /// Up to here everything is sent or waits; nil: it is not known where to begin.
  private(set) var last: Int64?
  /// Of these numbers; nil: nothing was read yet.
  private(set) var epoch: Int64?
  /// Of the client's number, to be compared with what is read.
  private var claimed: Int64?
  private var waiting: [OutboxItem] = []
  private var isReading = false
  /// There may be more behind `last` that did not come by itself.
  private var isBehind = false

  var isFollowed: Bool { !channels.isEmpty }

  /// Up to here everything is sent.
  var sent: Int64? { waiting.first.map { $0.number - 1 } ?? last }

  var isEmpty: Bool { waiting.isEmpty }

  // MARK: Subscriptions

  /// From where the outbox ended.
  mutating func begin(at page: OutboxPage) {
    epoch = page.epoch
    begin(at: page.last)
  }

  private mutating func begin(at number: Int64) {
    guard last.map({ number < $0 }) ?? true else { return }
    (last, waiting) = (number, [])
  }

  /// - Parameters:
  ///   - number: what the client has; nil: all that comes from now on.
  ///   - epoch: of the number; nil: the client does not know it.
  mutating func follow(
    _ more: Set<UserChannel>, after number: Int64?, in epoch: Int64? = nil
  ) {
    channels.formUnion(more)
    claimed = epoch ?? claimed
    if let number { begin(at: number) }
    isBehind = true
  }

  mutating func end(_ fewer: Set<UserChannel>) {
    channels.subtract(fewer)
    waiting.removeAll { $0.channel.map(fewer.contains) ?? true }
    if channels.isEmpty { (last, epoch, claimed, waiting, isBehind) = (nil, nil, nil, [], false) }
  }

  // MARK: Rows

  /// What was stored.
  mutating func receive(_ items: [OutboxItem]) {
    for item in items where isFollowed {
      guard let last, item.number > last else { continue }
      guard !isReading, !isBehind, item.number == last + 1, append(item) else {
        isBehind = true
        return
      }
    }
  }

  /// Something may have been stored that did not come.
  mutating func recheck() { isBehind = isFollowed }

  /// From where the database is to be read; nil: not now.
  mutating func nextRead() -> Int64? {
    guard isFollowed, isBehind, !isReading, waiting.isEmpty, let last else { return nil }
    (isReading, isBehind) = (true, false)
    return last
  }

  mutating func readFailed() { (isReading, isBehind) = (false, true) }

  /// - Returns: false if the outbox is not as far as the client says, or of another epoch.
  mutating func receive(_ page: OutboxPage) -> Bool {
    isReading = false
    guard let before = last else { return true }
    let isSame = claimed.map { $0 == page.epoch } ?? true
    (epoch, claimed) = (page.epoch, nil)
    guard page.last >= before, isSame else {
      (last, waiting) = (page.last, [])
      return false
    }
    for item in page.items where item.number == (last ?? before) + 1 {
      guard append(item) else { break }
    }
    if last ?? before < page.last { isBehind = true }
    return true
  }

  /// - Returns: false where too many wait.
  private mutating func append(_ item: OutboxItem) -> Bool {
    if item.channel.map(channels.contains) ?? false {
      guard waiting.count < StreamLimits.outboxWaitingMax else { return false }
      waiting.append(item)
    }
    (last, epoch) = (item.number, item.epoch)
    return true
  }

  /// What fits into a message, of one channel.
  mutating func take() -> (channel: UserChannel, items: [OutboxItem])? {
    guard let channel = waiting.first?.channel else { return nil }
    var bytes = 0
    let count = waiting.prefix { item in
      bytes += item.json.count + 1
      return item.channel == channel && bytes <= StreamLimits.objectBytesMax
    }.count
    defer { waiting.removeFirst(max(count, 1)) }
    return (channel, Array(waiting.prefix(max(count, 1))))
  }
}
