import Market

/// The database server's clock, between two looks at it: what all gateways of a database agree on,
/// whatever the clocks of their machines say. Of this machine only the steady counter matters.
struct ServerClock: Sendable, Hashable {
  private var offset: Int64?
  private var readAt: Int64 = 0

  /// After so long it is read again: a machine that sleeps stops counting, and clocks are set.
  private static let ageMicrosecondsMax: Int64 = 30_000_000

  /// The server's clock was `time` at some moment between two readings of the counter.
  mutating func synchronize(_ time: Timestamp, asked: Int64, answered: Int64) {
    offset = time.microseconds - (asked + (answered - asked) / 2)
    readAt = answered
  }

  func isOld(at counter: Int64) -> Bool {
    offset == nil || counter - readAt > Self.ageMicrosecondsMax
  }

  /// nil before it was read.
  func time(at counter: Int64) -> Timestamp? {
    offset.map { Timestamp(microseconds: $0 + counter) }
  }
}
