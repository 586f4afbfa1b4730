import CLinux
import Glibc
import Market
import Platform

/// Where an engine gets its time from. Everything that decides is given the time; only this asks a
/// clock, so a day can run at 60× or jump from one due moment to the next.
///
/// Elapsed time comes from the steady clock alone, which nobody sets: it counts while the machine
/// sleeps and while the process is stopped. What the wall clock says is a claim that
/// `ClockVerifier` accepts or not.
package enum EngineClock: Sendable, Hashable {
  /// The time of day.
  case real
  /// `simulated` was shown when the steady clock showed `steady`, and runs `speed` times as fast.
  case scaled(simulated: Timestamp, steady: Timestamp, speed: Int64)
  /// No clock at all: time stands still while anything is under way and then jumps to the next
  /// due moment. Makes a run a pure function of its inputs. `jumps` are what a wall clock beside
  /// it is put through.
  case stepped(start: Timestamp, jumps: [WallClockJump] = [])

  /// The wall clock. For display, and for `ClockVerifier`.
  package static func realNow() -> Timestamp {
    Timestamp(microseconds: SystemClock.realMicroseconds())
  }

  /// The steady clock: only differences mean anything.
  package static func steadyNow() -> Timestamp {
    reading(of: CLOCK_BOOTTIME) ?? reading(of: CLOCK_MONOTONIC) ?? Timestamp(seconds: 0)
  }

  private static func reading(of clock: clockid_t) -> Timestamp? {
    SystemClock.nanoseconds(of: clock).map { Timestamp(microseconds: $0 / 1_000) }
  }

  package static func scaled(from simulated: Timestamp, speed: Int64) -> EngineClock {
    .scaled(simulated: simulated, steady: steadyNow(), speed: speed)
  }

  /// What a clock that nobody may set shows now; for `stepped`, its start.
  package var now: Timestamp {
    switch self {
    case .real: EngineClock.realNow()
    case .scaled: moment(atSteady: EngineClock.steadyNow(), offset: 0)
    case .stepped(let start, _): start
    }
  }

  /// - Parameter offset: µs from the steady clock to the time of day; a scaled clock has its own.
  func moment(atSteady steady: Timestamp, offset: Int64) -> Timestamp {
    switch self {
    case .real, .stepped: Timestamp(microseconds: steady.microseconds + offset)
    case .scaled(let simulated, let origin, let speed):
      Timestamp(
        microseconds: simulated.microseconds + steady.microseconds(since: origin) * speed)
    }
  }

  /// Steady nanoseconds until the clock shows `moment`, never negative.
  package func nanoseconds(until moment: Timestamp, from now: Timestamp) -> UInt64 {
    UInt64(max(moment.microseconds - now.microseconds, 0) * 1000 / Int64(speed))
  }

  /// What the wall clock shows; nil where there is none to be put right or wrong.
  func wall(atSteady steady: Timestamp) -> Timestamp? {
    switch self {
    case .real: EngineClock.realNow()
    case .scaled: nil
    case .stepped(_, let jumps):
      jumps.isEmpty
        ? nil
        : steady.adding(
          seconds: jumps.reduce(0) { sum, jump in
            jump.at <= steady ? sum + jump.seconds : sum
          })
    }
  }

  /// The next jump of a stepped clock's wall clock.
  func nextJump(after steady: Timestamp) -> Timestamp? {
    guard case .stepped(_, let jumps) = self else { return nil }
    return jumps.map(\.at).filter { $0 > steady }.min()
  }

  /// The clock's seconds in one real second.
  var speed: Int { if case .scaled(_, _, let speed) = self { Int(speed) } else { 1 } }

  var isStepped: Bool { if case .stepped = self { true } else { false } }
}

/// The wall clock is set, beside a stepped clock.
package struct WallClockJump: Sendable, Hashable {
  /// When, in true time.
  package var at: Timestamp
  package var seconds: Int64

  package init(at: Timestamp, seconds: Int64) {
    self.at = at
    self.seconds = seconds
  }
}
