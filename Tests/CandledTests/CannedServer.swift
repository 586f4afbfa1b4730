/// A server that gives everybody the same answer.

import Foundation
import Glibc
import TestSupport

final class CannedServer: Sendable {
  let url: String
  private let listener: Int32
  private let body: String

  init(_ body: String) throws {
    let (listener, port) = try LoopbackListener.open()
    self.listener = listener
    self.body = body
    url = "http://127.0.0.1:\(port)"
    Thread { [self] in LoopbackListener.serve(listener, respond) }.start()
  }

  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  private func respond(_ connection: Int32) {
    var block = [UInt8](repeating: 0, count: 1 << 14)
    guard recv(connection, &block, block.count, 0) > 0 else { return }
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n"
    let bytes = Array((head + body).utf8)
    _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }
}
