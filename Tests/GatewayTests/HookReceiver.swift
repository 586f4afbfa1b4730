import Foundation
import Glibc
import Platform
import TestSupport

/// A receiver of webhooks on loopback: it answers each request as it is ordered to.
final class HookReceiver: Sendable {
  enum Reaction: Sendable, Equatable {
    case status(Int)
    /// 200 with a body that is long, damaged, and does not end.
    case page
    /// The connection ends in the middle of the answer's head.
    case cut
    /// No answer, until the client gives up.
    case silence

    var isTaken: Bool { self == .status(200) || self == .page }
  }

  struct Request: Sendable {
    /// By name in lower case.
    var headers: [String: String]
    var body: String

    var id: Int { headers["webhook-id"].flatMap { Int($0) } ?? 0 }
  }

  let port: UInt16
  private let listener: Int32
  private let received = Locked<[(request: Request, reaction: Reaction)]>([])

  /// - Parameter react: gets the request and how many came before it.
  init(_ react: @escaping @Sendable (Request, Int) -> Reaction) throws {
    let (listener, port) = try LoopbackListener.open()
    (self.listener, self.port) = (listener, port)
    let received = received
    try DetachedThread.start {
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { break }
        try? DetachedThread.start {
          if let request = Self.read(connection) {
            let reaction = received.withLock { received in
              let reaction = react(request, received.count)
              received.append((request, reaction))
              return reaction
            }
            Self.answer(connection, reaction)
          }
          close(connection)
        }
      }
      close(listener)
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  var url: String { "http://127.0.0.1:\(port)/hook" }

  var requests: [Request] { received.withLock { $0.map(\.request) } }

  /// In the order they came, each once.
  var firstIDs: [Int] {
    received.withLock { received in
      var seen: Set<Int> = []
      return received.map(\.request.id).filter { seen.insert($0).inserted }
    }
  }

  /// Those that were answered with 2xx.
  var takenIDs: Set<Int> {
    received.withLock { received in
      Set(received.filter { $0.reaction.isTaken }.map(\.request.id))
    }
  }

  /// Whether each came for the first time only after the one before it was taken.
  var isInOrder: Bool {
    received.withLock { received in
      var (last, taken) = (0, 0)
      for (request, reaction) in received {
        if request.id > last {
          guard last == taken else { return false }
          last = request.id
        }
        if reaction.isTaken { taken = max(taken, request.id) }
      }
      return true
    }
  }

  private static func read(_ connection: Int32) -> Request? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while bytes.suffix(4) != [13, 10, 13, 10] {
      guard recv(connection, &byte, 1, 0) == 1 else { return nil }
      bytes.append(byte)
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").dropFirst()
    let pairs = lines.compactMap { line in
      line.firstIndex(of: ":").map { colon in
        (line[..<colon].lowercased(), line[colon...].dropFirst().trimmingPrefix(" "))
      }
    }
    let headers = Dictionary(pairs.map { ($0, String($1)) }) { first, _ in first }
    var body: [UInt8] = []
    while body.count < headers["content-length"].flatMap({ Int($0) }) ?? 0 {
      guard recv(connection, &byte, 1, 0) == 1 else { return nil }
      body.append(byte)
    }
    return Request(headers: headers, body: String(decoding: body, as: UTF8.self))
  }

  private static func answer(_ connection: Int32, _ reaction: Reaction) {
    switch reaction {
    case .status(let status):
      send(
        "HTTP/1.1 \(status) X\r\nContent-Length: 0\r\nLocation: /x\r\nConnection: close\r\n\r\n",
        to: connection)
    case .page:
      let head = "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\nContent-Encoding: gzip\r\n\r\n"
      send(head + String(repeating: "<p>", count: 40_000), to: connection)
      untilTheClientEnds(connection)
    case .cut: send("HTTP/1.1 200 OK\r\nContent-Len", to: connection)
    case .silence: untilTheClientEnds(connection)
    }
  }

  private static func untilTheClientEnds(_ connection: Int32) {
    var byte: UInt8 = 0
    while recv(connection, &byte, 1, 0) > 0 {}
  }

  private static func send(_ text: String, to connection: Int32) {
    let bytes = Array(text.utf8)
    _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }
}
