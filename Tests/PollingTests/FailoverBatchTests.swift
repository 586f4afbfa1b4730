import Market
import TestSupport
import Testing

@testable import Polling

private let liveSources = [Source(rawValue: 1), Source(rawValue: 2), Source(rawValue: 3)]

/// Sources of eight batches that answer or do not, batch by batch: the serving one is asked for all
/// of them every 3 s, a probed one for the next every 30 s.
private struct BatchBench {
  static let batches = 8

  var failover: Failover
  private(set) var second: Int64 = 0
  private(set) var changes: [(second: Int64, change: Failover.Change)] = []
  private var probes: [Source: Int] = [:]
  private var probedAt: [Source: Int64] = [:]
  private let start = moment(10, 0)

  typealias Answers = (_ source: Source, _ batch: Int, _ second: Int64) -> Bool

  init(_ count: Int = 2) {
    failover = Failover(Array(liveSources.prefix(count)), milliseconds: 12_000, at: start)
  }

  private var now: Timestamp { start.adding(seconds: second) }

  mutating func run(
    to end: Int64, _ isAnswered: Answers, check: (Self) -> Void = { _ in }
  ) {
    while second < end {
      second += 1
      if let wake = failover.wake, wake <= now { feed(.woke) }
      if second.isMultiple(of: 3) {
        let serving = failover.serving
        for batch in 0..<Self.batches where failover.serving == serving {
          ask(serving, batch: batch, isAnswered)
        }
      }
      for source in failover.sources
      where [.probed, .compared].contains(failover.role(of: source)) {
        guard second >= probedAt[source, default: 0] + 30 else { continue }
        probedAt[source] = second
        probes[source, default: 0] += 1
        ask(source, batch: probes[source, default: 0] % Self.batches, isAnswered)
      }
      check(self)
    }
  }

  private mutating func ask(_ source: Source, batch: Int, _ isAnswered: Answers) {
    feed(.asked(source, batch: UInt16(batch), of: Self.batches))
    feed(
      isAnswered(source, batch, second)
        ? .answered(source, batch: UInt16(batch), through: now) : .failed(source))
  }

  private mutating func feed(_ event: Failover.Event) {
    guard let change = failover.received(event, at: now, isInSession: true) else { return }
    changes.append((second, change))
    probedAt[change.from] = second
  }
}

@Suite struct `Failover batch by batch` {
  private let first = liveSources[0]
  private let second = liveSources[1]

  /// From second 100 on the first source answers some batches.
  private func changes(
    _ isAnswered: @escaping (_ batch: Int, _ second: Int64) -> Bool
  ) -> [(second: Int64, change: Failover.Change)] {
    var bench = BatchBench()
    bench.run(to: 1_500) { source, batch, second in
      source != first || second < 100 || isAnswered(batch, second)
    }
    return bench.changes
  }

  @Test(arguments: [0, 1, 2, 4])
  func `a source that answers half of its batches or fewer is left after 12 s`(_ good: Int) {
    let changes = changes { batch, _ in batch < good }
    #expect(changes.map(\.change.to) == [second])
    #expect(changes.first.map { (108...114).contains($0.second) } ?? false)
    let silent = Failover.Reason.silent(seconds: 12, batches: 8 - good, of: 8)
    #expect(changes.first?.change.reason == silent)
    let words = good == 0 ? "response for" : "response to \(8 - good) of 8 batches for"
    #expect("\(silent)" == "no usable \(words) 12 s")
  }

  @Test(arguments: [5, 6, 7])
  func `a source that answers more than half of them stays`(_ good: Int) {
    #expect(changes { batch, _ in batch < good }.isEmpty)
  }

  @Test func `a source whose batches fail in turn stays`() {
    #expect(changes { batch, second in (Int64(batch) + second / 3).isMultiple(of: 2) }.isEmpty)
    #expect(changes { batch, second in (Int64(batch) + second / 3).isMultiple(of: 3) }.isEmpty)
  }

  @Test func `one batch that is never answered does no harm, whatever the others do for a while`() {
    let changes = changes { batch, second in batch != 3 && !(300..<306).contains(second % 600) }
    #expect(changes.isEmpty)
  }

  @Test func `where each source answers some batches it goes round once in five minutes`() {
    for seed: UInt64 in 1...20 {
      var random = SplitMix(seed: seed)
      let count = Int.random(in: 2...3, using: &random)
      let good = liveSources.prefix(count).map { _ in
        Set((0..<8).shuffled(using: &random).prefix(Int.random(in: 0...4, using: &random)))
      }
      var bench = BatchBench(count)
      bench.run(to: 3_600) { source, batch, second in
        second < 100 || good[Int(source.rawValue) - 1].contains(batch)
      }
      let changes = bench.changes.count
      #expect(changes <= (3_600 / 300 + 2) * count, "seed \(seed): \(changes)")
    }
  }

  @Test func `fewer batches count from the next request on`() {
    var failover = Failover([first, second], milliseconds: 12_000, at: moment(10, 0))
    for batch: UInt16 in 0..<8 {
      _ = failover.received(
        .asked(first, batch: batch, of: 8), at: moment(10, 0), isInSession: true)
    }
    // A reload leaves two, and both answer.
    for batch: UInt16 in 0..<2 {
      let at = moment(10, 0, 3)
      _ = failover.received(.asked(first, batch: batch, of: 2), at: at, isInSession: true)
      let answer = Failover.Event.answered(first, batch: batch, through: at)
      _ = failover.received(answer, at: at, isInSession: true)
    }
    #expect(failover.wake == nil)
    #expect(failover.received(.woke, at: moment(10, 5), isInSession: true) == nil)
  }

  @Test func `through random outages of batches a source is left only when half are silent`() {
    for seed: UInt64 in 1...20 {
      var random = SplitMix(seed: seed)
      let count = Int.random(in: 2...3, using: &random)
      var outages: [(source: Source, batches: Set<Int>, seconds: Range<Int64>)] = []
      for source in liveSources.prefix(count) {
        for _ in 0..<Int.random(in: 0...6, using: &random) {
          let from = Int64.random(in: 10...3_000, using: &random)
          let length = Int64.random(in: 3...900, using: &random)
          let batches = (0..<8).shuffled(using: &random)
            .prefix(Int.random(in: 1...8, using: &random))
          outages.append((source, Set(batches), from..<(from + length)))
        }
      }
      let isAnswered: BatchBench.Answers = { source, batch, second in
        !outages.contains {
          $0.source == source && $0.batches.contains(batch) && $0.seconds.contains(second)
        }
      }
      let dead = { (source: Source, second: Int64) in
        (0..<8).count { !isAnswered(source, $0, second) }
      }
      var halfSilentSince: Int64?
      var wellSince: [Source: Int64] = [:]
      var bench = BatchBench(count)
      bench.run(to: 4_500, isAnswered) { bench in
        let (now, serving) = (bench.second, bench.failover.serving)
        if bench.changes.last?.second == now { halfSilentSince = nil }
        halfSilentSince = dead(serving, now) >= 4 ? halfSilentSince ?? now : nil
        for source in bench.failover.sources {
          wellSince[source] = dead(source, now) == 0 ? wellSince[source] ?? now : nil
        }
        let isBetter = wellSince.values.contains { $0 <= now - 345 }
        #expect(
          halfSilentSince.map { $0 > now - 345 } ?? true || !isBetter,
          "seed \(seed): half of \(serving.rawValue) is silent at \(now)")
      }
      for (second, change) in bench.changes {
        guard case .silent = change.reason else { continue }
        let silent = (0..<8).count { batch in
          stride(from: second - 11, to: second, by: 1).allSatisfy {
            !$0.isMultiple(of: 3) || !isAnswered(change.from, batch, $0)
          }
        }
        #expect(silent >= 4, "seed \(seed): left \(change.from.rawValue) at \(second)")
      }
      #expect(bench.changes.count <= 2 * outages.count + (4_500 / 300 + 2) * count, "seed \(seed)")
    }
  }
}
