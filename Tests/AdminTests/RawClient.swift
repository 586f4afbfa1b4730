import Glibc
import NIOCore
import Operations

/// A client that sends any bytes and reads what comes, to see what the server makes of them.
final class RawClient: Sendable {
  struct Failure: Error { var number: Int32 }

  let socket: Int32

  /// - Parameter secondsMax: how long it waits for anything.
  init(_ address: ListenAddress, secondsMax: Int) throws {
    let target =
      switch address {
      case .ipv4(let host, let port), .ipv6(let host, let port):
        try SocketAddress(ipAddress: host, port: Int(port))
      case .unix(let path): try SocketAddress(unixDomainSocketPath: path)
      }
    socket = Glibc.socket(Int32(target.protocol.rawValue), Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: secondsMax, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    guard target.withSockAddr({ connect(socket, $0, socklen_t($1)) }) == 0 else {
      throw Failure(number: errno)
    }
  }

  deinit { close(socket) }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// Says that nothing more will be sent.
  func finishSending() { shutdown(socket, Int32(SHUT_WR)) }

  func hangUp() { shutdown(socket, Int32(SHUT_RDWR)) }

  /// Reads to the end; nil if the server does not hang up while the socket waits.
  func readAll() -> String? {
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      if count > 0 {
        text += buffer.prefix(count)
      } else if count < 0, errno == EAGAIN {
        return nil
      } else {
        return String(decoding: text, as: UTF8.self)
      }
    }
  }
}
