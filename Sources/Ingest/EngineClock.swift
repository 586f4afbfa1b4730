import Glibc
import Market

/// Where an engine gets its time from. Everything that decides is told the time; only this asks a
/// clock, so a day can run at 60× or jump from one due moment to the next.
public enum EngineClock: Sendable, Hashable {
  /// The wall clock.
  case real
  /// `simulated` was shown when the real clock showed `real`, and runs `speed` times as fast.
  case scaled(simulated: Timestamp, real: Timestamp, speed: Int64)
  /// No clock at all: time stands still while anything is under way and then jumps to the next
  /// due moment. Makes a run a pure function of its inputs.
  case stepped(start: Timestamp)

  public static func realNow() -> Timestamp {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Timestamp(microseconds: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)
  }

  public static func scaled(from simulated: Timestamp, speed: Int64) -> EngineClock {
    .scaled(simulated: simulated, real: realNow(), speed: speed)
  }

  /// The time now; a stepped clock's is kept by its engine, which passes it in.
  public func now(stepped: Timestamp) -> Timestamp {
    switch self {
    case .real: EngineClock.realNow()
    case .scaled(let simulated, let real, let speed):
      Timestamp(
        microseconds: simulated.microseconds
          + (EngineClock.realNow().microseconds - real.microseconds) * speed)
    case .stepped: stepped
    }
  }

  /// Real nanoseconds until the clock shows `moment`, never negative.
  func nanoseconds(until moment: Timestamp, from now: Timestamp) -> UInt64 {
    let speed: Int64 = if case .scaled(_, _, let speed) = self { speed } else { 1 }
    return UInt64(max(moment.microseconds - now.microseconds, 0) * 1000 / speed)
  }

  /// The time it began with.
  public var startingPoint: Timestamp {
    switch self {
    case .real: EngineClock.realNow()
    case .scaled(let simulated, _, _), .stepped(let simulated): simulated
    }
  }

  /// Its seconds in one real second.
  var speed: Int { if case .scaled(_, _, let speed) = self { Int(speed) } else { 1 } }

  var isStepped: Bool { if case .stepped = self { true } else { false } }
}
