/// Sockets on loopback, for clients whose own cost must be small.

import Glibc
import TestSupport

enum BenchSocket {
  /// As many as the gateway lets wait.
  private static let backlog: Int32 = 4_096
  private static let secondsMax = 10
  private static let receiveBytes: Int32 = 64 << 10

  static func listen() throws -> (socket: Int32, port: UInt16) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    var address = address(of: 0)
    let isUp = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && Glibc.listen(listener, backlog) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard listener >= 0, isUp else { throw failure("listen") }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  /// It waits in reads and writes, but not for ever.
  static func connect(to port: UInt16) throws -> Int32 {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    // The kernel's default, set so that it does not grow: it doubles the number.
    var room = receiveBytes
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    let isConnected = LoopbackAddress.connect(socket, to: port) == 0
    guard socket >= 0, isConnected else {
      let failure = failure("connect")
      if socket >= 0 { close(socket) }
      throw failure
    }
    var patience = timeval(tv_sec: secondsMax, tv_usec: 0)
    setsockopt(
      socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var yes: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    return socket
  }

  static func setNonBlocking(_ socket: Int32) {
    _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL, 0) | O_NONBLOCK)
  }

  static func send(_ bytes: [UInt8], to socket: Int32) throws {
    guard Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    else { throw failure("send") }
  }

  /// Reads an answer's head, and what came with it.
  static func head(from socket: Int32) throws -> (head: String, rest: [UInt8]) {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = recv(socket, &piece, piece.count, 0)
      guard count > 0 else { throw failure("read") }
      bytes += piece[..<count]
      let end = Array("\r\n\r\n".utf8)
      if let start = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) {
        let head = String(decoding: bytes[..<start], as: UTF8.self)
        return (head, Array(bytes[(start + end.count)...]))
      }
    }
  }

  /// Opens a WebSocket's connection.
  /// - Returns: bytes behind the server's head.
  static func upgrade(_ socket: Int32) throws -> [UInt8] {
    let (head, rest) = try head(from: socket)
    guard head.hasPrefix("HTTP/1.1 101") else {
      throw BenchFailure(description: "no WebSocket: \(head.prefix(100))")
    }
    return rest
  }

  static func upgradeRequest(token: String? = nil) -> [UInt8] {
    let credential = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    return Array(
      """
      GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r
      \(credential)Sec-WebSocket-Version: 13\r
      Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n
      """.utf8)
  }

  /// A client's frame; its mask is zero, so the payload stands as it is.
  static func frame(_ text: String) -> [UInt8] {
    let payload = Array(text.utf8)
    return [0x81, 0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255), 0, 0, 0, 0]
      + payload
  }

  private static func address(of port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private static func failure(_ what: String) -> BenchFailure {
    BenchFailure(description: "cannot \(what): \(String(cString: strerror(errno)))")
  }
}
