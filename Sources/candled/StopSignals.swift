import CLinux
import Glibc

/// SIGINT and SIGTERM as a request, on a thread of their own.
///
/// The signals are blocked before any other thread exists and waited for here, so none is lost and
/// none interrupts a system call elsewhere. A second one means it: the process ends at once.
enum StopSignals {
  /// Call first thing in `main`: threads made later inherit the mask.
  static func block() {
    var set = stopSet()
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Calls `stop` when the first signal comes.
  static func watch(_ stop: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(Handler(stop))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { @Sendable context in
        guard let context else { return nil }
        let handler = Unmanaged<Handler>.fromOpaque(context).takeRetainedValue()
        _ = clinux_name_thread("signals")
        var set = StopSignals.stopSet()
        var signal: Int32 = 0
        sigwait(&set, &signal)
        handler.stop()
        sigwait(&set, &signal)
        _exit(128 + signal)
      }, context.toOpaque())
    if status != 0 { context.release() }
  }

  private static func stopSet() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    sigaddset(&set, SIGTERM)
    return set
  }

  private final class Handler: Sendable {
    let stop: @Sendable () -> Void
    init(_ stop: @escaping @Sendable () -> Void) { self.stop = stop }
  }
}
