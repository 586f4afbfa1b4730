import CLinux
import Glibc

/// The few socket calls the server needs, on plain descriptors.
package enum Socket {
  private static let backlog: Int32 = 128

  /// A listening socket on 127.0.0.1 and its port.
  static func listen(port: UInt16) throws(SimulatorError) -> (Int32, UInt16) {
    let failed = SimulatorError(.cannotListen, sentence: "cannot listen on 127.0.0.1:\(port)")
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw failed }
    set(socket, level: SOL_SOCKET, option: SO_REUSEADDR, to: Int32(1))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        guard Glibc.bind(socket, generic, length) == 0, Glibc.listen(socket, backlog) == 0 else {
          return Int32(-1)
        }
        return getsockname(socket, generic, &length)
      }
    }
    guard status == 0 else {
      close(socket)
      throw failed
    }
    return (socket, UInt16(bigEndian: address.sin_port))
  }

  /// nil once the listener was shut down.
  static func accept(_ listener: Int32) -> Int32? {
    while true {
      let socket = Glibc.accept(listener, nil, nil)
      if socket >= 0 {
        set(socket, level: Int32(IPPROTO_TCP), option: TCP_NODELAY, to: Int32(1))
        return socket
      }
      if errno != EINTR && errno != ECONNABORTED { return nil }
    }
  }

  /// False when the other side is done or gone.
  static func receive(_ socket: Int32, into bytes: inout [UInt8], bytesMax: Int) -> Bool {
    let count = withUnsafeTemporaryAllocation(byteCount: bytesMax, alignment: 1) { buffer in
      while true {
        let count = recv(socket, buffer.baseAddress, bytesMax, 0)
        if count < 0, errno == EINTR { continue }
        bytes.append(contentsOf: UnsafeRawBufferPointer(buffer).prefix(max(count, 0)))
        return count
      }
    }
    return count > 0
  }

  /// False when the other side is gone.
  package static func send(_ socket: Int32, bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { buffer in
      var sent = 0
      while sent < buffer.count {
        let count = Glibc.send(
          socket, buffer.baseAddress.map { $0 + sent }, buffer.count - sent,
          Int32(MSG_NOSIGNAL))
        if count >= 0 {
          sent += count
        } else if errno != EINTR {
          return false
        }
      }
      return true
    }
  }

  static func shutdown(_ socket: Int32) { Glibc.shutdown(socket, Int32(SHUT_RDWR)) }

  static func close(_ socket: Int32) { _ = Glibc.close(socket) }

  package static func set<Value: BitwiseCopyable>(
    _ socket: Int32, level: Int32, option: Int32, to value: Value
  ) {
    var value = value
    _ = setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Value>.size))
  }
}
