import Market
import TestSupport
import Testing

@testable import Polling

@Suite struct PacedQueuePropertyTests {
  private static let seeds = (0..<4).map { _ in UInt64.random(in: .min ... .max) }
  private static let deadlineMicroseconds: Int64 = 15_000_000
  private static let lostMicroseconds: Int64 = 20_000_000

  /// Five days of jobs, then two without faults in which everything must end.
  private static func days(_ seed: UInt64) -> (bench: PacedBench, jobs: Int) {
    var generator = SplitMix(seed: seed)
    var bench = PacedBench(pacedQueue(perMinute: 30, burst: 5, inFlight: 3))
    var jobs = 0
    for round in 1...1_440 {
      let wanted = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
        // Some are wanted again while they wait.
        let isNew = jobs == 0 || Int.random(in: 0..<8, using: &generator) > 0
        jobs += isNew ? 1 : 0
        return PacedJob(
          isNew ? jobs : Int.random(in: 1...jobs, using: &generator),
          priority: Int.random(in: 0...2, using: &generator))
      }
      bench.feed(.enqueued(wanted)) { _, now in reply(&generator, now) }
      if Int.random(in: 0..<10, using: &generator) == 0, jobs > 0 {
        let job = Int.random(in: 1...jobs, using: &generator)
        bench.feed(.withdrawn([job])) { _, now in reply(&generator, now) }
      }
      if Int.random(in: 0..<50, using: &generator) == 0 {
        bench.stepClock(seconds: -Int64.random(in: 1...4_000, using: &generator))
      }
      bench.run(untilElapsedSeconds: Int64(round) * 300) { _, now in reply(&generator, now) }
    }
    bench.run(untilElapsedSeconds: 600_000)
    return (bench, jobs)
  }

  private static func reply(_ generator: inout SplitMix, _ now: Timestamp) -> PacedReply {
    let outcome: RequestOutcome =
      switch Int.random(in: 0..<400, using: &generator) {
      case 0: .banned
      case 1...4: .throttled
      case 5...50: .transient
      case 51...60: .failed
      case 61...65: .postponed(until: now.adding(seconds: 30))
      default: .ok
      }
    let isLost = Int.random(in: 0..<50, using: &generator) == 0
    return PacedReply(
      milliseconds: isLost ? nil : Int64.random(in: 1...15_000, using: &generator),
      outcome: outcome, retryAfterSeconds: Bool.random(using: &generator) ? 5 : nil)
  }

  @Test(arguments: seeds)
  func `under random faults and clock steps no bound is crossed and every job ends once`(
    _ seed: UInt64
  ) {
    let (bench, jobs) = Self.days(seed)
    #expect(bench.sent.count > 1_000, "seed \(seed)")
    checkBudget(bench, rate: 30, burst: 5, seed)
    checkInFlight(bench, max: 3, seed)
    checkBans(bench, seed)
    checkEnds(bench, jobs, seed)
  }

  @Test(arguments: seeds)
  func `the same seed and the same answers give the same actions`(_ seed: UInt64) {
    #expect(Self.days(seed).bench.actions == Self.days(seed).bench.actions, "seed \(seed)")
  }

  /// An independent token bucket, on elapsed time.
  private func checkBudget(_ bench: PacedBench, rate: Int64, burst: Int64, _ seed: UInt64) {
    let cost: Int64 = 60_000_000
    var level = burst * cost
    var last: Int64 = 0
    var lowest = level
    for sent in bench.sent {
      level = min(burst * cost, level + (sent.elapsed - last) * rate) - cost
      last = sent.elapsed
      lowest = min(lowest, level)
    }
    #expect(lowest >= 0, "seed \(seed)")
  }

  /// When each request ended: answered, or given up as lost.
  private func ends(_ bench: PacedBench) -> [PollRequestID: Int64] {
    var ends = Dictionary(
      uniqueKeysWithValues: bench.sent.map { ($0.id, $0.elapsed + Self.lostMicroseconds) })
    for response in bench.responses { ends[response.id] = response.elapsed }
    return ends
  }

  private func checkInFlight(_ bench: PacedBench, max bound: Int, _ seed: UInt64) {
    let ends = ends(bench)
    var most = 0
    var twice = 0
    for (index, sent) in bench.sent.enumerated() {
      let earlier = bench.sent[..<index].suffix(200).filter {
        ends[$0.id, default: 0] > sent.elapsed
      }
      most = max(most, earlier.count + 1)
      twice += earlier.contains { $0.job == sent.job } ? 1 : 0
    }
    #expect(most <= bound, "seed \(seed)")
    #expect(twice == 0, "seed \(seed)")
  }

  /// A breaker of its own: in a cool-down of at least a minute nothing, then one until it is over.
  private func checkBans(_ bench: PacedBench, _ seed: UInt64) {
    enum Moment {
      case sent
      case ended(RequestOutcome)
    }
    let outcomes = Dictionary(uniqueKeysWithValues: bench.responses.map { ($0.id, $0.outcome) })
    let ends = ends(bench)
    // What ends at a moment comes before what is sent at it: it is what let that go.
    let history = bench.sent.flatMap { sent in
      [
        (sent.elapsed, 1, sent.id, Moment.sent),
        (ends[sent.id, default: 0], 0, sent.id, .ended(outcomes[sent.id] ?? .transient)),
      ]
    }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
    var bannedUntil: Int64?
    var probe: PollRequestID?
    var violations = 0
    var bans = 0
    for (elapsed, _, id, moment) in history {
      switch moment {
      case .sent:
        guard let until = bannedUntil else { break }
        violations += elapsed < until || probe != nil ? 1 : 0
        probe = id
      case .ended(let outcome) where bannedUntil == nil:
        if outcome == .banned { bannedUntil = elapsed + 60_000_000 }
        bans += outcome == .banned ? 1 : 0
      case .ended(let outcome) where id == probe:
        probe = nil
        let isOver = outcome == .ok || outcome == .failed
        bannedUntil = isOver ? nil : elapsed + 60_000_000
      case .ended: break
      }
    }
    #expect(bans > 0, "seed \(seed)")
    #expect(violations == 0, "seed \(seed)")
  }

  /// Each stretch from a job's enqueueing to its end has one end; nothing is left over.
  private func checkEnds(_ bench: PacedBench, _ jobs: Int, _ seed: UInt64) {
    #expect(bench.queue.count == 0, "seed \(seed)")
    var requestsOpen = Set<Int>()
    var ended: [Int: Int] = [:]
    var strays = 0
    for action in bench.actions {
      switch action {
      case .request(_, let job): requestsOpen.insert(job)
      case .finished(let job):
        strays += requestsOpen.remove(job) == nil ? 1 : 0
        ended[job, default: 0] += 1
      case .abandoned(let job, let end):
        let wasAsked = requestsOpen.remove(job) != nil
        strays += wasAsked || end == .withdrawn ? 0 : 1
        ended[job, default: 0] += 1
      case .wake, .health: break
      }
    }
    #expect(strays == 0, "seed \(seed)")
    #expect(requestsOpen.isEmpty, "seed \(seed)")
    #expect(ended.count == jobs, "seed \(seed)")
  }
}
