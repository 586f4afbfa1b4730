import Glibc
import Market
import Platform

/// The database server's clock, between two looks at it: what all gateways of a database agree on,
/// whatever the clocks of their machines say. Of this machine only the steady counter matters.
///
///     first reading → (witness, or five minutes) → confirmed
///     other reading → (row of the exchange, or five minutes) → that one, confirmed
///
/// A clock that is set for a second must end no order and begin no day, so one reading is never
/// enough: a clock is believed once a row or a change bears it out, or once it has agreed with the
/// counter for five minutes.
struct ServerClock: Sendable, Hashable {
  private struct Reading: Sendable, Hashable {
    /// What it is ahead of the counter by.
    var offset: Int64
    /// The counter, from which on all readings agreed.
    var since: Int64
  }

  private var believed: Reading?
  /// Of a clock that was set: until it is believed, time goes on as before.
  private var other: Reading?
  private var readAt: Int64 = 0
  /// Whether what is irrevocable may go by it.
  private(set) var isConfirmed = false

  /// After so long it is read again.
  private static let ageMicrosecondsMax: Int64 = 30_000_000
  /// Two readings agree, and a row with one: rows come some seconds late, and orders of the day end
  /// five minutes behind the close.
  private static let agreementMicrosecondsMax: Int64 = 60_000_000
  private static let steadyMicrosecondsMin: Int64 = 300_000_000

  /// Steady, and goes on while the machine sleeps.
  static func counter() -> Int64 {
    SystemClock.nanoseconds(of: CLOCK_BOOTTIME).map { $0 / 1_000 }
      ?? MonotonicClock.microseconds()
  }

  /// The server's clock was `time` at some moment between two readings of the counter.
  mutating func synchronize(_ time: Timestamp, asked: Int64, answered: Int64) {
    let reading = Reading(
      offset: time.microseconds - (asked + (answered - asked) / 2), since: answered)
    readAt = answered
    guard let before = believed else {
      believed = reading
      return
    }
    if Self.agree(reading.offset, before.offset) {
      believed = Reading(offset: reading.offset, since: before.since)
      other = nil
      if answered - before.since >= Self.steadyMicrosecondsMin { isConfirmed = true }
    } else if !isConfirmed {
      // Nothing went by the other one.
      believed = reading
    } else if let other, Self.agree(reading.offset, other.offset) {
      if answered - other.since >= Self.steadyMicrosecondsMin { believe(other) }
    } else {
      other = reading
    }
  }

  /// The exchange stamped a row with a time, and it has just come.
  mutating func witness(row time: Timestamp, at counter: Int64) {
    let offset = time.microseconds - counter
    guard let believed else { return }
    if Self.agree(offset, believed.offset) {
      isConfirmed = true
      other?.since = counter
    } else if let other, Self.agree(offset, other.offset) {
      believe(other)
    }
  }

  /// The daemon has just committed by its clock, which may be set with the server's: it confirms a
  /// first reading alone.
  mutating func witness(change time: Timestamp, at counter: Int64) {
    if let believed, Self.agree(time.microseconds - counter, believed.offset) {
      isConfirmed = true
    }
  }

  private mutating func believe(_ reading: Reading) {
    (believed, other, isConfirmed) = (reading, nil, true)
  }

  private static func agree(_ one: Int64, _ two: Int64) -> Bool {
    abs(one - two) <= agreementMicrosecondsMax
  }

  func isOld(at counter: Int64) -> Bool {
    believed == nil || counter - readAt > Self.ageMicrosecondsMax
  }

  /// nil before it was read.
  func time(at counter: Int64) -> Timestamp? {
    believed.map { Timestamp(microseconds: $0.offset + counter) }
  }
}
