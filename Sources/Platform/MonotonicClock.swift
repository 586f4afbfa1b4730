import Glibc

/// The steady clock that systemd's watchdog uses too (CLOCK_MONOTONIC): nobody sets it, so only
/// differences mean anything. It stands still while the machine sleeps.
package enum MonotonicClock {
  package static func nanoseconds() -> Int64 { SystemClock.nanoseconds(of: CLOCK_MONOTONIC) ?? 0 }

  package static func microseconds() -> Int64 { nanoseconds() / 1_000 }

  package static func milliseconds() -> Int64 { nanoseconds() / 1_000_000 }

  package static func seconds() -> Int64 { nanoseconds() / 1_000_000_000 }
}

/// What the kernel's clocks show: clock_gettime(2).
package enum SystemClock {
  /// nil if the kernel has no such clock.
  package static func nanoseconds(of clock: clockid_t) -> Int64? {
    var now = timespec()
    guard clock_gettime(clock, &now) == 0 else { return nil }
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
  }

  /// The time of day, which anybody may set: µs since 1970, UTC.
  package static func realMicroseconds() -> Int64 {
    (nanoseconds(of: CLOCK_REALTIME) ?? 0) / 1_000
  }
}
