import ExchangeSimulator
import Foundation
import Platform
import Synchronization
import TestSupport

/// What a daemon tells systemd: kept, for a datagram socket that nobody reads would hold it up.
final class SystemdListener: Sendable {
  private let socket: NotifySocket
  private let received = Locked<[String]>([])
  private let isStopped = Atomic<Bool>(false)

  private static let lookMicroseconds: useconds_t = 20_000
  private static let messagesMax = 100_000

  init() throws {
    socket = try NotifySocket()
    Thread.detachNewThread { @Sendable [self] in
      while !isStopped.load(ordering: .relaxed) {
        listen()
        usleep(Self.lookMicroseconds)
      }
    }
  }

  func stop() { isStopped.store(true, ordering: .relaxed) }

  /// As NOTIFY_SOCKET names it.
  var name: String { socket.name }

  /// All there is until now.
  var messages: [String] {
    listen()
    return received.withLock { $0 }
  }

  private func listen() {
    let messages = socket.waiting()
    if messages.isEmpty { return }
    received.withLock { if $0.count < Self.messagesMax { $0 += messages } }
  }
}
