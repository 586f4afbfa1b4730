/// The few socket calls of the admin endpoint, none of which waits.

import Glibc
import Operations

enum AdminSocket {
  struct Failure: Error {
    var sentence: String
  }

  enum Arrival {
    case accepted(Int32)
    case nobody
    case failed
  }

  enum Reading {
    case bytes([UInt8])
    case later
    /// The other side is done or gone.
    case over
  }

  private static let backlog: Int32 = 32
  /// Of a socket in the file system, whatever the umask: the daemon's user and its group ask.
  static let socketMode: mode_t = 0o660

  /// A listening socket, and where it listens: a port of 0 has become one.
  static func listen(at address: ListenAddress) -> Result<(Int32, ListenAddress), Failure> {
    if let obstacle = address.obstacle { return .failure(Failure(sentence: obstacle)) }
    let socket = open(for: address)
    guard socket >= 0 else { return .failure(failure("socket")) }
    var one: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    removeDeadSocket(address)
    let isBound = withAddress(address) { pointer, length in
      // Nobody connects before it listens, so nobody does while its mode is the umask's.
      Glibc.bind(socket, pointer, length) == 0 && isModeSet(address)
        && Glibc.listen(socket, backlog) == 0
    }
    guard isBound else {
      defer { close(socket) }
      return .failure(failure("listen"))
    }
    return .success((socket, bound(socket, address)))
  }

  static func closeListener(_ socket: Int32, at address: ListenAddress) {
    close(socket)
    removeSocket(address)
  }

  /// Whatever else has taken its place stays.
  private static func removeSocket(_ address: ListenAddress) {
    if case .unix(let path) = address, address.obstacle == nil { unlink(path) }
  }

  private static func isModeSet(_ address: ListenAddress) -> Bool {
    guard case .unix(let path) = address else { return true }
    return chmod(path, socketMode) == 0
  }

  /// A connected socket that waits at most so long for anything.
  static func connect(to address: ListenAddress, secondsMax: Int) -> Result<Int32, Failure> {
    let socket = open(for: address, isWaiting: true)
    guard socket >= 0 else { return .failure(failure("socket")) }
    var limit = timeval(tv_sec: secondsMax, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(
        socket, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    guard withAddress(address, { Glibc.connect(socket, $0, $1) == 0 }) else {
      defer { close(socket) }
      return .failure(failure("connect"))
    }
    return .success(socket)
  }

  static func accept(_ listener: Int32) -> Arrival {
    let socket = Glibc.accept(listener, nil, nil)
    if socket >= 0 {
      _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
      _ = fcntl(socket, F_SETFL, O_NONBLOCK)
      return .accepted(socket)
    }
    return [EAGAIN, EINTR, ECONNABORTED].contains(errno) ? .nobody : .failed
  }

  static func read(_ socket: Int32, bytesMax: Int) -> Reading {
    var bytes = [UInt8](repeating: 0, count: bytesMax)
    let count = recv(socket, &bytes, bytesMax, 0)
    if count > 0 { return .bytes(Array(bytes.prefix(count))) }
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? .later : .over
  }

  /// How many it took; nil when the other side is gone.
  static func write(_ socket: Int32, _ bytes: ArraySlice<UInt8>) -> Int? {
    let count = bytes.withUnsafeBytes { buffer in
      send(socket, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
    }
    if count >= 0 { return count }
    return errno == EAGAIN || errno == EINTR ? 0 : nil
  }

  private static func failure(_ step: String) -> Failure {
    Failure(sentence: "\(step): \(String(cString: strerror(errno)))")
  }

  private static func open(for address: ListenAddress, isWaiting: Bool = false) -> Int32 {
    let family =
      switch address {
      case .ipv4: AF_INET
      case .ipv6: AF_INET6
      case .unix: AF_UNIX
      }
    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
    return socket(family, Int32(isWaiting ? kind : kind | SOCK_NONBLOCK.rawValue), 0)
  }

  /// A file a killed daemon left behind; one that somebody answers at stays.
  private static func removeDeadSocket(_ address: ListenAddress) {
    guard case .unix = address, case .failure = connect(to: address, secondsMax: 1),
      errno == ECONNREFUSED
    else { return }
    removeSocket(address)
  }

  private static func bound(_ socket: Int32, _ address: ListenAddress) -> ListenAddress {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let port = withUnsafeMutablePointer(to: &storage) { pointer -> UInt16? in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        guard getsockname(socket, generic, &length) == 0 else { return nil }
        // The port has the same place in both families.
        return generic.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          UInt16(bigEndian: $0.pointee.sin_port)
        }
      }
    }
    switch address {
    case .ipv4(let host, let asked): return .ipv4(host: host, port: port ?? asked)
    case .ipv6(let host, let asked): return .ipv6(host: host, port: port ?? asked)
    case .unix: return address
    }
  }

  private static func withAddress(
    _ address: ListenAddress, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool
  ) -> Bool {
    switch address {
    case .ipv4(let host, let port):
      var inner = sockaddr_in()
      inner.sin_family = sa_family_t(AF_INET)
      inner.sin_port = port.bigEndian
      inet_pton(AF_INET, host, &inner.sin_addr)
      return withGeneric(&inner, body)
    case .ipv6(let host, let port):
      var inner = sockaddr_in6()
      inner.sin6_family = sa_family_t(AF_INET6)
      inner.sin6_port = port.bigEndian
      inet_pton(AF_INET6, host, &inner.sin6_addr)
      return withGeneric(&inner, body)
    case .unix(let path):
      var inner = sockaddr_un()
      inner.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &inner.sun_path) { $0.copyBytes(from: path.utf8) }
      return withGeneric(&inner, body)
    }
  }

  private static func withGeneric<Address>(
    _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool
  ) -> Bool {
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<Address>.size))
      }
    }
  }
}
