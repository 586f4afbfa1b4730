import Platform
import Testing

@Suite struct LockedTests {
  @Test func `no thread's change is lost`() throws {
    let count = Locked(0)
    let threads = try (0..<4).map { _ in
      try JoinableThread { for _ in 0..<10_000 { count.withLock { $0 += 1 } } }
    }
    for thread in threads { thread.join() }
    #expect(count.withLock { $0 } == 40_000)
  }

  @Test func `an error that leaves the body leaves the lock open`() {
    struct Trouble: Error {}
    let value = Locked("before")
    #expect(throws: Trouble.self) {
      try value.withLock { value in
        value = "after"
        throw Trouble()
      }
    }
    #expect(value.withLock { $0 } == "after")
  }

  @Test func `the value is released with it`() {
    final class Thing: Sendable {}
    weak var thing: Thing?
    do {
      let guarded = Locked(Thing())
      thing = guarded.withLock { $0 }
      #expect(thing != nil)
    }
    #expect(thing == nil)
  }
}
