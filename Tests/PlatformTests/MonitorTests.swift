import Glibc
import Platform
import Synchronization
import Testing

@Suite struct MonitorTests {
  /// How often waiting threads have looked and gone on waiting. They look with the mutex in hand,
  /// and waiting gives it up: whoever changes the value after a look finds the thread waiting.
  private final class Looks: Sendable {
    private let count = Atomic<Int>(0)

    func goesOnWaiting(_ mustWait: Bool) -> Bool {
      if mustWait { count.add(1, ordering: .sequentiallyConsistent) }
      return mustWait
    }

    func await(_ wanted: Int) {
      while count.load(ordering: .sequentiallyConsistent) < wanted { sched_yield() }
    }
  }

  @Test func `a change wakes all that wait for it`() throws {
    let gate = Monitor((isOpen: false, passed: 0))
    let looks = Looks()
    let threads = try (0..<3).map { _ in
      try JoinableThread {
        gate.wait(while: { looks.goesOnWaiting(!$0.isOpen) }, then: { $0.passed += 1 })
      }
    }
    looks.await(3)
    gate.change { $0.isOpen = true }
    for thread in threads { thread.join() }
    #expect(gate.withLock { $0.passed } == 3)
  }

  @Test func `what has changed already is not waited for`() {
    let value = Monitor(1)
    #expect(value.wait(while: { $0 == 0 }, then: { $0 }) == 1)
  }

  @Test func `a change that is not the one waited for wakes nobody for good`() throws {
    let value = Monitor(0)
    let seen = Locked<Int?>(nil)
    let looks = Looks()
    let thread = try JoinableThread {
      let found = value.wait(while: { looks.goesOnWaiting($0 < 3) }, then: { $0 })
      seen.withLock { $0 = found }
    }
    for change in 1...3 {
      looks.await(change)
      value.change { $0 += 1 }
    }
    thread.join()
    #expect(seen.withLock { $0 } == 3)
  }

  @Test func `no two take the same`() throws {
    let waiting = Monitor((items: [Int](), isClosed: false))
    let taken = Locked<[Int]>([])
    let takers = try (0..<3).map { _ in
      try JoinableThread {
        while let item = waiting.wait(
          while: { $0.items.isEmpty && !$0.isClosed }, then: { $0.items.popLast() })
        {
          taken.withLock { $0.append(item) }
        }
      }
    }
    for item in 0..<1_000 { waiting.change { $0.items.append(item) } }
    waiting.change { $0.isClosed = true }
    for taker in takers { taker.join() }
    #expect(taken.withLock { $0 }.sorted() == Array(0..<1_000))
  }

  @Test func `a bounded wait ends without a change`() {
    let value = Monitor("as it was")
    let found = value.wait(while: { _ in true }, nanosecondsMax: 1_000_000, then: { $0 })
    #expect(found == "as it was")
  }

  @Test func `a bounded wait lasts as long as its limit`() {
    let began = MonotonicClock.nanoseconds()
    Monitor(0).wait(while: { _ in true }, nanosecondsMax: 20_000_000, then: { _ in })
    #expect(MonotonicClock.nanoseconds() - began >= 20_000_000)
  }

  @Test func `a bounded wait ends with the change`() throws {
    let value = Monitor(false)
    let thread = try JoinableThread { value.change { $0 = true } }
    let found = value.wait(while: { !$0 }, nanosecondsMax: .max / 2, then: { $0 })
    thread.join()
    #expect(found)
  }
}
