import Glibc
import Platform
import Testing

@Suite struct ThreadsTests {
  @Test func `join returns once the closure has`() throws {
    let hasEnded = Locked(false)
    let thread = try JoinableThread {
      usleep(2_000)
      hasEnded.withLock { $0 = true }
    }
    thread.join()
    #expect(hasEnded.withLock { $0 })
  }

  @Test func `all that join one thread go on`() throws {
    let gate = Monitor(false)
    let thread = try JoinableThread { gate.wait(while: { !$0 }, then: { _ in }) }
    let others = try (0..<2).map { _ in try JoinableThread { thread.join() } }
    gate.change { $0 = true }
    for other in others { other.join() }
    thread.join()
  }

  @Test func `a joinable thread takes no signal`() throws {
    let blocked = Locked<[Bool]>([])
    try JoinableThread { blocked.withLock { $0 = areBlocked([SIGTERM, SIGHUP, SIGPIPE]) } }.join()
    #expect(blocked.withLock { $0 } == [true, true, true])
  }

  @Test func `the thread that starts one keeps its own signals`() throws {
    let before = areBlocked([SIGTERM, SIGHUP, SIGPIPE])
    try JoinableThread {}.join()
    #expect(areBlocked([SIGTERM, SIGHUP, SIGPIPE]) == before)
  }

  @Test func `a detached thread takes the signals its starter takes`() throws {
    let blocked = Monitor<[Bool]?>(nil)
    try DetachedThread.start { blocked.change { $0 = areBlocked([SIGTERM, SIGPIPE]) } }
    let found = blocked.wait(while: { $0 == nil }, then: { $0 })
    #expect(found == areBlocked([SIGTERM, SIGPIPE]))
  }

  @Test(arguments: ["store-writer", "sixteen-bytes-and-more"])
  func `a thread is known by the first 15 bytes of its name`(_ name: String) throws {
    let names = Monitor<[String]>([])
    try JoinableThread(name: name) { names.change { $0.append(ownName()) } }.join()
    try DetachedThread.start(name: name) { names.change { $0.append(ownName()) } }
    let found = names.wait(while: { $0.count < 2 }, then: { $0 })
    #expect(found == [String(name.prefix(15)), String(name.prefix(15))])
  }

  @Test func `what the closure holds is released with the thread`() throws {
    final class Thing: Sendable {}
    weak var thing: Thing?
    do {
      let held = Thing()
      thing = held
      try JoinableThread { withExtendedLifetime(held) {} }.join()
    }
    #expect(thing == nil)
  }
}

private func areBlocked(_ signals: [Int32]) -> [Bool] {
  var mask = sigset_t()
  pthread_sigmask(SIG_BLOCK, nil, &mask)
  return signals.map { sigismember(&mask, $0) == 1 }
}

/// As the kernel shows it.
private func ownName() -> String {
  guard let file = fopen("/proc/thread-self/comm", "r") else { return "" }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 64)
  let count = fread(&bytes, 1, bytes.count, file)
  return String(decoding: bytes.prefix(count).prefix { $0 != 10 }, as: UTF8.self)
}
