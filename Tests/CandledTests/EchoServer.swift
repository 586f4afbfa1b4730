/// The server one should not trust: it refuses whatever it is asked and repeats all of the
/// question in its answer, as it came and in Base64.

import Dispatch
import Foundation
import Glibc
import Platform
import TestSupport

final class EchoServer: Sendable {
  let url: String
  private let listener: Int32
  private let heard = Guarded<[String]>([])
  private let news = DispatchSemaphore(value: 0)

  init() throws {
    let (listener, port) = try LoopbackListener.open()
    self.listener = listener
    url = "http://127.0.0.1:\(port)"
    Thread { [self] in serve() }.start()
  }

  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  /// The heads of the first `count` requests, once they have come.
  func heads(_ count: Int) -> [String] {
    for _ in 0..<count { news.wait() }
    return heard.withLock { $0 }
  }

  private func serve() {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { break }
      answer(connection)
      close(connection)
    }
    close(listener)
  }

  private func answer(_ connection: Int32) {
    var block = [UInt8](repeating: 0, count: 1 << 14)
    let count = recv(connection, &block, block.count, 0)
    guard count > 0 else { return }
    let head = String(decoding: block.prefix(count), as: UTF8.self)
    let statuses = ["401 Unauthorized", "404 Not Found", "500 Oops", "200 OK", "503 Busy"]
    let turn = heard.withLock { heads in
      heads.append(head)
      return heads.count
    }
    let words = head.split { " \r\n:/".contains($0) }.map(String.init)
    let encoded = words.map { Data($0.utf8).base64EncodedString() }.joined(separator: " ")
    let body = Array("\(head)\n\(encoded)\n".utf8)
    let start =
      "HTTP/1.1 \(statuses[turn % statuses.count])\r\nContent-Length: \(body.count)\r\n"
      + "Connection: close\r\n\r\n"
    let bytes = Array(start.utf8) + body
    _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    news.signal()
  }
}
