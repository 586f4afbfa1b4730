/// The socket a server listens on, made here and not by NIO: one in the file system must have its
/// mode before it listens, and may replace only a socket that nobody answers at.

import Glibc
import NIOCore
import Operations

enum ListeningSocket {
  struct Failure: Error {
    var sentence: String
  }

  /// Of a socket in the file system, whatever the umask: for the process's user and its group.
  static let fileMode: mode_t = 0o660

  /// A socket that is bound and does not listen yet.
  static func bind(to address: ListenAddress) throws(Failure) -> CInt {
    if let obstacle = address.obstacle { throw Failure(sentence: obstacle) }
    let target = try socketAddress(address)
    let socket = try open(target)
    var one: CInt = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
    if case .unix(let path) = address, isDead(target) { unlink(path) }
    let isBound = target.withSockAddr { Glibc.bind(socket, $0, socklen_t($1)) == 0 }
    // Nobody connects before it listens, so nobody does while its mode is the umask's.
    guard isBound, isModeSet(address) else {
      defer { close(socket) }
      throw Failure(sentence: "listen: \(String(cString: strerror(errno)))")
    }
    return socket
  }

  /// Removes the file of a socket; whatever else has taken its place stays.
  static func removeFile(of address: ListenAddress) {
    if case .unix(let path) = address, address.obstacle == nil { unlink(path) }
  }

  static func socketAddress(_ address: ListenAddress) throws(Failure) -> SocketAddress {
    do {
      switch address {
      case .ipv4(let host, let port), .ipv6(let host, let port):
        return try SocketAddress(ipAddress: host, port: Int(port))
      case .unix(let path):
        return try SocketAddress(unixDomainSocketPath: path)
      }
    } catch {
      throw Failure(sentence: "\(error)")
    }
  }

  /// `connect: Connection refused`
  static func sentence(_ step: String, error: any Error) -> String {
    let cause = (error as? IOError).map { String(cString: strerror($0.errnoCode)) }
    return "\(step): \(cause ?? "\(error)")"
  }

  private static func open(_ address: SocketAddress) throws(Failure) -> CInt {
    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
    let socket = socket(CInt(address.protocol.rawValue), CInt(kind), 0)
    guard socket >= 0 else {
      throw Failure(sentence: "socket: \(String(cString: strerror(errno)))")
    }
    return socket
  }

  private static func isModeSet(_ address: ListenAddress) -> Bool {
    guard case .unix(let path) = address else { return true }
    return chmod(path, fileMode) == 0
  }

  /// Whether it is the file that a killed process left behind; one that somebody answers at stays.
  private static func isDead(_ address: SocketAddress) -> Bool {
    guard let probe = try? open(address) else { return false }
    defer { close(probe) }
    return address.withSockAddr { connect(probe, $0, socklen_t($1)) != 0 && errno == ECONNREFUSED }
  }
}
