import CLinux
import Glibc

/// A flag another thread can raise while this one waits in poll(2).
package final class Interrupt: Sendable {
  package let descriptor: Int32

  package init() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    precondition(descriptor >= 0, "the system has no file descriptor left")
  }

  deinit { close(descriptor) }

  package func signal() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  /// Takes the flag down, for whoever waits again.
  package func clear() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, 8)
  }

  /// Stays true until `clear`.
  package var isSignalled: Bool { wait(milliseconds: 0) }

  @discardableResult
  package func wait(milliseconds: Int32) -> Bool {
    var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&item, 1, milliseconds) > 0
  }
}
