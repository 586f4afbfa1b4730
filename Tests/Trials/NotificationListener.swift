import CPostgres
import ExchangeSimulator
import Foundation
import Glibc
import Platform
import Synchronization

/// A consumer of the most ordinary kind: it listens on `candled` and keeps what it is told.
package final class NotificationListener: Sendable {
  private let received = Locked<[String]>([])
  private let isStopped = Atomic<Bool>(false)

  private static let lookMilliseconds: Int32 = 50
  private static let payloadsMax = 200_000

  package init(url: String) {
    Thread.detachNewThread { @Sendable [self] in
      while !isStopped.load(ordering: .relaxed) {
        listen(url)
        usleep(useconds_t(Self.lookMilliseconds) * 1000)
      }
    }
  }

  package func stop() { isStopped.store(true, ordering: .relaxed) }

  package var payloads: [String] { received.withLock { $0 } }

  /// Until the connection ends.
  private func listen(_ url: String) {
    guard let connection = PQconnectdb(url) else { return }
    defer { PQfinish(connection) }
    guard PQstatus(connection) == CONNECTION_OK else { return }
    PQclear(PQexec(connection, "listen candled"))
    while !isStopped.load(ordering: .relaxed) {
      var watched = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
      poll(&watched, 1, Self.lookMilliseconds)
      guard PQconsumeInput(connection) == 1 else { return }
      while let notification = PQnotifies(connection) {
        if let extra = notification.pointee.extra {
          let payload = String(cString: extra)
          received.withLock { if $0.count < Self.payloadsMax { $0.append(payload) } }
        }
        PQfreemem(notification)
      }
    }
  }
}
