/// A value that several threads share, each for a moment. Under a pthread mutex and not
/// `Synchronization.Mutex`: ThreadSanitizer does not see that one's futex lock and reports races
/// that are none.

import Glibc

/// `@unchecked` holds because `value` is only touched with `mutex` held, which is made before and
/// freed after every use; and a `Sendable` value may leave.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var value: Value

  package init(_ value: Value) {
    self.value = value
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Must be short, and must not come back here.
  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value)
  }
}
