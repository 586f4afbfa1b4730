// A server that misbehaves on order: raw sockets, a thread for each connection, no HTTP library, so
// that a test can reset, truncate, stall or lie at any byte.
import Glibc
import Platform
import TestSupport

/// One accepted connection, in the hands of the test's script.
struct Connection {
  let descriptor: Int32

  /// The next request's head, or nil when the client has closed.
  func readHead() -> String? {
    var head: [UInt8] = []
    var byte: UInt8 = 0
    while recv(descriptor, &byte, 1, 0) == 1 {
      head.append(byte)
      if head.suffix(4) == [13, 10, 13, 10] { return String(decoding: head, as: UTF8.self) }
    }
    return nil
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(
          descriptor, $0.baseAddress?.advanced(by: sent), $0.count - sent,
          Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      sent += count
    }
  }

  /// A whole answer with its length.
  func respond(_ status: String = "200 OK", headers: String = "", body: [UInt8]) {
    send("HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\n\(headers)\r\n")
    send(body)
  }

  /// Blocks until the client goes away.
  func waitForClose() {
    var byte: UInt8 = 0
    while recv(descriptor, &byte, 1, 0) > 0 {}
  }

  /// The next close sends RST instead of FIN.
  func resetOnClose() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }
}

/// Serves until it is dropped.
final class LoopbackServer: Sendable {
  typealias Script = @Sendable (Connection) -> Void

  let port: UInt16
  private let listener: Int32

  var base: String { "http://127.0.0.1:\(port)" }

  init(_ script: @escaping Script) throws {
    let (listener, port) = try LoopbackListener.open()
    (self.listener, self.port) = (listener, port)
    try DetachedThread.start {
      while true {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { break }
        try? DetachedThread.start {
          script(Connection(descriptor: descriptor))
          close(descriptor)
        }
      }
      close(listener)
    }
  }

  /// One request after the other on each connection, each answered by the script.
  convenience init(each respond: @escaping @Sendable (Connection, _ head: String) -> Void) throws {
    try self.init { connection in
      while let head = connection.readHead() { respond(connection, head) }
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}
