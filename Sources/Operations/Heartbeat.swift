/// Whether our own loops turn. Each loop that must never stop beats at every turn; the watchdog and
/// `/livez` ask for those that have not for too long. Progress of our own and nothing else: a
/// database or a source that is away is no reason to be killed and started again.

import Platform
import Synchronization

/// One loop's sign of life.
package final class Heartbeat: Sendable {
  /// As people know the loop: `engine`, `lease`.
  package let name: String
  package let ageSecondsMax: Int64

  /// Of the steady clock, which a changed wall clock leaves alone.
  private let beatAt: Atomic<Int64>
  private let nanoseconds: @Sendable () -> Int64

  /// Counts as having beaten just now.
  package init(
    name: String, ageSecondsMax: Int64,
    nanoseconds: @escaping @Sendable () -> Int64 = MonotonicClock.nanoseconds
  ) {
    self.name = name
    self.ageSecondsMax = ageSecondsMax
    self.nanoseconds = nanoseconds
    beatAt = Atomic(nanoseconds())
  }

  package func beat() { beatAt.store(nanoseconds(), ordering: .relaxed) }

  /// The loop waits for somebody else, a database say: until its next beat it cannot be stale.
  package func rest() { beatAt.store(.max, ordering: .relaxed) }

  /// Since the last beat.
  package var ageNanoseconds: Int64 { max(nanoseconds() - beatAt.load(ordering: .relaxed), 0) }

  package var isStale: Bool { ageNanoseconds > ageSecondsMax * 1_000_000_000 }
}

/// The loops that must turn just now. Those that need not (an engine in standby) are not in it.
package final class Heartbeats: Sendable {
  private let loops = Locked<[Heartbeat]>([])
  private let nanoseconds: @Sendable () -> Int64

  package init(nanoseconds: @escaping @Sendable () -> Int64 = MonotonicClock.nanoseconds) {
    self.nanoseconds = nanoseconds
  }

  /// A loop begins: from here on it must beat at least every `ageSecondsMax`. One of the same name
  /// is replaced.
  package func begin(_ name: String, ageSecondsMax: Int64) -> Heartbeat {
    let loop = Heartbeat(name: name, ageSecondsMax: ageSecondsMax, nanoseconds: nanoseconds)
    loops.withLock { loops in
      loops.removeAll { $0.name == name }
      loops.append(loop)
    }
    return loop
  }

  /// The loop has ended as it should; one that has replaced it stays.
  package func end(_ loop: Heartbeat) {
    loops.withLock { $0.removeAll { $0 === loop } }
  }

  /// In the order they began.
  package var all: [Heartbeat] { loops.withLock { $0 } }

  /// The names of the loops that have not beaten for too long.
  package func stale() -> [String] { all.filter(\.isStale).map(\.name) }
}
