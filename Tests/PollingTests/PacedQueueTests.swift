import Market
import Testing

@testable import Polling

@Suite struct PacedQueueTests {
  @Test func `the highest priority goes first, then first come`() {
    var bench = PacedBench(pacedQueue(inFlight: 1))
    let jobs = [(1, 0), (2, 5), (3, 0), (4, 5)].map { PacedJob($0.0, priority: $0.1) }
    bench.feed(.enqueued(jobs)) { _, _ in PacedReply() }
    bench.run(untilElapsedSeconds: 5)
    #expect(bench.jobs == [2, 4, 1, 3])
    #expect(bench.finished == [2, 4, 1, 3])
  }

  @Test func `a job that waits is not queued twice but raised`() {
    var bench = PacedBench(pacedQueue(inFlight: 1))
    bench.enqueue([1, 2, 3])
    bench.enqueue([1, 3], priority: 9)
    #expect(bench.queue.count == 3)
    bench.run(untilElapsedSeconds: 5)
    #expect(bench.jobs == [1, 3, 2])
  }

  @Test func `a job that is withdrawn is not asked for, nor asked for again`() {
    var bench = PacedBench(pacedQueue(inFlight: 1))
    let source: PacedBench.Source = { _, _ in PacedReply(outcome: .transient) }
    bench.enqueue([1, 2], source)
    bench.feed(.withdrawn([1, 2, 3]), source)
    bench.run(untilElapsedSeconds: 600, source)
    #expect(bench.jobs == [1])
    #expect(bench.abandoned == [1: [.withdrawn], 2: [.withdrawn]])
  }

  @Test func `a fruitless job is tried so often and no more`() {
    var bench = PacedBench(pacedQueue { $0.retriesMax = 2 })
    let source: PacedBench.Source = { _, _ in PacedReply(outcome: .transient) }
    bench.enqueue([1], source)
    bench.run(untilElapsedSeconds: 600, source)
    #expect(bench.jobs == [1, 1, 1])
    #expect(bench.abandoned == [1: [.triesSpent(.transient)]])
  }

  @Test func `what asking again cannot change is not asked again`() {
    var bench = PacedBench(pacedQueue())
    let source: PacedBench.Source = { _, _ in PacedReply(outcome: .failed) }
    bench.enqueue([1], source)
    bench.run(untilElapsedSeconds: 600, source)
    #expect(bench.jobs == [1])
    #expect(bench.abandoned == [1: [.failed]])
    #expect(bench.conditions == [.ok])
  }

  @Test func `an answer that never comes is a lost request`() {
    var bench = PacedBench(pacedQueue { $0.deadlineMilliseconds = 10_000 })
    var isFirst = true
    let source: PacedBench.Source = { _, _ in
      defer { isFirst = false }
      return PacedReply(milliseconds: isFirst ? nil : 100)
    }
    bench.enqueue([1], source)
    bench.run(untilElapsedSeconds: 600, source)
    #expect(bench.jobs == [1, 1])
    #expect(bench.sent[1].elapsed >= 15_000_000)
    #expect(bench.finished == [1])
  }

  @Test func `throttled, the whole line waits as long as the host asks, then goes one by one`() {
    var bench = PacedBench(pacedQueue(inFlight: 3))
    let source: PacedBench.Source = { job, now in
      now < moment(9, 1)
        ? PacedReply(outcome: .throttled, retryAfterSeconds: 90) : PacedReply(milliseconds: 5_000)
    }
    bench.enqueue([1, 2, 3, 4, 5], source)
    bench.run(untilElapsedSeconds: 120, source)
    #expect(bench.jobs == [1, 2, 3, 4, 5, 1, 2, 3])
    // One alone until it is answered, then as many as may be.
    let seconds = bench.sent.map { $0.elapsed / 1_000_000 }
    #expect(seconds == [0, 0, 0, 90, 95, 95, 95, 100])
    #expect(bench.conditions == [.degraded, .ok])
  }

  @Test func `a throttling host is left alone longer and longer`() {
    var bench = PacedBench(pacedQueue { $0.refusalsMax = 100 })
    let source: PacedBench.Source = { _, _ in PacedReply(outcome: .throttled) }
    bench.enqueue([1], source)
    bench.run(untilElapsedSeconds: 3_600, source)
    // Full jitter halves the bounds of 1, 2, 4 … 60 s on average.
    #expect((60...240).contains(bench.sent.count))
  }

  @Test func `banned, nothing goes out until one probe is answered`() {
    var bench = PacedBench(pacedQueue(inFlight: 3))
    let source: PacedBench.Source = { _, now in
      now < moment(9, 0, 30)
        ? PacedReply(outcome: .banned) : PacedReply(milliseconds: 2_000)
    }
    bench.enqueue(Array(1...6), source)
    bench.run(untilElapsedSeconds: 300, source)
    let elapsed = bench.sent.map { $0.elapsed / 100_000 }
    #expect(elapsed == [0, 0, 0, 601, 621, 621, 621, 641, 641])
    // The probe is another job, not the one that was refused.
    #expect(bench.jobs[3] == 4)
    #expect(bench.finished.sorted() == Array(1...6))
    #expect(bench.conditions == [.banned, .ok])
  }

  @Test func `a job that alone is refused does not ban the others for ever`() {
    var bench = PacedBench(pacedQueue(inFlight: 1) { $0.refusalsMax = 2 })
    let source: PacedBench.Source = { job, _ in
      PacedReply(outcome: job == 1 ? .banned : .ok)
    }
    bench.enqueue(Array(1...5), source)
    bench.run(untilElapsedSeconds: 20_000, source)
    #expect(bench.finished == [2, 3, 4, 5])
    #expect(bench.abandoned == [1: [.triesSpent(.banned)]])
  }

  @Test func `a silent host is asked one thing at a time`() {
    var bench = PacedBench(pacedQueue(inFlight: 8) { $0.retriesMax = 3 })
    let source: PacedBench.Source = { _, now in
      PacedReply(outcome: now < moment(10, 0) ? .transient : .ok)
    }
    bench.enqueue(Array(1...1_000), source)
    bench.run(untilElapsedSeconds: 3_590, source)
    #expect(bench.sent.count < 300)
    #expect(bench.abandoned.count < 75)
    bench.run(untilElapsedSeconds: 4_000, source)
    #expect(bench.finished.count + bench.abandoned.count == 1_000)
    #expect(bench.conditions == [.degraded, .stalled, .ok])
  }

  @Test func `a postponed job comes back at its moment and loses no try`() {
    var bench = PacedBench(pacedQueue { $0.retriesMax = 1 })
    var count = 0
    let source: PacedBench.Source = { _, now in
      count += 1
      return PacedReply(
        outcome: count <= 5 ? .postponed(until: now.adding(seconds: 3_600)) : .ok)
    }
    bench.enqueue([1], source)
    bench.run(untilElapsedSeconds: 20_000, source)
    #expect(bench.sent.map { $0.elapsed / 1_000_000 } == [0, 3_600, 7_200, 10_800, 14_400, 18_000])
    #expect(bench.finished == [1])
  }

  @Test func `stopping ends what waits and what fails afterwards`() {
    var bench = PacedBench(pacedQueue(inFlight: 2))
    let source: PacedBench.Source = { job, _ in
      PacedReply(outcome: job == 1 ? .ok : .transient)
    }
    bench.enqueue([1, 2, 3], source)
    bench.feed(.stopping, source)
    bench.enqueue([4], source)
    bench.run(untilElapsedSeconds: 600, source)
    #expect(bench.jobs == [1, 2])
    #expect(bench.finished == [1])
    #expect(bench.abandoned == [2: [.stopped], 3: [.stopped], 4: [.stopped]])
  }

  @Test func `a full queue reports an overflow`() {
    var bench = PacedBench(pacedQueue(inFlight: 1) { $0.waitingMax = 2 })
    bench.enqueue([1, 2, 3])
    #expect(bench.abandoned == [3: [.overflow]])
  }
}
