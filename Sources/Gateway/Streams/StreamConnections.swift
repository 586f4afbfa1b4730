/// How many streams there are, how many each identity has, and what they have not taken, over all
/// event loops.

import Platform

final class StreamConnections: Sendable {
  private let counts = Locked<[String: Int]>([:])
  private let opened = Locked(0)
  private let unsent = Locked(0)

  /// How many are open.
  var open: Int { opened.withLock { $0 } }

  /// What waits for followers that take nothing more.
  var unsentBytes: Int { unsent.withLock { $0 } }

  func unsentChanged(by bytes: Int) { if bytes != 0 { unsent.withLock { $0 += bytes } } }

  /// How long a follower may take no byte.
  var stallMillisecondsMax: Int64 {
    unsentBytes > StreamLimits.unsentBytesMax
      ? StreamLimits.stallMillisecondsMin : StreamLimits.stallMillisecondsMax
  }

  func opening() { opened.withLock { $0 += 1 } }

  func closing() { opened.withLock { $0 -= 1 } }

  /// - Returns: whether one more is allowed; it is counted then.
  func add(_ identity: String, atMost countMax: Int) -> Bool {
    counts.withLock { counts in
      guard counts[identity, default: 0] < countMax else { return false }
      counts[identity, default: 0] += 1
      return true
    }
  }

  func remove(_ identity: String) {
    counts.withLock { counts in
      let left = counts[identity, default: 1] - 1
      counts[identity] = left > 0 ? left : nil
    }
  }
}

/// Whose outboxes streams follow, over all event loops.
final class StreamUsers: Sendable {
  private let counts = Locked<[Int64: Int]>([:])

  var followed: Set<Int64> { counts.withLock { Set($0.keys) } }

  func add(_ userID: Int64) { counts.withLock { $0[userID, default: 0] += 1 } }

  func remove(_ userID: Int64) {
    counts.withLock { counts in
      let left = counts[userID, default: 1] - 1
      counts[userID] = left > 0 ? left : nil
    }
  }
}
