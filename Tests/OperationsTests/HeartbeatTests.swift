import Operations
import Synchronization
import Testing

/// A steady clock that stands where it is put.
final class StandingClock: Sendable {
  private let time = Atomic<Int64>(1_000_000_000_000)

  var nanoseconds: @Sendable () -> Int64 {
    { [self] in time.load(ordering: .relaxed) }
  }

  func pass(seconds: Double) {
    time.wrappingAdd(Int64(seconds * 1e9), ordering: .relaxed)
  }
}

@Suite struct `A heartbeat` {
  let clock = StandingClock()

  @Test func `is stale once it is older than it may be, and fresh again after a beat`() {
    let loop = Heartbeat(name: "engine", ageSecondsMax: 30, nanoseconds: clock.nanoseconds)
    clock.pass(seconds: 30)
    #expect(!loop.isStale)
    clock.pass(seconds: 0.001)
    #expect(loop.isStale)
    loop.beat()
    #expect(!loop.isStale)
    #expect(loop.ageNanoseconds == 0)
  }

  @Test func `is not stale while its loop waits for somebody else`() {
    let loop = Heartbeat(name: "lease", ageSecondsMax: 30, nanoseconds: clock.nanoseconds)
    loop.rest()
    clock.pass(seconds: 1_000)
    #expect(!loop.isStale && loop.ageNanoseconds == 0)
    loop.beat()
    clock.pass(seconds: 31)
    #expect(loop.isStale)
  }

  @Test func `a stale loop is reported by name, and only while it has to run`() {
    let beats = Heartbeats(nanoseconds: clock.nanoseconds)
    let engine = beats.begin("engine", ageSecondsMax: 30)
    let lease = beats.begin("lease", ageSecondsMax: 5)
    clock.pass(seconds: 10)
    #expect(beats.stale() == ["lease"])
    clock.pass(seconds: 30)
    #expect(beats.stale() == ["engine", "lease"])
    lease.beat()
    #expect(beats.stale() == ["engine"])
    beats.end(engine)
    #expect(beats.stale().isEmpty)
    #expect(beats.all.map(\.name) == ["lease"])
  }

  @Test func `of a loop begun anew is not ended by the loop before it`() {
    let beats = Heartbeats(nanoseconds: clock.nanoseconds)
    let first = beats.begin("engine", ageSecondsMax: 30)
    let second = beats.begin("engine", ageSecondsMax: 30)
    beats.end(first)
    #expect(beats.all.count == 1)
    clock.pass(seconds: 31)
    first.beat()
    #expect(beats.stale() == ["engine"])
    second.beat()
    #expect(beats.stale().isEmpty)
  }
}
