import CLinux
import ExchangeSimulator
import Foundation
import Glibc
import Platform
import Synchronization
import TestSupport

/// A TCP port on loopback in front of a PostgreSQL's Unix socket: it counts who connects, and can
/// fall silent without closing anything, as a network does that loses its way.
///
/// A thread a connection, looking up every few milliseconds: it has one client.
package final class DatabaseProxy: Sendable {
  package let port: UInt16
  private let listener: Int32
  private let socketPath: String
  private let isFrozen = Atomic<Bool>(false)
  private let isStopped = Atomic<Bool>(false)
  private let connects = Locked<[Int64]>([])

  private static let lookMilliseconds: Int32 = 20
  private static let pieceBytes = 64 * 1024

  /// - Parameter socketDirectory: where the server's `.s.PGSQL.5432` is.
  package init(socketDirectory: String) throws {
    socketPath = socketDirectory + "/.s.PGSQL.5432"
    (listener, port) = try LoopbackListener.open()
    Thread.detachNewThread { @Sendable [self] in accept() }
  }

  deinit { stop() }

  package func stop() {
    if isStopped.exchange(true, ordering: .relaxed) { return }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// Nothing passes either way from here on, and no connection is closed.
  package func freeze() { isFrozen.store(true, ordering: .relaxed) }

  package func thaw() { isFrozen.store(false, ordering: .relaxed) }

  /// When each connection was asked for, in microseconds of the real clock.
  package var connectMoments: [Int64] { connects.withLock { $0 } }

  /// Most connections asked for within any second.
  package var connectsPerSecondMax: Int {
    let moments = connectMoments
    var first = 0
    var most = 0
    for (place, moment) in moments.enumerated() {
      while moment - moments[first] >= 1_000_000 { first += 1 }
      most = max(most, place - first + 1)
    }
    return most
  }

  private func accept() {
    while true {
      let client = Glibc.accept(listener, nil, nil)
      if client < 0 {
        if errno == EINTR || errno == ECONNABORTED { continue }
        break
      }
      connects.withLock { $0.append(SystemClock.realMicroseconds()) }
      Thread.detachNewThread { @Sendable [self] in serve(client) }
    }
    close(listener)
  }

  private func serve(_ client: Int32) {
    defer { close(client) }
    while isFrozen.load(ordering: .relaxed), !isStopped.load(ordering: .relaxed) {
      usleep(useconds_t(Self.lookMilliseconds) * 1000)
    }
    let server = UnixSocket.connect(socketPath)
    guard server >= 0 else { return }
    defer { close(server) }
    while !isStopped.load(ordering: .relaxed) {
      if isFrozen.load(ordering: .relaxed) {
        usleep(useconds_t(Self.lookMilliseconds) * 1000)
        continue
      }
      var ends = [
        pollfd(fd: client, events: Int16(POLLIN), revents: 0),
        pollfd(fd: server, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&ends, 2, Self.lookMilliseconds) > 0 else { continue }
      if ends[0].revents != 0, !pass(from: client, to: server) { return }
      if ends[1].revents != 0, !pass(from: server, to: client) { return }
    }
  }

  /// False when either end is gone.
  private func pass(from source: Int32, to target: Int32) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: Self.pieceBytes, alignment: 1) { buffer in
      let count = recv(source, buffer.baseAddress, buffer.count, 0)
      guard count > 0 else { return false }
      var sent = 0
      while sent < count {
        let step = send(
          target, buffer.baseAddress.map { $0 + sent }, count - sent, Int32(MSG_NOSIGNAL))
        guard step > 0 else { return false }
        sent += step
      }
      return true
    }
  }
}

enum UnixSocket {
  /// Calls `body` with the address of a path.
  static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let isShort = withUnsafeMutableBytes(of: &address.sun_path) { field in
      guard path.utf8.count < field.count else { return false }
      field.copyBytes(from: path.utf8)
      return true
    }
    guard isShort else { return -1 }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  /// A connection, or -1.
  static func connect(_ path: String) -> Int32 {
    let end = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard end >= 0 else { return -1 }
    if withAddress(path, { Glibc.connect(end, $0, $1) }) == 0 { return end }
    close(end)
    return -1
  }
}
