import Glibc
import Platform
import TestSupport
import Testing

@testable import Operations

@Suite(.serialized) struct ServiceNotifierTests {
  @Test(arguments: [false, true])
  func `sends each message to the socket as one datagram`(isAbstract: Bool) throws {
    let socket = try NotifySocket(isAbstract: isAbstract)
    let notifier = try #require(ServiceNotifier(path: socket.name))
    notifier.ready(status: "standby behind host-a")
    notifier.status("leading")
    notifier.watchdog()
    notifier.stopping(status: "saving 12 candles")
    notifier.extendTimeout(seconds: 15)
    #expect(
      socket.waiting() == [
        "READY=1\nSTATUS=standby behind host-a", "STATUS=leading", "WATCHDOG=1",
        "STOPPING=1\nSTATUS=saving 12 candles", "EXTEND_TIMEOUT_USEC=15000000",
      ])
  }

  @Test func `a reload carries a moment between those before and after it`() throws {
    let socket = try NotifySocket()
    let notifier = try #require(ServiceNotifier(path: socket.name))
    let before = MonotonicClock.microseconds()
    notifier.reloading()
    let lines = try socket.next().split(separator: "\n")
    #expect(lines.first == "RELOADING=1")
    let moment = try #require(lines.last?.split(separator: "=").last.flatMap { Int64($0) })
    #expect(lines.last?.hasPrefix("MONOTONIC_USEC=") == true)
    #expect(before <= moment && moment <= MonotonicClock.microseconds())
  }

  @Test func `a status is one line without a secret and of bounded length`() throws {
    let socket = try NotifySocket()
    let mask = SecretMask()
    mask.register(Secret("hunter2-hunter2"))
    let notifier = try #require(ServiceNotifier(path: socket.name, mask: mask))
    notifier.status("refused: hunter2-hunter2\nREADY=1\r\nMAINPID=1")
    #expect(try socket.next() == "STATUS=refused: *** READY=1 MAINPID=1")
    notifier.status(String(repeating: "股", count: 2_000))
    #expect(
      try socket.next().utf8.count <= "STATUS=".utf8.count + ServiceNotifier.statusBytesMax + 2)
  }

  @Test func `the environment is taken once, and children inherit none of it`() throws {
    let socket = try NotifySocket()
    setenv("NOTIFY_SOCKET", socket.name, 1)
    setenv("WATCHDOG_USEC", "20000000", 1)
    setenv("WATCHDOG_PID", "\(getpid())", 1)
    let notifier = try #require(ServiceNotifier.fromEnvironment(mask: SecretMask()))
    #expect(notifier.watchdogMicroseconds == 20_000_000)
    for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { #expect(getenv(name) == nil) }
    #expect(ServiceNotifier.fromEnvironment(mask: SecretMask()) == nil)
  }

  @Test func `a watchdog meant for another process is not served`() throws {
    let socket = try NotifySocket()
    setenv("NOTIFY_SOCKET", socket.name, 1)
    setenv("WATCHDOG_USEC", "20000000", 1)
    setenv("WATCHDOG_PID", "1", 1)
    let notifier = try #require(ServiceNotifier.fromEnvironment(mask: SecretMask()))
    #expect(notifier.watchdogMicroseconds == nil)
  }

  @Test(arguments: ["", "relative/path", "/" + String(repeating: "x", count: 200), "vsock:2:1234"])
  func `a socket that cannot be one is nobody`(name: String) {
    #expect(ServiceNotifier(path: name) == nil)
  }

  @Test func `a listener that has gone is not missed`() throws {
    var socket: NotifySocket? = try NotifySocket()
    let notifier = try #require((socket?.name).flatMap { ServiceNotifier(path: $0) })
    socket = nil
    notifier.status("leading")
    #expect(socket == nil)
  }
}

@Suite struct WatchdogTests {
  /// 20 s, looked at every second.
  private func signs(staleAt: ClosedRange<Int64>?) -> [Int64] {
    var watchdog = Watchdog(microseconds: 20_000_000)
    return (0...60).filter { second in
      let isStale = staleAt?.contains(second) ?? false
      return watchdog.isDue(at: second * 1_000_000_000, stale: isStale ? ["engine"] : [])
    }
  }

  @Test func `gives a sign at half the time`() {
    #expect(signs(staleAt: nil) == [0, 10, 20, 30, 40, 50, 60])
  }

  @Test func `gives none while a loop is stale, and one as soon as it turns again`() {
    #expect(signs(staleAt: 15...33) == [0, 10, 34, 44, 54])
  }

  @Test func `looks often enough to keep the time`() {
    #expect(Watchdog(microseconds: 20_000_000).lookNanoseconds == 2_000_000_000)
  }
}

@Suite struct SectionNameTests {
  /// Found by mutated configurations: each of these ended the process.
  @Test(arguments: ["[.a]", "[=]", "[#]", "[é]", "[", "[[=]]", "  [ ]"])
  func `a section without a name is a problem with its line`(header: String) {
    #expect(throws: ConfigurationError.self) {
      try ConfigurationFile.parse("[sina]\n\(header)\n", origin: "c.toml", table: .candled)
    }
  }
}
