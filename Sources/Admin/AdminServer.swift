/// The admin endpoint's HTTP server: one thread, one poll(2), one answer a connection.
///
/// It must never cost the daemon anything, so everything it holds is bounded: the connections, the
/// bytes of a request, the seconds from accept to close, the reports asked for at once. A client
/// that dawdles is cut off; when all places are taken the one that has dawdled longest goes.
/// Whether the daemon lives is answered on this thread itself, when nothing else turns any more.
///
/// FlyingFox 0.27.1 was measured for this: idle connections stay for ever (300 of 300 after 20 s),
/// one endless header takes a processor, and a kept-alive answer takes 44 ms.

import CLinux
import Glibc
import Logging
import Operations
import Platform

package final class AdminServer: Sendable {
  private let mailbox: AdminMailbox
  private let thread: JoinableThread

  /// Begins to listen, at once or, while the address is taken, as soon as it is free.
  /// - Returns: nil if the system has no thread or descriptor to give; the log says so.
  package init?(at address: ListenAddress, answering endpoint: AdminEndpoint, log: Logger) {
    guard let mailbox = AdminMailbox() else {
      log.error("no admin endpoint: too few file descriptors")
      return nil
    }
    self.mailbox = mailbox
    let thread = try? JoinableThread(name: "admin") {
      var loop = AdminLoop(address: address, endpoint: endpoint, mailbox: mailbox, log: log)
      loop.run()
    }
    guard let thread else {
      log.error("no admin endpoint: too few threads")
      return nil
    }
    self.thread = thread
  }

  deinit { stop() }

  /// Stops listening and ends every connection. Returns when that is done.
  package func stop() {
    mailbox.stop()
    thread.join()
  }
}

/// What tasks leave for the thread: answers, and the order to stop.
final class AdminMailbox: Sendable {
  /// Readable when there is mail.
  let wake: Int32
  private let mail = Locked(Mail())

  struct Mail: Sendable {
    var replies: [(place: Int32, visit: UInt64, response: AdminResponse)] = []
    var isStopping = false
  }

  init?() {
    wake = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    if wake < 0 { return nil }
  }

  deinit { close(wake) }

  func post(_ response: AdminResponse, to place: Int32, visit: UInt64) {
    mail.withLock { $0.replies.append((place, visit, response)) }
    eventfd_write(wake, 1)
  }

  func stop() {
    mail.withLock { $0.isStopping = true }
    eventfd_write(wake, 1)
  }

  func take() -> Mail {
    var count: eventfd_t = 0
    eventfd_read(wake, &count)
    return mail.withLock { mail in
      defer { mail.replies = [] }
      return mail
    }
  }
}
