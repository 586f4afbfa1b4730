import Market
import TestSupport
import Testing

@testable import Ingest

@Suite struct WakePlanTests {
  /// The longest sleep, and from one wish to be woken soon to the next.
  private static let sleepMilliseconds = 5_000
  private static let stepMilliseconds = 20
  private static let soonMilliseconds = 100

  @Test func `sleeps that were overtaken end and are not replaced`() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    var plan = WakePlan()
    var sleeps: [Int] = []
    var most = 0
    for now in stride(from: 0, to: 400_000, by: Self.stepMilliseconds) {
      for ended in sleeps.filter({ $0 <= now }) {
        plan.woke(for: moment(ended))
        // The loop turns, and wants to turn again in time.
        want(now + Self.sleepMilliseconds, at: now, &plan, &sleeps)
      }
      sleeps.removeAll { $0 <= now }
      // An answer came: there is something to do soon.
      let soon = Int.random(in: 1...Self.soonMilliseconds, using: &random)
      want(now + soon, at: now, &plan, &sleeps)
      most = max(most, sleeps.count)
      #expect(sleeps.contains { $0 <= now + soon }, "overslept at \(now) ms, seed \(seed)")
    }
    // A long one, and short ones of which each ends ahead of those before it.
    #expect(most <= 1 + Self.soonMilliseconds, "\(most) sleeps at a time, seed \(seed)")
  }

  @Test func `a sleep that will end in time is enough`() {
    var plan = WakePlan()
    var begun: [Int] = []
    want(100, at: 0, &plan, &begun)
    want(100, at: 0, &plan, &begun)
    want(200, at: 50, &plan, &begun)
    want(80, at: 50, &plan, &begun)
    #expect(begun == [100, 80])
  }

  @Test func `a sleep that was overtaken serves when its turn has come`() {
    var plan = WakePlan()
    var begun: [Int] = []
    want(100, at: 0, &plan, &begun)
    want(50, at: 0, &plan, &begun)
    plan.woke(for: moment(50))
    want(200, at: 50, &plan, &begun)
    #expect(begun == [100, 50])
    plan.woke(for: moment(100))
    want(200, at: 100, &plan, &begun)
    #expect(begun == [100, 50, 200])
  }

  @Test func `a sleep that is late is not waited for`() {
    var plan = WakePlan()
    var begun: [Int] = []
    want(100, at: 0, &plan, &begun)
    want(200, at: 100, &plan, &begun)
    #expect(begun == [100, 200])
  }

  private func moment(_ milliseconds: Int) -> Timestamp {
    Timestamp(microseconds: Int64(milliseconds) * 1_000)
  }

  private func want(_ end: Int, at now: Int, _ plan: inout WakePlan, _ sleeps: inout [Int]) {
    if plan.mustSleep(until: moment(end), now: moment(now)) { sleeps.append(end) }
  }
}
