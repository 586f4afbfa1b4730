import Glibc
import Platform
import Testing

@Suite struct MonotonicClockTests {
  @Test func `it never goes back`() {
    let readings = (0..<1_000).map { _ in MonotonicClock.nanoseconds() }
    #expect(readings == readings.sorted())
  }

  @Test func `its units show one time`() {
    let before = MonotonicClock.nanoseconds()
    let (micro, milli) = (MonotonicClock.microseconds(), MonotonicClock.milliseconds())
    let whole = MonotonicClock.seconds()
    let after = MonotonicClock.nanoseconds()
    #expect((before / 1_000...after / 1_000).contains(micro))
    #expect((before / 1_000_000...after / 1_000_000).contains(milli))
    #expect((before / 1_000_000_000...after / 1_000_000_000).contains(whole))
  }

  @Test func `it is the kernel's CLOCK_MONOTONIC`() throws {
    let before = try #require(SystemClock.nanoseconds(of: CLOCK_MONOTONIC))
    let now = MonotonicClock.nanoseconds()
    let after = try #require(SystemClock.nanoseconds(of: CLOCK_MONOTONIC))
    #expect((before...after).contains(now))
  }

  @Test func `a clock the kernel has not shows nothing`() {
    #expect(SystemClock.nanoseconds(of: 9_999) == nil)
  }
}
