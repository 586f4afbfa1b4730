/// A value that several threads share, each for a moment.
///
/// `@unchecked Sendable` holds because `value` is private and touched only in `withLock`, while the
/// mutex is held, which lives as long as the value; and a `Sendable` value may leave.
package final class Locked<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let mutex = PthreadMutex()
  @usableFromInline var value: Value

  package init(_ value: Value) { self.value = value }

  /// `body` must be short, and must not come back here.
  @inlinable
  package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    mutex.lock()
    defer { mutex.unlock() }
    return try body(&value)
  }
}
