/// The server one should not trust: it refuses whatever it is asked and repeats all of the
/// question in its answer, as it came and in Base64, now and then as the place it sends one to.

import Foundation
import Glibc
import Platform
import TestSupport

final class EchoServer: Sendable {
  let url: String
  private let listener: Int32
  private let requests = Monitor<[String]>([])

  /// Two keys that will not do bring a dozen questions within seconds.
  private static let waitSecondsMax: Int64 = 180
  private static let statuses = [
    "401 Unauthorized", "404 Not Found", "302 Found", "500 Oops", "200 OK", "503 Busy",
  ]

  init() throws {
    let (listener, port) = try LoopbackListener.open()
    self.listener = listener
    url = "http://127.0.0.1:\(port)"
    Thread { [self] in LoopbackListener.serve(listener, respond) }.start()
  }

  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  /// The heads of all requests, once `count` have come; of fewer if the others do not come in time.
  func heads(_ count: Int = 0) -> [String] {
    requests.wait(
      while: { $0.count < count }, nanosecondsMax: Self.waitSecondsMax * 1_000_000_000,
      then: { $0 })
  }

  private func respond(_ connection: Int32) {
    var block = [UInt8](repeating: 0, count: 1 << 14)
    let count = recv(connection, &block, block.count, 0)
    guard count > 0 else { return }
    let head = String(decoding: block.prefix(count), as: UTF8.self)
    let turn = requests.change { heads in
      heads.append(head)
      return heads.count
    }
    // Words, their parts, and all of it, where a secret begins anywhere in a group of three bytes.
    let words = head.split { " \r\n".contains($0) } + head.split { " \r\n:/".contains($0) }
    let encoded = (words + [head[...]]).map { Data($0.utf8).base64EncodedString() }
    let body = Array("\(head)\n\(encoded.joined(separator: " "))\n".utf8)
    let place = words.joined(separator: "&").addingPercentEncoding(
      withAllowedCharacters: .alphanumerics)
    let start =
      "HTTP/1.1 \(Self.statuses[turn % Self.statuses.count])\r\n"
      + "Location: \(url)/\(place ?? "")?\(encoded.joined(separator: "&"))\r\n"
      + "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
    let bytes = Array(start.utf8) + body
    _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }
}
