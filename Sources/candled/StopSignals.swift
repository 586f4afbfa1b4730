import CLinux
import Glibc
import Synchronization

/// A command that saves its work when told to stop; the others end as signals end them.
protocol DrainsOnSignal {}

/// SIGINT and SIGTERM as a request, read from a pipe on a thread of its own.
///
/// A handler may do next to nothing, so it writes a byte; blocking the signals instead would need
/// every thread to be ours, and Swift's main is not the first. A signal that comes before anybody
/// watches waits in the pipe. A second one means it: the process ends at once.
enum StopSignals {
  private static let readEnd = Atomic<Int32>(-1)
  private static let writeEnd = Atomic<Int32>(-1)

  /// Takes the signals from here on.
  static func take() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    readEnd.store(ends[0], ordering: .relaxed)
    writeEnd.store(ends[1], ordering: .relaxed)
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { signal in
      var byte = UInt8(truncatingIfNeeded: signal)
      _ = Glibc.write(StopSignals.writeEnd.load(ordering: .relaxed), &byte, 1)
    }
    action.sa_flags = SA_RESTART
    sigaction(SIGINT, &action, nil)
    sigaction(SIGTERM, &action, nil)
  }

  /// Calls `stop` when the first signal comes, or has come.
  static func watch(_ stop: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(Handler(stop))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { @Sendable context in
        guard let context else { return nil }
        _ = clinux_name_thread("signals")
        let handler = Unmanaged<Handler>.fromOpaque(context).takeRetainedValue()
        _ = StopSignals.next()
        handler.stop()
        _exit(128 + StopSignals.next())
      }, context.toOpaque())
    if status != 0 { context.release() }
  }

  /// Waits for a signal and returns its number.
  private static func next() -> Int32 {
    var byte: UInt8 = 0
    while read(readEnd.load(ordering: .relaxed), &byte, 1) != 1 {}
    return Int32(byte)
  }

  private final class Handler: Sendable {
    let stop: @Sendable () -> Void
    init(_ stop: @escaping @Sendable () -> Void) { self.stop = stop }
  }
}
