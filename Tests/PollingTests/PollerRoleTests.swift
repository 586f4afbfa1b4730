import Market
import Testing

@testable import Polling

@Suite struct PollerRoleTests {
  private func bench(_ role: Poller.Role) -> Bench {
    var poller = poller(symbols: 20, batch: 6)
    _ = poller.received(.roleChanged(role), at: moment(10, 0))
    return Bench(poller, at: moment(10, 0))
  }

  @Test func `a source that rests is not requested`() {
    var bench = bench(.resting)
    bench.feed(.started) { _, _ in Reply() }
    bench.run(untilElapsedSeconds: 600) { _, _ in Reply() }
    #expect(bench.requests.isEmpty)
  }

  @Test func `a probed source is asked for one batch every 30 s, another each time`() {
    var bench = bench(.probed)
    bench.feed(.started) { _, _ in Reply() }
    bench.run(untilElapsedSeconds: 130) { _, _ in Reply() }
    #expect(bench.requests.map(\.request.purpose) == [.probe, .probe, .probe, .probe])
    #expect(Set(bench.requests.map(\.request.symbols)).count == 4)
    let pauses = zip(bench.requests, bench.requests.dropFirst()).map { $1.elapsed - $0.elapsed }
    #expect(pauses.allSatisfy { $0 >= 30_000_000 && $0 <= 33_100_000 })
    #expect(!bench.actions.contains { if case .sweepCompleted = $0 { true } else { false } })
  }

  @Test func `one that is to be compared is probed at once, and then every 30 s`() {
    var bench = bench(.probed)
    bench.feed(.started) { _, _ in Reply() }
    bench.run(untilElapsedSeconds: 40) { _, _ in Reply() }
    #expect(bench.requests.count == 1)
    bench.feed(.roleChanged(.compared)) { _, _ in Reply() }
    bench.run(untilElapsedSeconds: 45) { _, _ in Reply() }
    #expect(bench.requests.map(\.request.purpose) == [.probe, .probe])
    bench.run(untilElapsedSeconds: 69) { _, _ in Reply() }
    #expect(bench.requests.count == 2)
    bench.run(untilElapsedSeconds: 80) { _, _ in Reply() }
    #expect(bench.requests.count == 3)
  }

  @Test func `one that takes over sweeps at once`() {
    var bench = bench(.resting)
    bench.feed(.started) { _, _ in Reply() }
    bench.run(untilElapsedSeconds: 62) { _, _ in Reply() }
    bench.feed(.roleChanged(.serving)) { _, _ in Reply() }
    #expect(bench.requests.map(\.request.purpose) == [.sweep, .sweep, .sweep, .sweep])
    #expect(bench.requests.allSatisfy { $0.elapsed == 62_000_000 })
  }

  @Test func `one that stands down forgets what is in flight, and is not probed for 30 s`() {
    var bench = bench(.serving)
    bench.feed(.started) { _, _ in Reply(milliseconds: 2_000) }
    bench.run(untilElapsedSeconds: 1) { _, _ in Reply(milliseconds: 2_000) }
    bench.feed(.roleChanged(.probed)) { _, _ in Reply() }
    let before = bench.requests.count
    bench.run(untilElapsedSeconds: 30) { _, _ in Reply() }
    #expect(bench.requests.count == before && bench.poller.inFlight.isEmpty)
    #expect(!bench.actions.contains { if case .sweepCompleted = $0 { true } else { false } })
    bench.run(untilElapsedSeconds: 40) { _, _ in Reply() }
    #expect(bench.requests.count == before + 1)
  }

  @Test func `no probe goes out inside a cool-down, and the first behind it is for one symbol`() {
    var bench = bench(.probed)
    bench.feed(.started) { _, _ in Reply() }
    bench.run(untilElapsedSeconds: 32) { _, _ in Reply(outcome: .banned) }
    bench.run(untilElapsedSeconds: 90) { _, _ in Reply() }
    #expect(bench.requests.count == 1 && bench.poller.refusal?.kind == .banned)
    bench.run(untilElapsedSeconds: 96) { _, _ in Reply() }
    #expect(bench.requests.map(\.request.symbols.count) == [6, 1])
    #expect(bench.poller.refusal == nil)
    bench.run(untilElapsedSeconds: 130) { _, _ in Reply() }
    #expect(bench.requests.map(\.request.symbols.count) == [6, 1, 6])
  }

  @Test func `a probe that was under way when its source stood down does not close it for ever`() {
    var bench = bench(.serving)
    bench.feed(.started) { _, _ in Reply(outcome: .banned) }
    // The probe of the breaker goes out and is never answered.
    bench.run(untilElapsedSeconds: 62) { _, _ in Reply(milliseconds: 1_000_000) }
    bench.feed(.roleChanged(.probed)) { _, _ in Reply() }
    bench.run(untilElapsedSeconds: 200) { _, _ in Reply() }
    #expect(bench.poller.refusal == nil && bench.poller.gate.isClosed)
  }
}
