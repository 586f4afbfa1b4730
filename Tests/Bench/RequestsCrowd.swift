/// Those who ask a gateway for more than others do, each on a thread and a connection of its own,
/// and the one who is to notice nothing of it.

import Glibc
import Platform

/// What it asks, over and over, as fast as it is answered.
final class GreedyCrowd: Sendable {
  private let isOver = Locked(false)
  private let counts = Locked((answers: 0, refusals: 0, bytes: 0))
  private let threads = Locked<[JoinableThread]>([])
  private static let refusedMicroseconds: useconds_t = 50_000

  func begin(_ body: @escaping @Sendable (GreedyCrowd) -> Void) throws {
    let thread = try JoinableThread(name: "greedy") { [self] in
      while !isStopped {
        body(self)
        // It was sent away.
        usleep(Self.refusedMicroseconds)
      }
    }
    threads.withLock { $0.append(thread) }
  }

  var isStopped: Bool { isOver.withLock { $0 } }
  var bytes: Int { counts.withLock { $0.bytes } }

  func drew(_ bytes: Int) { counts.withLock { $0.bytes += bytes } }

  func stop() -> (answers: Int, refusals: Int, bytes: Int) {
    isOver.withLock { $0 = true }
    for thread in threads.withLock({ $0 }) { thread.join() }
    return counts.withLock { $0 }
  }

  // MARK: Requests

  /// - Parameter requests: in turn.
  func ask(_ requests: [[UInt8]], of port: UInt16) {
    guard let socket = try? BenchSocket.connect(to: port) else { return }
    defer { close(socket) }
    var round = 0
    while !isStopped {
      let request = requests[round % requests.count]
      round += 1
      guard let reply = try? BenchRequest.reply(to: request, on: socket) else { return }
      drew(reply.bytes.count)
      let isRefused = reply.status != 200
      counts.withLock { counts in
        if isRefused { counts.refusals += 1 } else { counts.answers += 1 }
      }
      if isRefused { usleep(Self.refusedMicroseconds) }
    }
  }

  // MARK: Sockets

  private static let readBytes = 256 << 10
  /// A socket may send ten messages a second.
  private static let messageMilliseconds: Int64 = 110

  /// Sends these messages in turn and reads what comes, until it is sent away.
  func follow(_ messages: [[UInt8]], of port: UInt16, token: String?) {
    guard let socket = try? BenchSocket.connect(to: port) else { return }
    defer { close(socket) }
    do {
      try BenchSocket.send(BenchSocket.upgradeRequest(token: token), to: socket)
      drew(try BenchSocket.upgrade(socket).count)
    } catch {
      return counts.withLock { $0.refusals += 1 }
    }
    var piece = [UInt8](repeating: 0, count: Self.readBytes)
    var round = 0
    while !isStopped {
      guard (try? BenchSocket.send(messages[round % messages.count], to: socket)) != nil
      else { break }
      round += 1
      let next = MonotonicClock.milliseconds() + Self.messageMilliseconds
      while case let left = next - MonotonicClock.milliseconds(), left > 0 {
        var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, Int32(left)) > 0 else { continue }
        let count = recv(socket, &piece, piece.count, 0)
        guard count > 0 else { return counts.withLock { $0.refusals += 1 } }
        drew(count)
      }
      counts.withLock { $0.answers += 1 }
    }
  }
}

/// A user with a history ten times a second, and a socket that asks whether somebody is there.
final class QuietUser {
  private let socket: Int32
  private let stream: Int32
  private let request: [UInt8]
  private static let ping = BenchSocket.frame(#"{"action":"ping"}"#)
  private static let pong = Array("\"pong\"".utf8)
  /// A socket may send ten messages a second.
  private static let pauseMicroseconds: useconds_t = 110_000

  init(port: UInt16, token: String, symbol: String) throws {
    socket = try BenchSocket.connect(to: port)
    stream = try BenchSocket.connect(to: port)
    request = BenchRequest.get(
      "/v1/stocks/\(symbol)/history?interval=1m&period=1d&limit=240", token: token)
    try BenchSocket.send(BenchSocket.upgradeRequest(token: token), to: stream)
    _ = try BenchSocket.upgrade(stream)
  }

  deinit {
    close(socket)
    close(stream)
  }

  func measure(seconds: Int64) throws -> (history: BenchRow, ping: BenchRow) {
    var (history, ping) = (BenchRow("history"), BenchRow("ping"))
    let end = MonotonicClock.seconds() + seconds
    while MonotonicClock.seconds() < end {
      var began = milliseconds()
      let status = try BenchRequest.reply(to: request, on: socket).status
      history.rounds.append(status == 200 ? milliseconds() - began : .infinity)
      began = milliseconds()
      try BenchSocket.send(Self.ping, to: stream)
      try awaitPong()
      ping.rounds.append(milliseconds() - began)
      usleep(Self.pauseMicroseconds)
    }
    return (history, ping)
  }

  private func awaitPong() throws {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4_096)
    while !bytes.indices.contains(where: { bytes[$0...].starts(with: Self.pong) }) {
      let count = recv(stream, &piece, piece.count, 0)
      guard count > 0 else { throw BenchFailure(description: "a socket was closed") }
      bytes += piece[..<count]
    }
  }
}
