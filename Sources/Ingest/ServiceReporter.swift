import Logging
import Operations
import Platform

/// Keeps systemd told: ready, the status line, signs of life, and how long stopping may take.
///
/// Two loops, because the status waits for the engine's turn and signs of life must not: what hangs
/// is shown by its heartbeat, not by our waiting for it.
package struct ServiceReporter: Sendable {
  private let notifier: ServiceNotifier
  private let state: DaemonState
  private let log: Logger
  private let nanoseconds: @Sendable () -> Int64
  private let pause: @Sendable (UInt64) async -> Void

  static let statusSeconds: Int64 = 10
  /// How soon a change of role is reported.
  private static let lookNanoseconds: UInt64 = 250_000_000
  /// The time that is asked for again while stopping goes on; the drain takes 8 s, the private
  /// server may take 60.
  static let stopSeconds: Int64 = 15
  private static let extendSeconds: Int64 = 5
  /// Three times the interval it is asked for again at.
  static let startSeconds: Int64 = 30

  package init(
    _ notifier: ServiceNotifier, state: DaemonState, log: Logger,
    nanoseconds: @escaping @Sendable () -> Int64 = MonotonicClock.nanoseconds,
    pause: @escaping @Sendable (UInt64) async -> Void = { try? await Task.sleep(nanoseconds: $0) }
  ) {
    self.notifier = notifier
    self.state = state
    self.log = log
    self.nanoseconds = nanoseconds
    self.pause = pause
  }

  /// Runs until cancelled.
  package func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await reportStatus() }
      group.addTask { await giveSigns() }
    }
  }

  /// Around a reload; the line behind it says what came of it.
  package func reloading(_ reload: () async -> Void) async {
    notifier.reloading()
    await reload()
    notifier.ready(status: await state.report().statusLine)
  }

  /// Reports the stop at once, from where it was ordered.
  package func stopping() {
    notifier.stopping(status: "draining")
    notifier.extendTimeout(seconds: Self.stopSeconds)
  }

  func reportStatus() async {
    var isReady = false
    var lastReported: (role: DaemonRole, at: Int64)?
    while !Task.isCancelled {
      let (role, now) = (state.role, nanoseconds())
      let age = lastReported.map { (now - $0.at) / 1_000_000_000 } ?? .max
      if role == .draining, lastReported?.role == .draining, age >= Self.extendSeconds {
        notifier.extendTimeout(seconds: Self.stopSeconds)
      }
      let interval = role == .draining ? Self.extendSeconds : Self.statusSeconds
      if lastReported?.role != role || age >= interval {
        let line = await state.report().statusLine
        if isReady || role == .starting || role == .draining {
          notifier.status(line)
          if role == .starting, !isReady { extendStart() }
        } else {
          isReady = true
          notifier.ready(status: line)
        }
        lastReported = (role, now)
      }
      await pause(Self.lookNanoseconds)
    }
  }

  /// A database that recovers, or is away, is no reason to begin anew; a loop that hangs is.
  private func extendStart() {
    if state.heartbeats.stale().isEmpty { notifier.extendTimeout(seconds: Self.startSeconds) }
  }

  func giveSigns() async {
    guard let microseconds = notifier.watchdogMicroseconds else { return }
    var watchdog = Watchdog(microseconds: microseconds)
    var stale: [String] = []
    while !Task.isCancelled {
      let staleNow = state.heartbeats.stale()
      if staleNow != stale {
        stale = staleNow
        let loops = Logger.MetadataValue(stringLiteral: stale.joined(separator: ", "))
        if stale.isEmpty {
          log.notice("all loops make progress again")
        } else {
          log.critical("a loop makes no progress", metadata: ["loops": loops])
        }
      }
      if watchdog.isDue(at: nanoseconds(), stale: stale) { notifier.watchdog() }
      await pause(watchdog.lookNanoseconds)
    }
  }
}
