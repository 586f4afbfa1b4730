// Elapsed time under a wall clock that may be stepped.
//
// Slots belong to the wall clock; cool-downs, budgets and retries to elapsed time. A clock set back
// by an hour must not lengthen a ban by an hour, so those are kept on an axis that moves with the
// wall clock but never backwards. It must never be compared with a slot.
import Market

struct SteadyClock: Sendable {
  /// The latest moment on the steady axis.
  private(set) var now: Timestamp
  private var wall: Timestamp

  /// Smaller steps back are the jitter of a disciplined clock, not a new time.
  static let stepMicrosecondsMin: Int64 = 1_000_000

  init(at wall: Timestamp) {
    self.wall = wall
    now = wall
  }

  /// Moves to a wall-clock moment. True if the wall clock was stepped back.
  mutating func advance(to wall: Timestamp) -> Bool {
    let elapsed = wall.microseconds(since: self.wall)
    if elapsed >= 0 {
      now = Timestamp(microseconds: now.microseconds + elapsed)
      self.wall = wall
      return false
    }
    guard elapsed <= -SteadyClock.stepMicrosecondsMin else { return false }
    self.wall = wall
    return true
  }

  /// The wall clock was set, by so much: no time has passed for that.
  mutating func set(by microseconds: Int64) {
    wall = Timestamp(microseconds: wall.microseconds + microseconds)
  }

  /// What the wall clock will show at a steady moment.
  func wall(at steady: Timestamp) -> Timestamp {
    Timestamp(microseconds: wall.microseconds + steady.microseconds(since: now))
  }
}
