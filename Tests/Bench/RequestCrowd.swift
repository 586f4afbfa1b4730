/// HTTP clients that ask the same again as soon as they are answered, on one thread with one epoll.
/// All answers have the length of the first one.

import CLinux
import Glibc
import Platform

struct RequestCrowd: ~Copyable {
  private static let connections = 16
  private static let readBytes = 64 << 10

  let answer: [UInt8]
  private let request: [UInt8]
  private let epoll: Int32
  private let sockets: [Int32]
  private var missing: [Int]
  private var buffer = [UInt8](repeating: 0, count: readBytes)

  init(path: String, port: UInt16) throws {
    let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    let answer = try Self.answer(to: request, of: port)
    let sockets = try (0..<Self.connections).map { _ in try BenchSocket.connect(to: port) }
    (self.request, self.answer, self.sockets) = (request, answer, sockets)
    missing = sockets.map { _ in 0 }
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    for (index, socket) in sockets.enumerated() {
      var event = epoll_event()
      event.events = EPOLLIN.rawValue
      event.data.u32 = UInt32(index)
      epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event)
    }
  }

  deinit {
    for socket in sockets { close(socket) }
    close(epoll)
  }

  /// All of an answer, its head too.
  static func answer(to request: [UInt8], of port: UInt16) throws -> [UInt8] {
    let socket = try BenchSocket.connect(to: port)
    defer { close(socket) }
    return try answer(to: request, on: socket)
  }

  static func answer(to request: [UInt8], on socket: Int32) throws -> [UInt8] {
    try BenchSocket.send(request, to: socket)
    let (head, rest) = try BenchSocket.head(from: socket)
    let lines = head.lowercased().split(separator: "\r\n")
    let lengthLine = lines.first { $0.hasPrefix("content-length:") }
    guard head.hasPrefix("HTTP/1.1 200"),
      let length = lengthLine.flatMap({ Int($0.dropFirst(15).filter(\.isNumber)) })
    else { throw BenchFailure(description: "an answer begins \(head.prefix(200))") }
    var body = rest
    var piece = [UInt8](repeating: 0, count: readBytes)
    while body.count < length {
      let count = recv(socket, &piece, piece.count, 0)
      guard count > 0 else { throw BenchFailure(description: "an answer ended early") }
      body += piece[..<count]
    }
    return Array("\(head)\r\n\r\n".utf8) + body
  }

  /// - Returns: answers a second.
  mutating func run(milliseconds: Int64) throws -> Double {
    let begin = MonotonicClock.nanoseconds()
    let end = begin + milliseconds * 1_000_000
    for index in sockets.indices { try ask(index) }
    var answered = 0
    var waiting = sockets.count
    var events = [epoll_event](repeating: epoll_event(), count: Self.connections)
    while waiting > 0 {
      let ready = epoll_wait(epoll, &events, Int32(events.count), 5_000)
      guard ready > 0 else { throw BenchFailure(description: "no answer for 5 s") }
      for position in 0..<Int(ready) {
        let index = Int(events[position].data.u32)
        let count = recv(sockets[index], &buffer, buffer.count, 0)
        guard count > 0 else { throw BenchFailure(description: "a connection was closed") }
        missing[index] -= count
        guard missing[index] <= 0 else { continue }
        answered += 1
        if MonotonicClock.nanoseconds() < end { try ask(index) } else { waiting -= 1 }
      }
    }
    return Double(answered) / (Double(MonotonicClock.nanoseconds() - begin) / 1_000_000_000)
  }

  private mutating func ask(_ index: Int) throws {
    missing[index] = answer.count
    try BenchSocket.send(request, to: sockets[index])
  }
}
