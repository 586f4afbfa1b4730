import Glibc

/// Sockets that listen on a free port of 127.0.0.1, for the servers that tests make by hand.
package enum LoopbackListener {
  package struct Failure: Error, CustomStringConvertible {
    package let description = "cannot listen on 127.0.0.1"
  }

  /// Many more than any test connects at once.
  private static let backlog: Int32 = 64

  package static func open() throws(Failure) -> (socket: Int32, port: UInt16) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isUp = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, backlog) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard listener >= 0, isUp else { throw Failure() }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  /// Hands each connection to `response`, one after the other, and closes it; returns once the
  /// listener is shut down, and closes that too.
  package static func serve(_ listener: Int32, _ response: (Int32) -> Void) {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { break }
      response(connection)
      close(connection)
    }
    close(listener)
  }

  /// Free a moment ago; whoever binds port 0 may be given it: use it soon.
  package static func freePort() throws(Failure) -> UInt16 {
    let (listener, port) = try open()
    close(listener)
    return port
  }
}
