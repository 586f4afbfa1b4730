import Market
import TestSupport
import Testing

@testable import Polling

/// A poller that ends and another that goes on from what the first one said of its cool-downs.
@Suite struct `Cool-downs over a restart` {
  private let start = moment(10, 0)

  private func newBench(at now: Timestamp) -> Bench {
    Bench(poller(symbols: 20, batch: 6), at: now)
  }

  private func coolDowns(_ bench: Bench) -> [(at: Timestamp, coolDown: CoolDown)] {
    bench.log.compactMap { entry in
      if case .coolDown(let coolDown) = entry.action { (entry.wall, coolDown) } else { nil }
    }
  }

  /// What a start takes up, from the latest of `bench`.
  private func restarted(_ bench: Bench, at now: Timestamp) -> Bench {
    var next = newBench(at: now)
    if let (at, coolDown) = coolDowns(bench).last {
      let left = coolDown.microseconds - now.microseconds(since: at)
      let rest = CoolDown(coolDown.kind, microseconds: left, level: coolDown.level)
      _ = next.poller.restored(rest, at: now)
    }
    return next
  }

  @Test func `a ban is said once, with its time, and its end once`() {
    var bench = newBench(at: start)
    let source = { (request: PollRequest, at: Timestamp) in
      Reply(outcome: at < moment(10, 0, 30) ? .banned : .ok)
    }
    bench.feed(.started, source)
    bench.run(untilElapsedSeconds: 120, source)
    let minute = CoolDown(.banned, microseconds: 60_000_000, level: 0)
    #expect(
      coolDowns(bench).map(\.coolDown) == [minute, CoolDown(nil, microseconds: 0, level: 0)])
  }

  @Test func `a restart sends nothing for the rest of it, and then one request for one symbol`() {
    for seconds: Int64 in [0, 1, 30, 59, 60, 100] {
      var bench = newBench(at: start)
      bench.feed(.started) { _, _ in Reply(outcome: .banned) }
      bench.run(untilElapsedSeconds: 0) { _, _ in Reply(outcome: .banned) }
      bench.run(untilElapsedSeconds: 1) { _, _ in Reply(outcome: .banned) }
      let at = moment(10, 0, 1).adding(seconds: seconds)
      var next = restarted(bench, at: at)
      #expect(next.poller.refusal?.kind == .banned)
      next.feed(.started) { _, _ in Reply() }
      next.run(untilElapsedSeconds: 90) { _, _ in Reply() }
      let first = next.requests.first
      #expect(first.map { $0.wall >= moment(10, 1) } ?? false, "\(seconds)")
      #expect(first.map { $0.wall < max(moment(10, 1), at).adding(seconds: 5) } ?? false)
      #expect(next.requests.prefix(2).map(\.request.symbols.count) == [1, 6])
    }
  }

  @Test func `the next cool-down is longer, before and after a recovery`() {
    for isRecovered in [false, true] {
      var bench = newBench(at: start)
      let source = { (request: PollRequest, at: Timestamp) in
        Reply(outcome: at < moment(10, 0, 30) || !isRecovered ? .banned : .ok)
      }
      bench.feed(.started, source)
      bench.run(untilElapsedSeconds: isRecovered ? 120 : 30, source)
      var next = restarted(bench, at: moment(10, 3))
      next.feed(.started) { _, _ in Reply(outcome: .banned) }
      next.run(untilElapsedSeconds: 60) { _, _ in Reply(outcome: .banned) }
      #expect(
        coolDowns(next).map(\.coolDown) == [
          CoolDown(.banned, microseconds: 600_000_000, level: 1)
        ])
    }
  }

  @Test func `a Retry-After is kept like a ban, and added to one`() {
    var bench = newBench(at: start)
    let throttled = { (request: PollRequest, at: Timestamp) in
      Reply(outcome: .throttled, retryAfterSeconds: 300)
    }
    bench.feed(.started, throttled)
    bench.run(untilElapsedSeconds: 2, throttled)
    #expect(coolDowns(bench).last?.coolDown.kind == .throttled)
    var next = restarted(bench, at: moment(10, 1))
    next.feed(.started) { _, _ in Reply() }
    next.run(untilElapsedSeconds: 400) { _, _ in Reply() }
    let first = next.requests.first
    #expect(first.map { (moment(10, 5)...moment(10, 5, 5)).contains($0.wall) } ?? false)

    var banned = newBench(at: start)
    banned.feed(.started) { _, _ in Reply(outcome: .banned, retryAfterSeconds: 300) }
    banned.run(untilElapsedSeconds: 2) { _, _ in Reply(outcome: .banned, retryAfterSeconds: 300) }
    let coolDown = coolDowns(banned).last?.coolDown
    #expect(coolDown == CoolDown(.banned, microseconds: 300_000_000, level: 0))
  }

  @Test func `a short wait is not kept`() {
    var bench = newBench(at: start)
    let source = { (request: PollRequest, at: Timestamp) in
      Reply(outcome: .transient, retryAfterSeconds: 5)
    }
    bench.feed(.started, source)
    bench.run(untilElapsedSeconds: 60, source)
    #expect(coolDowns(bench).isEmpty)
  }

  @Test func `through random bans and restarts no request is inside a cool-down`() {
    for seed: UInt64 in 1...60 {
      var random = SplitMix(seed: seed)
      let bans = (0..<4).map { _ in
        let from = Int64.random(in: 0...3_000, using: &random)
        return from..<(from + Int64.random(in: 5...1_500, using: &random))
      }
      let source = { (request: PollRequest, at: Timestamp) in
        let second = at.microseconds(since: start) / 1_000_000
        return Reply(
          milliseconds: 0, outcome: bans.contains { $0.contains(second) } ? .banned : .ok)
      }
      var (now, bench) = (start, newBench(at: start))
      var verifier = CoolDownModel()
      while now < moment(11, 20) {
        bench.feed(.started, source)
        bench.run(untilElapsedSeconds: .random(in: 1...400, using: &random), source)
        for (_, wall, request) in bench.requests {
          let isRefused = source(request, wall).outcome == .banned
          let isAllowed = verifier.asked(
            at: wall, symbols: request.symbols.count, isRefused: isRefused)
          #expect(isAllowed, "seed \(seed) at \(wall)")
        }
        now = bench.now.adding(seconds: .random(in: 0...30, using: &random))
        let last = coolDowns(bench).last
        // What the process before said holds until there is something new.
        let before = verifier.latest
        verifier.latest = last ?? before
        bench = newBench(at: now)
        if let (at, coolDown) = verifier.latest {
          let left = coolDown.microseconds - now.microseconds(since: at)
          _ = bench.poller.restored(
            CoolDown(coolDown.kind, microseconds: left, level: coolDown.level), at: now)
        }
      }
    }
  }
}

/// Which requests are allowed, by the rule alone: after a refusal nothing for 1, 10, 60 minutes,
/// then one symbol.
private struct CoolDownModel {
  var latest: (at: Timestamp, coolDown: CoolDown)?
  private var refusedAt: Timestamp?
  private var level = 0
  private var closedAt: Timestamp?

  private static let seconds: [Int64] = [60, 600, 3_600]

  mutating func asked(at moment: Timestamp, symbols: Int, isRefused: Bool) -> Bool {
    defer { followed(at: moment, isRefused: isRefused) }
    guard let refusedAt, refusedAt != moment else { return true }
    return moment >= refusedAt.adding(seconds: Self.seconds[level]) && symbols == 1
  }

  private mutating func followed(at moment: Timestamp, isRefused: Bool) {
    if refusedAt == moment { return }
    guard isRefused else {
      if refusedAt != nil { closedAt = moment }
      refusedAt = nil
      return
    }
    let isRelapse = closedAt.map { moment < $0.adding(seconds: 3_600) } ?? false
    level = refusedAt != nil || isRelapse ? min(level + 1, 2) : 0
    refusedAt = moment
  }
}
