import Glibc

/// Addresses of loopback, in the form that socket calls take.
package enum LoopbackAddress {
  /// - Parameter host: one of 127.0.0.0/8.
  package static func with<Result>(
    host: UInt32 = 0x7F00_0001, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = host.bigEndian
    address.sin_port = port.bigEndian
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  /// As connect(2).
  package static func connect(_ socket: Int32, to port: UInt16) -> Int32 {
    with(port: port) { Glibc.connect(socket, $0, $1) }
  }
}
