import Market
import Testing

@testable import Polling

@Suite struct PollerFaultTests {
  /// A bench one second before a slot, with every answer ok until the test says otherwise.
  private func started(_ poller: Poller) -> Bench {
    var bench = Bench(poller, at: moment(10, 0, 2))
    bench.feed(.started) { _, _ in Reply() }
    return bench
  }

  private func conditions(_ bench: Bench) -> [SourceState.Condition] {
    bench.actions.compactMap { action in
      if case .health(let state) = action { return state.condition }
      return nil
    }
  }

  private func isPoisoned(_ request: PollRequest, _ bad: Symbol) -> Bool {
    request.symbols.contains(bad)
  }

  private func lastSymbols(_ bench: Bench, _ matches: (PollRequest) -> Bool) -> [Symbol] {
    bench.requests.map(\.request).filter(matches).last?.symbols ?? []
  }

  @Test func `an empty body is asked for once more, at once`() {
    var poller = poller(symbols: 1)
    _ = poller.received(.started, at: moment(10, 0, 1, 500))
    let again = poller.received(
      .answered(PollRequestID(1), .empty, retryAfterSeconds: nil), at: moment(10, 0, 1, 600))
    #expect(again.requests.map(\.id.number) == [2])
    let third = poller.received(
      .answered(PollRequestID(2), .empty, retryAfterSeconds: nil), at: moment(10, 0, 1, 700))
    #expect(third.requests.isEmpty)
  }

  @Test func `a failed batch is asked again within its slot, twice at most`() {
    var bench = started(poller(symbols: 1) { $0.retryMilliseconds = 1 })
    bench.run(untilElapsedSeconds: 4) { _, _ in Reply(milliseconds: 10, outcome: .transient) }
    let slot = bench.requests.filter { $0.request.slot == moment(10, 0, 3) }
    #expect(slot.count == 3)
    #expect(
      bench.actions.contains(.sweepCompleted(slot: moment(10, 0, 3), answered: 0, failed: 1)))
  }

  @Test func `a failure too late in the slot waits for the next`() {
    var bench = started(poller(symbols: 1) { $0.retryMilliseconds = 30_000 })
    bench.run(untilElapsedSeconds: 4) { _, _ in Reply(milliseconds: 2_990, outcome: .transient) }
    bench.run(untilElapsedSeconds: 6) { _, _ in Reply() }
    #expect(Set(bench.requests.map(\.request.slot)).count == bench.requests.count)
  }

  @Test func `a throttled source is left alone for as long as it asks`() {
    var bench = started(poller(symbols: 4, batch: 3))
    bench.run(untilElapsedSeconds: 3) { _, _ in
      Reply(outcome: .throttled, retryAfterSeconds: 20)
    }
    bench.run(untilElapsedSeconds: 60) { _, _ in Reply() }
    let times = bench.requests.map(\.elapsed)
    let refused = times.filter { $0 < 3_000_000 }
    let after = times.filter { $0 >= 3_000_000 }
    #expect(refused.count == 4)
    #expect((after.first ?? 0) >= 2_200_000 + 20_000_000)
    #expect(conditions(bench).last == .ok)
  }

  @Test(arguments: [RequestOutcome.transient, .malformed, .notFound, .banned, .unauthorised])
  func `whatever its answer, a source that names a time is not asked before`(
    _ outcome: RequestOutcome
  ) {
    var bench = started(poller(symbols: 4, batch: 3))
    bench.run(untilElapsedSeconds: 3) { _, _ in Reply(outcome: outcome, retryAfterSeconds: 900) }
    let before = bench.requests.count
    bench.run(untilElapsedSeconds: 880) { _, _ in Reply() }
    #expect(bench.requests.count == before && before > 0)
    bench.run(untilElapsedSeconds: 1_000) { _, _ in Reply() }
    #expect(bench.requests.count > before)
    #expect(conditions(bench).last == .ok)
  }

  @Test func `a good answer that names a time changes nothing`() {
    var bench = started(poller(symbols: 4, batch: 3))
    bench.run(untilElapsedSeconds: 30) { _, _ in Reply(retryAfterSeconds: 900) }
    #expect(Set(bench.requests.map(\.request.slot)).count >= 10)
  }

  @Test func `a banned source gets one request for one symbol a cool-down`() {
    var bench = started(poller(symbols: 10, batch: 3))
    bench.run(untilElapsedSeconds: 3) { _, _ in Reply(outcome: .banned) }
    let before = bench.requests.count
    bench.run(untilElapsedSeconds: 5_000) { _, _ in Reply(outcome: .banned) }
    let probes = bench.requests.dropFirst(before)
    #expect(probes.allSatisfy { $0.request.symbols == [referenceSymbol()] })
    #expect(probes.count == 3)
    let banned = bench.responses.first { $0.outcome == .banned }?.elapsed ?? 0
    let gaps = zip([banned] + probes.map(\.elapsed), probes.map(\.elapsed)).map { $1 - $0 }
    #expect(zip(gaps, [60, 600, 3_600]).allSatisfy { $0 >= $1 * 1_000_000 })
    #expect(conditions(bench) == [.ok, .banned])
  }

  @Test func `a probe that is throttled says when the next one may come`() {
    var bench = started(poller(symbols: 10, batch: 3))
    bench.run(untilElapsedSeconds: 3) { _, _ in Reply(outcome: .banned) }
    let before = bench.requests.count
    bench.run(untilElapsedSeconds: 120) { _, _ in
      Reply(outcome: .throttled, retryAfterSeconds: 1_800)
    }
    #expect(bench.requests.count == before + 1)
    bench.run(untilElapsedSeconds: 1_800) { _, _ in Reply() }
    #expect(bench.requests.count == before + 1)
    bench.run(untilElapsedSeconds: 2_000) { _, _ in Reply() }
    #expect(bench.requests.count > before + 1)
    #expect(conditions(bench).last == .ok)
  }

  @Test func `a good probe brings the whole sweep back at the next slot`() {
    var bench = started(poller(symbols: 10, batch: 3))
    bench.run(untilElapsedSeconds: 3) { _, _ in Reply(outcome: .unauthorised) }
    bench.run(untilElapsedSeconds: 75) { _, _ in Reply() }
    #expect(conditions(bench) == [.ok, .unauthorised, .ok])
    #expect(bench.requests.suffix(5).map(\.request.group) == [0, 1, 2, 3, 4])
  }

  @Test func `a silent source stalls and is asked by one batch a slot until it answers`() {
    var bench = started(poller(symbols: 4, batch: 3))
    bench.run(untilElapsedSeconds: 45) { _, _ in Reply(milliseconds: 2_000, outcome: .transient) }
    #expect(conditions(bench) == [.ok, .degraded, .stalled])
    let late = Dictionary(grouping: bench.requests.suffix(8), by: \.request.slot)
    #expect(late.values.allSatisfy { $0.count == 1 })
    #expect(Set(bench.requests.suffix(8).map(\.request.group)) == [0, 1])
    bench.run(untilElapsedSeconds: 54) { _, _ in Reply() }
    #expect(conditions(bench).last == .ok)
  }

  @Test func `a poisoned batch is bisected, its token quarantined and the rest polled on`() {
    let bad = symbols(799)[321]
    var bench = started(poller(symbols: 1_598))
    let source: (PollRequest, Timestamp) -> Reply = { request, _ in
      Reply(milliseconds: 20, outcome: self.isPoisoned(request, bad) ? .poisoned : .ok)
    }
    bench.run(untilElapsedSeconds: 30, source)
    #expect(bench.actions.filter { $0 == .quarantined(bad) }.count == 1)
    let full = bench.requests.filter { $0.request.symbols.count == 800 && $0.request.group == 0 }
    #expect(full.count == 2)
    let search = bench.requests.filter { $0.request.symbols.count < 799 }
    #expect(search.count <= 21)
    let last = lastSymbols(bench) { $0.group == 0 }
    #expect(last.count == 799 && !last.contains(bad))
    let neighbour = bench.requests.filter { $0.request.group == 1 }
    #expect(Set(neighbour.map(\.request.slot)).count == 11)
    #expect(conditions(bench) == [.ok, .degraded, .ok])
  }

  @Test func `while a search waits, what is not suspect is polled on`() {
    let bad = symbols(8)[7]
    var bench = started(poller(symbols: 8))
    bench.run(untilElapsedSeconds: 9) { request, _ in
      guard request.symbols.count < 9 else { return Reply(outcome: .poisoned) }
      return Reply(milliseconds: 2_500, outcome: self.isPoisoned(request, bad) ? .poisoned : .ok)
    }
    let last = lastSymbols(bench) { $0.slot == moment(10, 0, 9) }
    #expect(last.starts(with: [referenceSymbol()] + symbols(4)))
    #expect(!last.contains(bad))
  }

  @Test func `new symbols give a quarantined one another chance`() {
    let bad = symbols(4)[2]
    var bench = started(poller(symbols: 4))
    bench.run(untilElapsedSeconds: 6) { request, _ in
      Reply(outcome: self.isPoisoned(request, bad) ? .poisoned : .ok)
    }
    #expect(bench.requests.last?.request.symbols.contains(bad) == false)
    bench.feed(.symbolsChanged(symbols(5))) { _, _ in Reply() }
    bench.run(untilElapsedSeconds: 9) { _, _ in Reply() }
    #expect(bench.requests.last?.request.symbols == [referenceSymbol()] + symbols(5))
  }

  @Test func `a source that refuses even the reference symbol is not bisected`() {
    var bench = started(poller(symbols: 799))
    bench.run(untilElapsedSeconds: 30) { _, _ in Reply(outcome: .poisoned) }
    #expect(bench.requests.count == 3)
    #expect(conditions(bench) == [.ok, .degraded, .unauthorised])
    #expect(
      !bench.actions.contains { action in
        if case .quarantined = action { return true }
        return false
      })
  }

  @Test func `a request whose answer is lost frees its group`() {
    var poller = poller(symbols: 1)
    _ = poller.received(.started, at: moment(10, 0, 1, 500))
    #expect(poller.received(.woke, at: moment(10, 0, 4, 200)).requests.isEmpty)
    #expect(poller.received(.woke, at: moment(10, 0, 7, 200)).requests.isEmpty)
    #expect(poller.received(.woke, at: moment(10, 0, 10, 200)).requests.isEmpty)
    #expect(poller.received(.woke, at: moment(10, 0, 13, 200)).requests.count == 1)
  }

  @Test func `a sweep larger than the budget goes out as the budget allows`() {
    var bench = started(
      poller(symbols: 20, batch: 3) {
        $0.requestsBurst = 4
        $0.requestsPerMinute = 60
      })
    bench.run(untilElapsedSeconds: 60) { _, _ in Reply() }
    let groups = Dictionary(grouping: bench.requests, by: \.request.group).mapValues(\.count)
    #expect(groups.count == 10)
    #expect(bench.requests.count <= 64)
    #expect((groups.values.max() ?? 0) - (groups.values.min() ?? 0) <= 1)
  }
}
