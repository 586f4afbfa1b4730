/// What a subscription is owed before the live channels go on.

extension Follower {
  enum Job: Equatable, Sendable {
    case snapshot(SnapshotJob)
    case replay(ReplayJob)
  }

  /// The quotes of series, in parts. Each part carries the values of its moment; what changes
  /// meanwhile comes again behind the last one.
  struct SnapshotJob: Equatable, Sendable {
    /// Where a follower that got all parts resumes.
    var seq: Int64
    private var places: [SeriesPlace] = []
    /// Where each part ends in `places`.
    private var ends: [Int] = []
    private var part = 0

    /// - Parameter since: only what changed behind it; nil: all.
    init(of series: PlaceSet, since: Int64?, in market: StreamMarket) {
      seq = market.seq
      var bytes = 0
      for place in series.places where market.seq(of: place) > since ?? 0 {
        guard let stock = market.stock(at: place) else { continue }
        if bytes + stock.json.count + 1 > StreamLimits.objectBytesMax {
          ends.append(places.count)
          bytes = 0
        }
        bytes += stock.json.count + 1
        places.append(place)
      }
      ends.append(places.count)
    }

    var isFinished: Bool { part == ends.count }

    /// - Parameter series: those that are still wanted.
    mutating func next(
      of series: PlaceSet, in market: StreamMarket
    ) -> FollowerOutput.Snapshot {
      let start = part == 0 ? 0 : ends[part - 1]
      let objects = places[start..<ends[part]].filter(series.contains).compactMap(market.stock(at:))
      part += 1
      return FollowerOutput.Snapshot(seq: seq, part: part, parts: ends.count, objects: objects)
    }
  }

  /// The log between the point where a client stopped and its subscription.
  struct ReplayJob: Equatable, Sendable {
    var cursor: LogCursor
    let through: Int64
    var interests: LogInterests
  }

  /// How many messages a client may still send, and what waits for an authorization.
  struct Inbox: Equatable, Sendable {
    private var thousandths = StreamLimits.messagesPerSecondMax * 1_000
    private var countedAt: Int64
    /// For an authorization, or for the database.
    private(set) var waiting: [ClientMessage] = []
    private var bytesOfWaiting: [Int] = []
    private var waitingBytes = 0

    init(now: Int64) { countedAt = now }

    /// - Returns: whether there was room for it.
    mutating func keep(_ message: ClientMessage, bytes: Int) -> Bool {
      guard waitingBytes + bytes <= StreamLimits.waitingBytesMax else { return false }
      waiting.append(message)
      bytesOfWaiting.append(bytes)
      waitingBytes += bytes
      return true
    }

    /// To be called only while there is one.
    mutating func takeFirst() -> ClientMessage {
      waitingBytes -= bytesOfWaiting.removeFirst()
      return waiting.removeFirst()
    }

    /// A bucket of ten, filled by ten a second.
    mutating func admits(now: Int64) -> Bool {
      let rate = StreamLimits.messagesPerSecondMax
      thousandths = min(rate * 1_000, thousandths + (now - countedAt) * rate)
      countedAt = now
      guard thousandths >= 1_000 else { return false }
      thousandths -= 1_000
      return true
    }
  }
}
