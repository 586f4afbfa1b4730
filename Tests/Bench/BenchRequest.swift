/// An HTTP request, and the wait for its answer.

import Glibc

enum BenchRequest {
  private static let readBytes = 64 << 10

  /// All of an answer, its head too.
  static func answer(to request: [UInt8], of port: UInt16) throws -> [UInt8] {
    let socket = try BenchSocket.connect(to: port)
    defer { close(socket) }
    return try answer(to: request, on: socket)
  }

  static func answer(to request: [UInt8], on socket: Int32) throws -> [UInt8] {
    let reply = try Self.reply(to: request, on: socket)
    guard reply.status == 200 else {
      let begin = String(decoding: reply.bytes.prefix(200), as: UTF8.self)
      throw BenchFailure(description: "an answer begins \(begin)")
    }
    return reply.bytes
  }

  /// An answer with any status.
  static func reply(
    to request: [UInt8], on socket: Int32
  ) throws -> (status: Int, bytes: [UInt8]) {
    try BenchSocket.send(request, to: socket)
    let (head, rest) = try BenchSocket.head(from: socket)
    let lines = head.lowercased().split(separator: "\r\n")
    let lengthLine = lines.first { $0.hasPrefix("content-length:") }
    guard head.hasPrefix("HTTP/1.1 "), let status = Int(head.dropFirst(9).prefix(3)),
      let length = lengthLine.flatMap({ Int($0.dropFirst(15).filter(\.isNumber)) })
    else { throw BenchFailure(description: "an answer begins \(head.prefix(200))") }
    var body = rest
    var piece = [UInt8](repeating: 0, count: readBytes)
    while body.count < length {
      let count = recv(socket, &piece, piece.count, 0)
      guard count > 0 else { throw BenchFailure(description: "an answer ended early") }
      body += piece[..<count]
    }
    return (status, Array("\(head)\r\n\r\n".utf8) + body)
  }

  /// - Parameter token: nil for none.
  static func get(_ path: String, token: String? = nil, isCompressed: Bool = false) -> [UInt8] {
    var lines = ["GET \(path) HTTP/1.1", "Host: localhost"]
    if let token { lines.append("Authorization: Bearer \(token)") }
    if isCompressed { lines.append("Accept-Encoding: gzip") }
    return Array((lines + ["", ""]).joined(separator: "\r\n").utf8)
  }
}
