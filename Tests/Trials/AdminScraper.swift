import ExchangeSimulator
import Foundation
import Glibc
import Platform
import Synchronization
import TestSupport

/// A scraper of a daemon's admin endpoint: asks for every page now and then, and keeps what it is
/// told.
final class AdminScraper: Sendable {
  let port: UInt16
  private let received = Locked<[Data]>([])
  private let isStopped = Atomic<Bool>(false)

  static let pages = ["/livez", "/readyz", "/metrics", "/status"]
  private static let lookMicroseconds: useconds_t = 250_000
  private static let responsesMax = 400
  private static let responseBytesMax = 1 << 20

  /// Of an endpoint that is to come up on a port free now.
  init() throws {
    port = try LoopbackListener.freePort()
    Thread.detachNewThread { @Sendable [self] in
      while !isStopped.load(ordering: .relaxed) {
        for page in Self.pages { look(at: page) }
        usleep(Self.lookMicroseconds)
      }
    }
  }

  func stop() { isStopped.store(true, ordering: .relaxed) }

  var responses: [Data] { received.withLock { $0 } }

  private func look(at page: String) {
    guard let response = Self.get(page, port: port) else { return }
    received.withLock { received in
      if received.count == Self.responsesMax { received.removeFirst() }
      received.append(response)
    }
  }

  /// A page with its head; nil without an answer.
  static func get(_ page: String, port: UInt16, secondsMax: Int = 2) -> Data? {
    let head = "GET \(page) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    return answer(to: Array(head.utf8), port: port, secondsMax: secondsMax)
  }

  /// What comes until the other side closes, or nothing has come for so long.
  static func answer(to request: [UInt8], port: UInt16, secondsMax: Int) -> Data? {
    let end = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard end >= 0 else { return nil }
    defer { close(end) }
    var patience = timeval(tv_sec: secondsMax, tv_usec: 0)
    setsockopt(
      end, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let isConnected = LoopbackAddress.connect(end, to: port) == 0
    guard isConnected, send(end, request, request.count, Int32(MSG_NOSIGNAL)) > 0 else {
      return nil
    }
    var response = Data()
    var piece = [UInt8](repeating: 0, count: 16_384)
    while response.count < responseBytesMax {
      let count = recv(end, &piece, piece.count, 0)
      if count <= 0 { break }
      response += piece.prefix(count)
    }
    return response.isEmpty ? nil : response
  }
}
