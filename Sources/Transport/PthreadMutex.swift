// A pthread mutex on the heap. Not `Synchronization.Mutex`: ThreadSanitizer does not see its futex
// lock and reports races that are none.
import Glibc

final class PthreadMutex: Sendable {
  // Safe: the address is fixed by the allocation and only ever handed to pthread functions, which
  // are made to be called from any thread.
  nonisolated(unsafe) private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withLock<Value>(_ body: () -> Value) -> Value {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}
