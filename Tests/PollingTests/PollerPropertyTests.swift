import Market
import TestSupport
import Testing

@testable import Polling

@Suite struct PollerPropertyTests {
  private static let seeds = (0..<4).map { _ in UInt64.random(in: .min ... .max) }

  @Test(arguments: seeds)
  func `a healthy day has every group in every slot exactly once`(_ seed: UInt64) {
    let schedule = schedule(spreadMilliseconds: 300, seed: seed)
    var bench = Bench(poller(symbols: 20, batch: 8, schedule: schedule), at: moment(8, 0))
    var generator = SplitMix(seed: seed)
    let source: (PollRequest, Timestamp) -> Reply = { _, _ in
      Reply(milliseconds: Int64.random(in: 1...2_600, using: &generator))
    }
    bench.feed(.started, source)
    bench.run(untilElapsedSeconds: 86_400, source)
    var asked: [Timestamp: [UInt16]] = [:]
    for entry in bench.requests {
      asked[entry.request.slot, default: []].append(entry.request.group)
    }
    var expected = 1
    var incomplete: [Timestamp] = []
    var cursor = moment(8, 0)
    while let slot = schedule.nextSlot(after: cursor),
      slot.grid.shanghaiDay == monday
    {
      if asked[slot.grid]?.sorted() != [0, 1, 2] { incomplete.append(slot.grid) }
      expected += 1
      cursor = slot.due
    }
    #expect(incomplete.isEmpty, "seed \(seed)")
    #expect(asked.count == expected, "seed \(seed)")
    let complete = bench.actions.filter { action in
      if case .sweepCompleted(_, 3, 0) = action { return true }
      return false
    }
    #expect(complete.count == expected, "seed \(seed)")
  }

  @Test(arguments: seeds)
  func `under random faults and clock steps no bound is ever crossed`(_ seed: UInt64) {
    var generator = SplitMix(seed: seed)
    let schedule = schedule(spreadMilliseconds: 300, seed: seed)
    var bench = Bench(
      poller(symbols: 40, batch: 8, schedule: schedule) {
        $0.inFlightMax = 5
        $0.requestsBurst = 8
      }, at: moment(9, 0))
    let source: (PollRequest, Timestamp) -> Reply = { _, _ in Self.reply(&generator) }
    bench.feed(.started, source)
    var steadySteps: [(elapsed: Int64, microseconds: Int64)] = []
    for round in 1...300 {
      bench.run(untilElapsedSeconds: Int64(round) * 300, source)
      guard round % 10 == 0 else { continue }
      var steps = SplitMix(seed: seed &+ UInt64(round))
      let step = Int64.random(in: -4_000_000...4_000_000, using: &steps)
      bench.stepClock(milliseconds: step)
      if step > 0 { steadySteps.append((bench.elapsed, step * 1_000)) }
    }
    #expect(bench.requests.count > 1_000, "seed \(seed)")
    #expect(bench.inFlightMost <= 5, "seed \(seed)")
    checkBudget(bench, steadySteps, rate: 240, burst: 8, seed)
    checkPileUp(bench, seed)
    checkBursts(bench, seed)
  }

  private static func reply(_ generator: inout SplitMix) -> Reply {
    let kinds: [RequestOutcome] =
      Int.random(in: 0..<400, using: &generator) == 0
      ? [.banned, .unauthorised, .throttled]
      : [.transient, .malformed, .empty, .notFound, .poisoned]
    let isBad = Int.random(in: 0..<8, using: &generator) == 0
    return Reply(
      milliseconds: Int64.random(in: 1...5_000, using: &generator),
      outcome: isBad ? kinds.randomElement(using: &generator) ?? .ok : .ok,
      retryAfterSeconds: Bool.random(using: &generator) ? 5 : nil)
  }

  /// An independent token bucket, on elapsed time with the forward steps in it.
  private func checkBudget(
    _ bench: Bench, _ steps: [(elapsed: Int64, microseconds: Int64)], rate: Int64, burst: Int64,
    _ seed: UInt64
  ) {
    let cost: Int64 = 60_000_000
    var level = burst * cost
    var lowest = level
    var last: Int64 = 0
    for entry in bench.requests {
      let stepped = steps.filter { $0.elapsed <= entry.elapsed }.reduce(0) { $0 + $1.microseconds }
      let steady = entry.elapsed + stepped
      level = min(burst * cost, level + (steady - last) * rate) - cost
      last = steady
      lowest = min(lowest, level)
    }
    #expect(lowest >= 0, "seed \(seed)")
  }

  /// What identifies one visit to a slot; a clock set back visits it again, and the clock is set
  /// every 3,000 s.
  private struct Visit: Hashable {
    let slot: Timestamp
    let group: UInt16
    let stretch: Int64
  }

  /// A group is swept once in a slot, and again only by its retries: two, and one for empty bodies.
  private func checkPileUp(_ bench: Bench, _ seed: UInt64) {
    let sweeps = bench.requests.filter { $0.request.purpose == .sweep }
    let visits = Dictionary(grouping: sweeps) { entry in
      Visit(
        slot: entry.request.slot, group: entry.request.group, stretch: entry.elapsed / 3_000_000_000
      )
    }
    #expect((visits.values.map(\.count).max() ?? 0) <= 4, "seed \(seed)")
  }

  /// However the clock jumps, few slots are swept in any 2.6 s of real time: a late retry of one,
  /// the next, and two more on the other side of a step. Replaying an hour would be hundreds.
  private func checkBursts(_ bench: Bench, _ seed: UInt64) {
    let sweeps = bench.requests.filter { $0.request.purpose == .sweep }
    var first = 0
    var most = 0
    for last in sweeps.indices {
      while sweeps[last].elapsed - sweeps[first].elapsed > 2_600_000 { first += 1 }
      most = max(most, Set(sweeps[first...last].map(\.request.slot)).count)
    }
    #expect(most <= 4, "seed \(seed)")
  }

  @Test(arguments: seeds)
  func `a source that bans for hours is asked once a cool-down`(_ seed: UInt64) {
    var generator = SplitMix(seed: seed)
    var bench = Bench(poller(symbols: 40, batch: 8), at: moment(9, 40))
    let good: (PollRequest, Timestamp) -> Reply = { _, _ in Reply() }
    bench.feed(.started, good)
    bench.run(untilElapsedSeconds: 60, good)
    let source: (PollRequest, Timestamp) -> Reply = { _, _ in
      let isLost = Int.random(in: 0..<4, using: &generator) == 0
      return Reply(
        milliseconds: Int64.random(in: 1...4_000, using: &generator),
        outcome: isLost ? .transient : .banned)
    }
    bench.run(untilElapsedSeconds: 20_000, source)
    let banned = bench.responses.first { $0.outcome == .banned }?.elapsed ?? 0
    let probes = bench.requests.filter { $0.elapsed > banned }
    #expect(!probes.isEmpty, "seed \(seed)")
    #expect(probes.allSatisfy { $0.request.symbols == [referenceSymbol()] }, "seed \(seed)")
    for (one, next) in zip([banned] + probes.map(\.elapsed), probes.map(\.elapsed)) {
      #expect(next - one >= 60_000_000, "seed \(seed)")
    }
  }

  @Test(arguments: seeds)
  func `the same seed and the same answers give the same actions`(_ seed: UInt64) {
    func run() -> [Poller.Action] {
      var generator = SplitMix(seed: seed)
      let source: (PollRequest, Timestamp) -> Reply = { _, _ in Self.reply(&generator) }
      var bench = Bench(poller(symbols: 40, batch: 8), at: moment(9, 0))
      bench.feed(.started, source)
      bench.run(untilElapsedSeconds: 4_000, source)
      return bench.actions
    }
    #expect(run() == run(), "seed \(seed)")
  }
}
