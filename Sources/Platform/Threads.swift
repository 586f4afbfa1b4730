/// Threads of our own, for what blocks: libcurl, libpq, poll(2), fdatasync. Two blocked tasks would
/// stop every other on a two-core machine.

import CLinux
import Glibc

/// The system has no thread to give.
package struct ThreadError: Error {
  /// EAGAIN: too many threads, or no memory for one.
  package let systemError: Int32
}

/// A thread that runs one closure and that nobody waits for.
package enum DetachedThread {
  /// - Parameter name: shown by `top -H`; 15 bytes count.
  package static func start(
    name: String? = nil, running body: @escaping @Sendable () -> Void
  ) throws(ThreadError) {
    pthread_detach(try startThread(name: name, running: body))
  }
}

/// A thread that runs one closure and can be waited for. No signal reaches it: the daemon handles
/// signals elsewhere, and a SIGPIPE from a socket a peer has closed must not end the process
/// (libcurl leaves that to its caller once CURLOPT_NOSIGNAL is set).
package final class JoinableThread: Sendable {
  private let thread: pthread_t
  private let isJoined = Locked(false)

  /// - Parameter name: shown by `top -H`; 15 bytes count.
  package init(
    name: String? = nil, running body: @escaping @Sendable () -> Void
  ) throws(ThreadError) {
    var everySignal = sigset_t()
    var before = sigset_t()
    sigfillset(&everySignal)
    pthread_sigmask(SIG_SETMASK, &everySignal, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    thread = try startThread(name: name, running: body)
  }

  /// Returns once the closure has; the second and later calls wait for the first.
  package func join() {
    isJoined.withLock { isJoined in
      guard !isJoined else { return }
      pthread_join(thread, nil)
      isJoined = true
    }
  }
}

private final class Work: Sendable {
  let name: String?
  let body: @Sendable () -> Void

  init(name: String?, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }
}

private func startThread(
  name: String?, running body: @escaping @Sendable () -> Void
) throws(ThreadError) -> pthread_t {
  let work = Unmanaged.passRetained(Work(name: name, body: body))
  var thread = pthread_t()
  let code = pthread_create(
    &thread, nil,
    { @Sendable context in
      guard let context else { return nil }
      let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
      if let name = work.name { _ = clinux_name_thread(name) }
      work.body()
      return nil
    }, work.toOpaque())
  guard code == 0 else {
    work.release()
    throw ThreadError(systemError: code)
  }
  return thread
}
