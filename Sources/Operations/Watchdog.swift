/// When systemd gets a sign of life: at half the time it waits for one, and only while no loop of
/// ours is stale. What has stopped turning is ended and started again by whoever watches.

package struct Watchdog: Sendable {
  private let nanosecondsMax: Int64
  private var sentAt: Int64?

  /// How often to look, so that a loop that turns again is told of in time.
  package var lookNanoseconds: UInt64 { UInt64(max(nanosecondsMax / 10, 1)) }

  package init(microseconds: Int64) { nanosecondsMax = microseconds * 1_000 }

  /// Whether a sign is due.
  package mutating func isDue(at nanoseconds: Int64, stale: [String]) -> Bool {
    guard stale.isEmpty else { return false }
    if let sentAt, nanoseconds - sentAt < nanosecondsMax / 2 { return false }
    sentAt = nanoseconds
    return true
  }
}
