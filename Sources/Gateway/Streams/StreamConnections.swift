/// How many streams there are, how many each identity has, and what they have not taken, over all
/// event loops.

import Platform

final class StreamConnections: Sendable {
  private let counts = Locked(Counts<String>())
  private let opened = Locked(0)
  private let unsent = Locked(0)
  private let closings = Locked<[StreamClose: Int64]>([:])

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

  /// Those that this side closed, so far.
  var closed: [StreamClose: Int64] { closings.withLock { $0 } }

  func closed(by reason: StreamClose) { closings.withLock { $0[reason, default: 0] += 1 } }

  func opening() { opened.withLock { $0 += 1 } }

  func closing() { opened.withLock { $0 -= 1 } }

  /// - Returns: whether one more is allowed; it is counted then.
  func add(_ identity: String, atMost countMax: Int) -> Bool {
    counts.withLock { counts in
      guard counts[identity] < countMax else { return false }
      counts.add(identity)
      return true
    }
  }

  func remove(_ identity: String) { counts.withLock { $0.remove(identity) } }
}

/// How many there are of each; there is no entry of what there is none of.
struct Counts<Key: Hashable & Sendable>: Sendable {
  private var counts: [Key: Int] = [:]

  subscript(_ key: Key) -> Int { counts[key] ?? 0 }

  var keys: Set<Key> { Set(counts.keys) }
  var sum: Int { counts.values.reduce(0, +) }

  mutating func add(_ key: Key) { counts[key, default: 0] += 1 }

  mutating func remove(_ key: Key) {
    let left = self[key] - 1
    counts[key] = left > 0 ? left : nil
  }
}
