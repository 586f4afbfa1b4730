import Glibc

/// A pthread mutex at an address that stays. Not `Synchronization.Mutex`: ThreadSanitizer does not
/// see that one's futex lock and reports races that are none; it also costs three times as much.
@usableFromInline
struct PthreadMutex: ~Copyable {
  @usableFromInline let address = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  @usableFromInline
  init() {
    address.initialize(to: pthread_mutex_t())
    pthread_mutex_init(address, nil)
  }

  deinit {
    pthread_mutex_destroy(address)
    address.deallocate()
  }

  @inlinable
  func lock() { pthread_mutex_lock(address) }

  @inlinable
  func unlock() { pthread_mutex_unlock(address) }
}
