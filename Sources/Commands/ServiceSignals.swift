/// SIGTERM, SIGINT and SIGHUP as requests, read from a pipe on a thread of its own.
///
/// A handler may do next to nothing, so it writes the signal's number; blocking the signals instead
/// would need every thread to be ours, and Swift's main is not the first. The handlers stand before
/// the first constructor of any library runs (`.preinit_array`): loading and starting up take tens
/// of milliseconds in which a supervisor may already want something. Until then a signal has its
/// default effect, unless it was blocked over exec: then it waits, for it is let through here.
/// What comes before anybody watches waits in the pipe.

import CLinux
import Glibc
import Platform

/// A command that saves its work when told to stop; the others end as signals end them.
package protocol DrainsOnSignal {}

#if compiler(>=6.3)
  // Safe: written before there is a second thread, only read afterwards. In a section of their own
  // because that makes them constants of the image: a handler, and code ahead of the runtime, must
  // not meet a lazy initialiser.
  @section(".data") nonisolated(unsafe) private var readEnd: Int32 = -1
  // Safe: as above.
  @section(".data") nonisolated(unsafe) private var writeEnd: Int32 = -1

  @used @section(".preinit_array")
  private let takenEarly: @convention(c) () -> Void = takeSignals
#else
  // Safe: written before there is a second thread, only read afterwards.
  nonisolated(unsafe) private var readEnd: Int32 = -1
  // Safe: as above.
  nonisolated(unsafe) private var writeEnd: Int32 = -1
#endif

/// Async-signal-safe: one write, of one number, whole.
private func pass(_ signal: Int32) {
  let before = errno
  var number = signal
  _ = write(writeEnd, &number, 4)
  errno = before
}

/// Runs before Swift's runtime is there: system calls and nothing else.
private func takeSignals() {
  if writeEnd >= 0 { return }
  clinux_open_standard_descriptors()
  withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2) { ends in
    guard let ends = ends.baseAddress, clinux_pipe(ends) == 0 else { return }
    readEnd = ends[0]
    writeEnd = ends[1]
  }
  if writeEnd < 0 { return }
  take(SIGTERM, evenIgnored: false)
  take(SIGINT, evenIgnored: false)
  take(SIGHUP, evenIgnored: false)
  var ours = sigset_t()
  sigemptyset(&ours)
  sigaddset(&ours, SIGTERM)
  sigaddset(&ours, SIGINT)
  sigaddset(&ours, SIGHUP)
  sigprocmask(SIG_UNBLOCK, &ours, nil)
}

/// What a parent ignores on purpose (nohup) stays ignored, unless it means something of its own.
private func take(_ signal: Int32, evenIgnored: Bool) {
  var action = sigaction()
  sigaction(signal, nil, &action)
  let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
  if handler == 1, !evenIgnored { return }
  action = sigaction()
  action.__sigaction_handler.sa_handler = pass
  action.sa_flags = SA_RESTART
  sigaction(signal, &action, nil)
}

package enum ServiceSignals {
  /// What SIGHUP is to a command that drains.
  package enum Hangup: Sendable {
    case reload(@Sendable () -> Void)
    /// The terminal went away: as if told to stop.
    case stop
    /// Nothing to read again, and nobody whose terminal it could have been.
    case ignore
  }

  /// The command will watch.
  package static func keep() {
    takeSignals()
    for signal in [SIGTERM, SIGINT] { take(signal, evenIgnored: true) }
  }

  /// The command ends as signals end it; one that has come already ends it now.
  package static func release() {
    guard writeEnd >= 0 else { return }
    for signal in [SIGTERM, SIGINT, SIGHUP] {
      var action = sigaction()
      sigaction(signal, nil, &action)
      let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      if handler != 1 { Glibc.signal(signal, SIG_DFL) }
    }
    let came = next(waitMilliseconds: 0)
    close(readEnd)
    close(writeEnd)
    (readEnd, writeEnd) = (-1, -1)
    if let came { raise(came) }
  }

  /// Calls `stop` once, when the first SIGTERM or SIGINT comes, or has come; a second one means it:
  /// the process ends at once.
  /// - Parameters:
  ///   - secondsMax: how long the process may take to end after the first; then `late` is called
  ///     and it ends with 0 all the same, for what is not saved is in the journal.
  /// - Throws: `temporaryFailure` if there is no thread to watch on.
  package static func watch(
    hangup: Hangup = .stop, secondsMax: Int? = nil,
    late: @escaping @Sendable () -> Void = {}, stop: @escaping @Sendable () -> Void
  ) throws(CommandFailure) {
    if case .reload = hangup { take(SIGHUP, evenIgnored: true) }
    let watcher = Watcher(hangup: hangup, secondsMax: secondsMax, late: late, stop: stop)
    do throws(ThreadError) {
      try DetachedThread.start(name: "signals") { watcher.run() }
    } catch {
      throw .tooFewThreads("none for signals")
    }
  }

  /// Waits for a signal and returns its number; nil if none came in time.
  private static func next(waitMilliseconds: Int32) -> Int32? {
    while true {
      var waiting = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
      let ready = poll(&waiting, 1, waitMilliseconds)
      if ready < 0, errno == EINTR { continue }
      var number: Int32 = 0
      guard ready > 0, read(readEnd, &number, 4) == 4 else { return nil }
      return number
    }
  }

  private final class Watcher: Sendable {
    let hangup: Hangup
    let secondsMax: Int?
    let late: @Sendable () -> Void
    let stop: @Sendable () -> Void

    init(
      hangup: Hangup, secondsMax: Int?, late: @escaping @Sendable () -> Void,
      stop: @escaping @Sendable () -> Void
    ) {
      self.hangup = hangup
      self.secondsMax = secondsMax
      self.late = late
      self.stop = stop
    }

    func run() -> Never {
      while true {
        switch (ServiceSignals.next(waitMilliseconds: -1), hangup) {
        case (SIGHUP, .reload(let reload)): reload()
        case (SIGHUP, .ignore), (nil, _): break
        default:
          stop()
          waitForTheEnd()
        }
      }
    }

    private func waitForTheEnd() -> Never {
      let wait = secondsMax.map { Int64($0) * 1_000 } ?? .max
      let start = ContinuousClock.now
      while true {
        let passed = (ContinuousClock.now - start).components
        let left = wait - (passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000)
        if left <= 0 {
          late()
          _exit(0)
        }
        let number = ServiceSignals.next(
          waitMilliseconds: wait == .max ? -1 : Int32(clamping: left))
        if let number, number != SIGHUP { _exit(128 + number) }
      }
    }
  }
}
