import Dispatch
import Glibc
import NIOCore
import NIOPosix
import Operations
import TestSupport
import TestTraits
import Testing

@testable import Gateway

@Suite(.ownThread) struct LoopWatchTests {
  private static let watchdogMicroseconds: Int64 = 100_000

  /// An event loop that hangs until it is let go.
  private final class Hang: Sendable {
    private let (entered, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))

    init(_ group: MultiThreadedEventLoopGroup) {
      group.next().execute { [entered, released] in
        entered.signal()
        released.wait()
      }
      entered.wait()
    }

    func end() { released.signal() }
  }

  @Test func `systemd gets no sign of life while one event loop of several hangs`() async throws {
    let socket = try NotifySocket()
    let notifier = try #require(
      ServiceNotifier(path: socket.name, watchdogMicroseconds: Self.watchdogMicroseconds))
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let watch = Task { await LoopWatch(group, notifier: notifier).run() }
    for _ in 0..<3 { #expect(try socket.next() == "WATCHDOG=1") }
    let hang = Hang(group)
    _ = socket.waiting()
    // Ten signs, if it did not hang.
    usleep(UInt32(Self.watchdogMicroseconds) * 5)
    // One look may have been past this loop already.
    #expect(socket.waiting().count <= 1)
    hang.end()
    for _ in 0..<3 { #expect(try socket.next() == "WATCHDOG=1") }
    watch.cancel()
    await watch.value
    try await group.shutdownGracefully()
  }

  @Test func `nothing is sent where systemd wants no signs`() async throws {
    let socket = try NotifySocket()
    let notifier = try #require(ServiceNotifier(path: socket.name))
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    await LoopWatch(group, notifier: notifier).run()
    #expect(socket.waiting().isEmpty)
    try await group.shutdownGracefully()
  }
}
