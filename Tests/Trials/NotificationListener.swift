import CPostgres
import ExchangeSimulator
import Foundation
import Glibc
import Platform
import Synchronization

/// A consumer of the most ordinary kind: it listens on `candled` and keeps what it is told. Or, to
/// be in everybody's way, it listens and then stays in a transaction.
public final class NotificationListener: Sendable {
  private let heard = Guarded<[String]>([])
  private let isStopped = Atomic<Bool>(false)
  private let isListening = Atomic<Bool>(false)

  private static let lookMilliseconds: Int32 = 50
  private static let payloadsMax = 200_000

  /// - Parameter staysInTransaction: it never comes to hear anything, and the server's queue grows.
  public init(url: String, staysInTransaction: Bool = false) {
    Thread.detachNewThread { @Sendable [self] in
      while !isStopped.load(ordering: .relaxed) {
        listen(url, staysInTransaction)
        usleep(useconds_t(Self.lookMilliseconds) * 1000)
      }
    }
  }

  public func stop() { isStopped.store(true, ordering: .relaxed) }

  public var payloads: [String] { heard.withLock { $0 } }

  /// False if it could not within ten seconds.
  public func waitUntilListening() -> Bool {
    for _ in 0..<1000 {
      if isListening.load(ordering: .relaxed) { return true }
      usleep(10_000)
    }
    return false
  }

  /// Until the connection ends.
  private func listen(_ url: String, _ staysInTransaction: Bool) {
    guard let connection = PQconnectdb(url) else { return }
    defer { PQfinish(connection) }
    guard PQstatus(connection) == CONNECTION_OK else { return }
    PQclear(PQexec(connection, "listen candled"))
    if staysInTransaction {
      PQclear(PQexec(connection, "begin isolation level repeatable read; select 1"))
    }
    isListening.store(true, ordering: .relaxed)
    while !isStopped.load(ordering: .relaxed) {
      var watched = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
      poll(&watched, 1, Self.lookMilliseconds)
      guard PQconsumeInput(connection) == 1 else { return }
      while let notification = PQnotifies(connection) {
        if let extra = notification.pointee.extra {
          let payload = String(cString: extra)
          heard.withLock { if $0.count < Self.payloadsMax { $0.append(payload) } }
        }
        PQfreemem(notification)
      }
    }
  }
}
