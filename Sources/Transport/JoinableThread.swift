// A pthread that runs one closure and can be waited for. No signal reaches it: the daemon handles
// signals elsewhere, and a SIGPIPE from a socket a peer has closed must not end the process
// (libcurl leaves that to its caller once CURLOPT_NOSIGNAL is set).
import Glibc

/// `@unchecked` holds because `thread` never changes and `isJoined` is touched only under the lock.
package final class JoinableThread: @unchecked Sendable {
  private final class Work {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private let thread: pthread_t
  private let mutex = PthreadMutex()
  private var isJoined = false

  /// nil if the system has no thread to give.
  package init?(running body: @escaping @Sendable () -> Void) {
    var everySignal = sigset_t()
    var before = sigset_t()
    sigfillset(&everySignal)
    pthread_sigmask(SIG_SETMASK, &everySignal, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { @Sendable context in
        if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, work.toOpaque())
    guard code == 0 else {
      work.release()
      return nil
    }
    self.thread = thread
  }

  /// Returns once the closure has; the second and later calls wait for the first.
  package func join() {
    mutex.withLock {
      guard !isJoined else { return }
      pthread_join(thread, nil)
      isJoined = true
    }
  }
}
