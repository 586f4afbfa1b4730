import Admin
import Dispatch
import HTTPServing
import Market
import Operations
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Ingest
@testable import Journal

/// An engine whose loop hangs in a disk that does not answer: everybody who tells of the daemon
/// goes on telling, and tells that.
@Suite struct HungEngineTests {
  /// Seconds of a clock that stands until it is moved.
  private final class Clock: Sendable {
    private let seconds = Atomic<Int64>(1_000)
    var nanoseconds: Int64 { seconds.load(ordering: .relaxed) * 1_000_000_000 }
    func pass(seconds more: Int64) { seconds.wrappingAdd(more, ordering: .relaxed) }
  }

  private static let patienceNanoseconds: UInt64 = 20_000_000

  @Test func `is dead to livez and the watchdog, while metrics and status answer`() async throws {
    let clock = Clock()
    let state = DaemonState(
      heartbeats: Heartbeats(nanoseconds: { clock.nanoseconds }),
      patienceNanoseconds: Self.patienceNanoseconds)
    let endpoint = AdminEndpoint(state: state, mask: SecretMask())
    let disk = DispatchSemaphore(value: 0)
    let (hangs, hung) = AsyncStream.makeStream(of: Void.self)
    var run = try EngineRun()
    run.speed = 60
    run.heartbeat = state.heartbeats.begin("engine", ageSecondsMax: 30)
    let engine = try run.engine(MemorySink()) { journal in
      let write = journal.systemWrite
      journal.systemWrite = { file, bytes, offset in
        hung.yield()
        disk.wait()
        disk.signal()
        return write(file, bytes, offset)
      }
    }
    state.engine = engine
    state.role = .leading(term: 1)
    async let unsaved = engine.run()
    for await _ in hangs { break }
    #expect(await endpoint.response(to: ServerRequest(path: "/livez")).status == 200)
    clock.pass(seconds: 31)

    let livez = await endpoint.response(to: ServerRequest(path: "/livez"))
    #expect(livez.status == 503 && livez.body == "no progress: engine\n")
    let metrics = await endpoint.response(to: ServerRequest(path: "/metrics"))
    let page = try PrometheusPage(metrics.body)
    #expect(metrics.status == 200 && page["candled_ready"] == 0)
    #expect(page["candled_loop_age_seconds", ["loop": "engine"]] == 31)
    let readyz = await endpoint.response(to: ServerRequest(path: "/readyz"))
    #expect(readyz.status == 503 && readyz.body.hasPrefix("no progress: engine\n"))
    #expect(await state.report().statusLine == "leading · no progress: engine")
    #expect(try await signs(of: state, clock) == 0)

    // The disk answers again, and the loop turns.
    disk.signal()
    engine.stop()
    _ = try await unsaved
    #expect(await endpoint.response(to: ServerRequest(path: "/livez")).status == 200)
    #expect(try await signs(of: state, clock) > 0)
    withExtendedLifetime(run) {}
  }

  /// Signs of life that systemd gets in ten looks.
  private func signs(of state: DaemonState, _ clock: Clock) async throws -> Int {
    let socket = try NotifySocket()
    let notifier = try #require(
      ServiceNotifier(path: socket.name, watchdogMicroseconds: 20_000_000))
    let looks = Locked(0)
    let reporter = ServiceReporter(
      notifier, state: state, log: LogLines().logger, nanoseconds: { clock.nanoseconds },
      pause: { _ in
        let look = looks.withLock { looks in
          looks += 1
          return looks
        }
        if look >= 10 { withUnsafeCurrentTask { $0?.cancel() } }
      })
    await Task { await reporter.giveSigns() }.value
    return socket.waiting().count { $0 == "WATCHDOG=1" }
  }
}
