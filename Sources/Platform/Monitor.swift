import Glibc

/// A value that several threads share, and whose changes some of them wait for: a mutex and a
/// condition (Hoare's monitor). Waiting blocks the thread: never in a task of the shared pool.
///
/// `@unchecked Sendable` holds because `value` is private and touched only while the mutex is held
/// (no access to it lasts over a wait); mutex and condition live as long as the value; and a
/// `Sendable` value may leave.
package final class Monitor<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let mutex = PthreadMutex()
  @usableFromInline let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  @usableFromInline var value: Value

  package init(_ value: Value) {
    self.value = value
    changed.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(changed, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(changed)
    changed.deallocate()
  }

  /// Reads the value, or changes what nobody waits for. `body` must be short, and must not come
  /// back here.
  @inlinable
  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    mutex.lock()
    defer { mutex.unlock() }
    return try body(&value)
  }

  /// As `withLock`, and all that wait look again.
  @inlinable
  package func change<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    mutex.lock()
    defer {
      pthread_cond_broadcast(changed)
      mutex.unlock()
    }
    return try body(&value)
  }

  /// Blocks while `mustWait` holds; then calls `body` before anybody else sees the value.
  @inlinable
  package func wait<Result>(
    while mustWait: (Value) -> Bool, then body: (inout Value) -> Result
  ) -> Result {
    mutex.lock()
    defer { mutex.unlock() }
    while mustWait(value) { pthread_cond_wait(changed, mutex.address) }
    return body(&value)
  }

  /// As `wait`, but no longer than `nanosecondsMax`: then `body` is called all the same.
  package func wait<Result>(
    while mustWait: (Value) -> Bool, nanosecondsMax: Int64, then body: (inout Value) -> Result
  ) -> Result {
    let end = MonotonicClock.nanoseconds() + nanosecondsMax
    var deadline = timespec(
      tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
    mutex.lock()
    defer { mutex.unlock() }
    while mustWait(value) {
      if pthread_cond_timedwait(changed, mutex.address, &deadline) == ETIMEDOUT { break }
    }
    return body(&value)
  }
}
