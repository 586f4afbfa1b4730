import Market
import TestSupport
import Testing

@testable import Polling

@Suite struct PollerReconfiguredTests {
  private static let seeds = (0..<4).map { _ in UInt64.random(in: .min ... .max) }

  /// Two requests at a time: whole batches wait for their turn now and then.
  private func bench(seed: UInt64, at start: Timestamp) -> Bench {
    Bench(
      poller(
        symbols: 20, batch: 8, schedule: schedule(spreadMilliseconds: 300, seed: seed)
      ) { $0.inFlightMax = 2 }, at: start)
  }

  @Test(arguments: Self.seeds)
  func `no slot is missed and none is asked twice, however often it is reconfigured`(
    _ seed: UInt64
  ) {
    var bench = bench(seed: seed, at: moment(9, 31))
    var generator = SplitMix64(seed: seed)
    let source: (PollRequest, Timestamp) -> Reply = { request, _ in
      Reply(milliseconds: 1 + Int64(request.id.number % 700))
    }
    bench.feed(.started, source)
    let schedule = bench.poller.schedule
    var second: Int64 = 0
    for _ in 0..<100 {
      second += Int64.random(in: 1...9, using: &generator)
      bench.run(untilElapsedSeconds: second, source)
      // Always three groups: a few come, a few go.
      let count = Int.random(in: 15...21, using: &generator)
      bench.reconfigure(schedule: schedule, symbols: symbols(count), source) {
        $0.deadlineMilliseconds = 1_000 + count
        $0.requestsPerMinute = 200 + count
      }
    }
    bench.run(untilElapsedSeconds: second + 9, source)
    var asked: [Timestamp: [UInt16]] = [:]
    for entry in bench.requests {
      asked[entry.request.slot, default: []].append(entry.request.group)
    }
    let last = moment(9, 31).adding(seconds: second)
    let slots = asked.filter { $0.key < last }
    #expect(slots.count >= Int(second) / 3, "seed \(seed)")
    #expect(slots.values.allSatisfy { $0.sorted() == [0, 1, 2] }, "seed \(seed)")
    let failed = bench.actions.filter { action in
      if case .sweepCompleted(_, _, let failed) = action { return failed > 0 }
      return false
    }
    #expect(failed.isEmpty, "seed \(seed)")
  }

  @Test func `new symbols join and removed ones leave with the next slot`() {
    var bench = bench(seed: 1, at: moment(10, 0))
    let source: (PollRequest, Timestamp) -> Reply = { _, _ in Reply() }
    bench.feed(.started, source)
    bench.run(untilElapsedSeconds: 10, source)
    let before = Set(symbols(20))
    let after = symbols(25).filter { $0 != symbols(3)[2] }
    bench.reconfigure(schedule: bench.poller.schedule, symbols: after, source)
    #expect(bench.poller.symbols == after)
    bench.run(untilElapsedSeconds: 20, source)
    let early = bench.requests.filter { $0.elapsed < 10_000_000 }.flatMap(\.request.symbols)
    let late = bench.requests.filter { $0.elapsed > 13_500_000 }.flatMap(\.request.symbols)
    #expect(Set(early) == before.union([referenceSymbol()]))
    #expect(Set(late) == Set(after).union([referenceSymbol()]))
  }

  @Test func `what waits for the slot in force is asked for as the slot began`() {
    var bench = bench(seed: 1, at: moment(10, 0, 1, 600))
    // Two at a time, each for a second: the third group waits.
    let source: (PollRequest, Timestamp) -> Reply = { _, _ in Reply(milliseconds: 1_000) }
    bench.feed(.started, source)
    #expect(bench.requests.count == 2)
    bench.reconfigure(schedule: bench.poller.schedule, symbols: symbols(2), source)
    bench.run(untilElapsedSeconds: 2, source)
    #expect(bench.requests.map(\.request.group).sorted() == [0, 1, 2])
    #expect(
      Set(bench.requests.flatMap(\.request.symbols)) == Set(symbols(20) + [referenceSymbol()]))
  }

  @Test func `a new list leaves the slot in force whole`() {
    var bench = bench(seed: 1, at: moment(10, 0, 1, 600))
    // Two at a time, each for a second: the third group waits.
    let source: (PollRequest, Timestamp) -> Reply = { _, _ in Reply(milliseconds: 1_000) }
    bench.feed(.started, source)
    #expect(bench.requests.count == 2)
    bench.feed(.symbolsChanged(symbols(25)), source)
    bench.run(untilElapsedSeconds: 2, source)
    #expect(
      Set(bench.requests.flatMap(\.request.symbols)) == Set(symbols(20) + [referenceSymbol()]))
    #expect(
      bench.actions.contains(.sweepCompleted(slot: moment(10, 0), answered: 3, failed: 0)))
    bench.run(untilElapsedSeconds: 6, source)
    let late = bench.requests.filter { $0.elapsed > 2_000_000 }.flatMap(\.request.symbols)
    #expect(Set(late) == Set(symbols(25) + [referenceSymbol()]))
  }

  @Test func `who is quarantined is among those polled, whatever list comes`() {
    let bad = symbols(4)[2]
    var bench = Bench(poller(symbols: 4), at: moment(10, 0))
    let source: (PollRequest, Timestamp) -> Reply = { request, _ in
      Reply(outcome: request.symbols.contains(bad) ? .poisoned : .ok)
    }
    bench.feed(.started, source)
    bench.run(untilElapsedSeconds: 10, source)
    #expect(bench.poller.quarantined == [bad])
    bench.reconfigure(schedule: bench.poller.schedule, symbols: symbols(3), source)
    bench.run(untilElapsedSeconds: 20, source)
    #expect(bench.poller.quarantined == [bad])
    bench.feed(.symbolsChanged(symbols(2)), source)
    bench.run(untilElapsedSeconds: 30, source)
    #expect(bench.poller.quarantined == [])
  }

  @Test func `another size of batch divides the symbols anew`() {
    var bench = bench(seed: 1, at: moment(10, 0))
    let source: (PollRequest, Timestamp) -> Reply = { _, _ in Reply() }
    bench.feed(.started, source)
    bench.run(untilElapsedSeconds: 10, source)
    bench.reconfigure(schedule: bench.poller.schedule, symbols: symbols(20), source) {
      $0.batchSymbolsMax = 800
    }
    bench.run(untilElapsedSeconds: 20, source)
    let late = bench.requests.filter { $0.elapsed > 13_500_000 }
    #expect(!late.isEmpty && late.allSatisfy { $0.request.symbols.count == 21 })
  }

  @Test(arguments: [(3, 6), (6, 3), (3, 1), (1, 5)])
  func `another cadence holds from the next slot on, on its own grid`(_ from: Int, _ to: Int) {
    func cadence(_ seconds: Int) -> PollSchedule {
      PollSchedule(
        windows: PollWindow.aShare(every: seconds), phaseMilliseconds: 400,
        spreadMilliseconds: 0, seed: 1
      ) { !$0.isWeekend }
    }
    var bench = Bench(poller(symbols: 3, schedule: cadence(from)), at: moment(10, 0))
    let source: (PollRequest, Timestamp) -> Reply = { _, _ in Reply() }
    bench.feed(.started, source)
    bench.run(untilElapsedSeconds: 61, source)
    bench.reconfigure(schedule: cadence(to), symbols: symbols(3), source)
    bench.run(untilElapsedSeconds: 120, source)
    let slots = bench.requests.map(\.request.slot)
    #expect(Set(slots).count == slots.count)
    let late = slots.filter { $0 > moment(10, 1, 10) }
    #expect(late.allSatisfy { $0.seconds % Int64(to) == 0 })
    let steps = zip(slots, slots.dropFirst()).map { $1.seconds - $0.seconds }
    #expect(steps.allSatisfy { $0 <= Int64(max(from, to)) })
  }

  @Test func `a smaller budget holds at once`() {
    var budget = RateBudget(requestsPerMinute: 600, burst: 2)
    let start = moment(10, 0)
    #expect(budget.take(at: start) && budget.take(at: start) && !budget.take(at: start))
    budget.change(requestsPerMinute: 60, at: start)
    #expect(budget.availableAt(start) == start.adding(seconds: 1))
  }

  @Test func `a ban is not forgotten`() {
    var bench = bench(seed: 1, at: moment(10, 0))
    let source: (PollRequest, Timestamp) -> Reply = { _, _ in Reply(outcome: .banned) }
    bench.feed(.started, source)
    bench.run(untilElapsedSeconds: 1, source)
    let asked = bench.requests.count
    bench.reconfigure(schedule: bench.poller.schedule, symbols: symbols(9), source) {
      $0.requestsPerMinute = 600
    }
    bench.run(untilElapsedSeconds: 55, source)
    #expect(bench.requests.count == asked)
  }
}
