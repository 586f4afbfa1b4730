import NIOCore
import Operations
import Platform

/// Signs of life for systemd: sent while every event loop takes its turn. A loop that hangs sends
/// no answer, so there is no sign, and systemd starts the gateway again.
package struct LoopWatch: Sendable {
  private let loops: [any EventLoop]
  private let notifier: ServiceNotifier

  package init(_ group: any EventLoopGroup, notifier: ServiceNotifier) {
    loops = Array(group.makeIterator())
    self.notifier = notifier
  }

  /// Until cancelled; returns at once where systemd wants no signs.
  package func run() async {
    guard let microseconds = notifier.watchdogMicroseconds else { return }
    var watchdog = Watchdog(microseconds: microseconds)
    while !Task.isCancelled {
      for loop in loops { try? await loop.submit {}.get() }
      if watchdog.isDue(at: MonotonicClock.nanoseconds(), stale: []) { notifier.watchdog() }
      try? await Task.sleep(nanoseconds: watchdog.lookNanoseconds)
    }
  }
}
