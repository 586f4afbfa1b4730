import Market
import TestSupport
import Testing

@testable import Polling

private let sources = [Source(rawValue: 1), Source(rawValue: 2), Source(rawValue: 3)]

/// Sources that answer on order, asked as their pollers would: the serving one every 3 s, a probed
/// one every 30 s, none inside its cool-down.
struct SourceBench {
  enum Fault: CaseIterable { case banned, silent, still }

  var failover: Failover
  var now = moment(10, 0)
  let start = moment(10, 0)
  /// By source: the seconds since the start, and what is wrong in them.
  var faults: [Source: [(seconds: Range<Int64>, fault: Fault)]] = [:]
  var changes: [(second: Int64, change: Failover.Change)] = []
  var requests: [(second: Int64, source: Source)] = []
  var isInSession = true
  private var coolUntil: [Source: Int64] = [:]
  private var probedAt: [Source: Int64] = [:]
  private var roles: [Source: Poller.Role] = [:]

  static let coolSeconds: Int64 = 60

  init(_ count: Int) {
    failover = Failover(Array(sources.prefix(count)), milliseconds: 12_000, at: start)
  }

  var second: Int64 { now.microseconds(since: start) / 1_000_000 }

  func fault(of source: Source) -> Fault? {
    (faults[source] ?? []).last { $0.seconds.contains(second) }?.fault
  }

  func isWell(_ source: Source) -> Bool {
    fault(of: source) == nil && second >= coolUntil[source] ?? 0
  }

  mutating func run(to end: Int64, check: (Self) -> Void = { _ in }) {
    while second < end {
      now = now.adding(seconds: 1)
      if let wake = failover.wake, wake <= now { feed(.woke) }
      for source in failover.sources {
        let role = failover.role(of: source)
        let isDue = second >= (probedAt[source] ?? 0) + 30
        let isDueAtOnce = role == .compared && roles[source] != .compared
        roles[source] = role
        switch role {
        case .serving where second % 3 == 0: ask(source)
        case .probed where isDue, .compared where isDue || isDueAtOnce:
          probedAt[source] = second
          ask(source)
        default: break
        }
      }
      check(self)
    }
  }

  private mutating func ask(_ source: Source) {
    guard second >= coolUntil[source] ?? 0 else { return }
    requests.append((second, source))
    feed(.asked(source, batch: 0, of: 1))
    switch fault(of: source) {
    case nil: feed(.answered(source, batch: 0, through: now))
    case .silent: feed(.failed(source))
    case .still:
      let from = (faults[source] ?? []).last { $0.seconds.contains(second) }?.seconds.lowerBound
      feed(.answered(source, batch: 0, through: start.adding(seconds: from ?? 0)))
    case .banned:
      coolUntil[source] = second + Self.coolSeconds
      feed(
        .refused(
          source, Poller.Refusal(.banned, microseconds: Self.coolSeconds * 1_000_000)))
    }
  }

  private mutating func feed(_ event: Failover.Event) {
    guard let change = failover.received(event, at: now, isInSession: isInSession) else { return }
    changes.append((second, change))
    probedAt[change.from] = second
    ask(change.to)
  }
}

@Suite struct FailoverTests {
  private func bench(
    _ count: Int = 2, _ faults: [Source: [(seconds: Range<Int64>, fault: SourceBench.Fault)]] = [:]
  ) -> SourceBench {
    var bench = SourceBench(count)
    bench.faults = faults
    return bench
  }

  @Test func `the first serves, and the second is not requested while the first does well`() {
    var bench = bench()
    bench.run(to: 600)
    #expect(bench.changes.isEmpty && bench.requests.allSatisfy { $0.source == sources[0] })
  }

  @Test func `a ban makes the second serve at once, and the first again when it is sound`() {
    var bench = bench(2, [sources[0]: [(100..<200, .banned)]])
    bench.run(to: 900)
    #expect(bench.changes.map(\.change.to) == [sources[1], sources[0]])
    #expect(bench.changes[0].second == 102)
    #expect(bench.changes[0].change.reason == .refused(.banned))
    #expect(bench.changes[1].change.reason == .sound)
    // The last refusal is at 162; the probe at 222 is good, and so are ten more.
    #expect((522...560).contains(bench.changes[1].second))
    let probes = bench.requests.filter {
      $0.source == sources[0] && $0.second > 102 && $0.second < bench.changes[1].second
    }
    #expect((11...14).contains(probes.count))
    #expect(zip(probes, probes.dropFirst()).allSatisfy { $1.second - $0.second >= 30 })
  }

  @Test(arguments: [SourceBench.Fault.silent, .still])
  func `a fault lets the second serve within 12 s of the last good answer`(
    _ fault: SourceBench.Fault
  ) {
    var bench = bench(2, [sources[0]: [(100..<200, fault)]])
    bench.run(to: 700)
    #expect(bench.changes.map(\.change.to) == [sources[1], sources[0]])
    #expect((108...114).contains(bench.changes[0].second))
    #expect((470...560).contains(bench.changes[1].second))
  }

  @Test(arguments: 200..<230 as Range<Int64>)
  func `the second is left as soon, whenever the first was probed`(_ stall: Int64) {
    var bench = bench(
      2, [sources[0]: [(100..<110, .banned)], sources[1]: [(stall..<stall + 90, .still)]])
    bench.run(to: stall + 60)
    #expect(bench.changes.map(\.change.to) == [sources[1], sources[0]])
    let left = bench.changes.last?.second ?? 0
    #expect((stall + 9...stall + 15).contains(left), "\(left - stall)")
  }

  @Test func `a source that is asked once a minute is not silent between two requests`() {
    var failover = Failover([sources[0], sources[1]], milliseconds: 12_000, at: moment(9, 0))
    for minute in 0..<5 {
      let asked = moment(9, minute)
      #expect(
        failover.received(.asked(sources[0], batch: 0, of: 1), at: asked, isInSession: false) == nil
      )
      #expect(failover.received(.woke, at: asked.adding(seconds: 1), isInSession: false) == nil)
      let answer = Failover.Event.answered(sources[0], batch: 0, through: nil)
      #expect(failover.received(answer, at: asked.adding(seconds: 2), isInSession: false) == nil)
    }
    let asked = moment(9, 5)
    _ = failover.received(.asked(sources[0], batch: 0, of: 1), at: asked, isInSession: false)
    #expect(failover.wake == asked.adding(seconds: 9))
    let change = failover.received(.woke, at: asked.adding(seconds: 9), isInSession: false)
    #expect(change?.to == sources[1])
  }

  @Test func `where the exchange stands still no source is left for another`() {
    let still: [(seconds: Range<Int64>, fault: SourceBench.Fault)] = [(100..<14_000, .still)]
    var bench = bench(2, [sources[0]: still, sources[1]: still])
    bench.run(to: 14_000)
    #expect(bench.changes.isEmpty, "\(bench.changes.map(\.second))")
    // The other one is probed meanwhile, should it move first.
    #expect(bench.requests.count { $0.source == sources[1] } > 400)
  }

  @Test func `who moves first after a standstill serves at once, however long it was`() {
    var bench = bench(
      2, [sources[0]: [(100..<20_000, .still)], sources[1]: [(100..<9_000, .still)]])
    bench.run(to: 9_060)
    #expect(bench.failover.serving == sources[1])
  }

  @Test func `out of session stamps may stand still`() {
    var bench = bench(2, [sources[0]: [(100..<3_700, .still)]])
    bench.isInSession = false
    bench.run(to: 3_000)
    #expect(bench.changes.isEmpty)
  }

  @Test func `where both refuse, the first whose probe is good serves`() {
    var bench = bench(
      2, [sources[0]: [(100..<900, .banned)], sources[1]: [(90..<400, .banned)]])
    bench.run(to: 800)
    #expect(bench.failover.serving == sources[1])
    let refused = bench.requests.filter {
      bench.faults[$0.source]?[0].seconds.contains($0.second) ?? false
    }
    for source in sources.prefix(2) {
      let seconds = refused.filter { $0.source == source }.map(\.second)
      #expect(zip(seconds, seconds.dropFirst()).allSatisfy { $1 - $0 >= SourceBench.coolSeconds })
    }
  }

  @Test func `a clock that is set makes nobody silent`() {
    var failover = Failover([sources[0], sources[1]], milliseconds: 12_000, at: moment(10, 0))
    _ = failover.received(
      .answered(sources[0], batch: 0, through: nil), at: moment(10, 0), isInSession: true)
    _ = failover.received(
      .asked(sources[0], batch: 0, of: 1), at: moment(10, 0, 3), isInSession: true)
    let jump = Failover.Event.clockJumped(microseconds: 3_600_000_000)
    #expect(failover.received(jump, at: moment(11, 0, 4), isInSession: true) == nil)
    #expect(failover.received(.woke, at: moment(11, 0, 5), isInSession: true) == nil)
    #expect(failover.received(.woke, at: moment(11, 0, 12), isInSession: true)?.to == sources[1])
  }

  @Test func `other sources leave the one that serves, if it is among them`() {
    var failover = Failover(sources, milliseconds: 12_000, at: moment(10, 0))
    let order = [sources[1], sources[0]]
    #expect(failover.reconfigured(order, milliseconds: 9_000, at: moment(10, 1)) == nil)
    #expect(failover.role(of: sources[1]) == .probed && failover.role(of: sources[2]) == .resting)
    let change = failover.reconfigured([sources[2]], milliseconds: 9_000, at: moment(10, 2))
    #expect(change?.to == sources[2] && change?.reason == .reconfigured)
    #expect(failover.role(of: sources[0]) == .resting)
  }

  @Test func `through random outages a source that works serves soon, and the first in the end`() {
    for seed: UInt64 in 1...150 {
      var random = SplitMix(seed: seed)
      let count = Int.random(in: 2...3, using: &random)
      var bench = SourceBench(count)
      for source in sources.prefix(count) {
        for _ in 0..<Int.random(in: 0...6, using: &random) {
          let from = Int64.random(in: 10...6_000, using: &random)
          let length = Int64.random(in: 5...900, using: &random)
          let fault = SourceBench.Fault.allCases.randomElement(using: &random) ?? .silent
          bench.faults[source, default: []].append((from..<(from + length), fault))
        }
      }
      var servedWellAt: Int64 = 0
      var wellSince: [Source: Int64] = [:]
      bench.run(to: 7_200) { bench in
        for source in bench.failover.sources {
          wellSince[source] = bench.isWell(source) ? wellSince[source] ?? bench.second : nil
        }
        if bench.isWell(bench.failover.serving) { servedWellAt = bench.second }
        let limit = bench.second - 75
        let isBetter = wellSince.values.contains { $0 <= limit } && servedWellAt < limit
        #expect(!isBetter, "seed \(seed): a source that works does not serve at \(bench.second)")
        if let since = wellSince[sources[0]], since <= bench.second - 400 {
          #expect(
            bench.failover.serving == sources[0], "seed \(seed): not back at \(bench.second)")
        }
      }
      #expect(bench.changes.count <= 100, "seed \(seed)")
    }
  }
}
