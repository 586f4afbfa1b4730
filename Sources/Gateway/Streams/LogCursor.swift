/// How far a follower has read the log.

struct LogCursor: Equatable, Comparable, Sendable {
  /// Everything up to this seq was sent.
  private(set) var after: Int64
  /// Where to go on in the commit behind it: its messages can be more than one to a client carries.
  /// Their order is that of the database, and so the same at every gateway.
  private(set) var position = 0

  static func < (one: LogCursor, other: LogCursor) -> Bool {
    (one.after, one.position) < (other.after, other.position)
  }

  enum Step: Equatable {
    case message(type: LogType, objects: [FeedMessage])
    case end
    case pastHorizon
  }

  /// The next message: as many objects of one type as it carries, of one commit or several.
  /// - Parameter through: the last seq that is read.
  mutating func next(
    for interests: LogInterests, through: Int64, in market: StreamMarket
  ) -> Step {
    guard after < through else { return .end }
    guard let pages = market.log(after: after) else { return .pastHorizon }
    var collected = Collected()
    for page in pages.prefix(while: { $0.seq <= through }) {
      guard take(from: page, into: &collected, for: interests) else { return collected.step }
      (after, position) = (page.seq, 0)
    }
    // The position stays: the commit that was begun may lie behind.
    after = through
    return collected.step
  }

  /// - Returns: whether all of the page was taken.
  private mutating func take(
    from page: LogPage, into collected: inout Collected, for interests: LogInterests
  ) -> Bool {
    for index in page.indices(for: interests) where index >= position {
      guard collected.add(page.messages[index]) else { return false }
      position = index + 1
    }
    return true
  }

  private struct Collected {
    var type: LogType?
    var objects: [FeedMessage] = []
    var bytes = 0

    mutating func add(_ message: FeedMessage) -> Bool {
      let itsType = LogType(message.kind)
      let isRoomy = objects.isEmpty || bytes + message.json.count <= StreamLimits.objectBytesMax
      guard isRoomy, type == nil || type == itsType else { return false }
      type = itsType
      bytes += message.json.count + 1
      objects.append(message)
      return true
    }

    var step: Step { type.map { .message(type: $0, objects: objects) } ?? .end }
  }
}
