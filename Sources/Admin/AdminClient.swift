/// Asks a running daemon's admin endpoint. One question, a few seconds at most, an answer of
/// bounded size: what listens there may be anything.

import Glibc
import Operations
import Platform

package struct AdminClient: Sendable {
  package struct Failure: Error, Sendable, CustomStringConvertible {
    package var description: String
  }

  private let address: ListenAddress

  static let secondsMax = 3
  static let bytesMax = 1 << 20

  package init(_ address: ListenAddress) { self.address = address }

  /// The status and the body; blocks.
  package func get(_ path: String) throws(Failure) -> (status: Int, body: String) {
    let socket: Int32
    switch AdminSocket.connect(to: address, secondsMax: AdminClient.secondsMax) {
    case .success(let connected): socket = connected
    case .failure(let error): throw Failure(description: error.sentence)
    }
    defer { close(socket) }
    let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
    guard AdminSocket.write(socket, request[...]) == request.count else {
      throw Failure(description: "the connection was closed")
    }
    return try AdminClient.parse(try read(socket))
  }

  private func read(_ socket: Int32) throws(Failure) -> [UInt8] {
    let deadline = MonotonicClock.nanoseconds() + Int64(AdminClient.secondsMax) * 1_000_000_000
    var bytes: [UInt8] = []
    while bytes.count <= AdminClient.bytesMax, MonotonicClock.nanoseconds() < deadline {
      switch AdminSocket.read(socket, bytesMax: 65_536) {
      case .bytes(let more): bytes += more
      case .over: return bytes
      case .later: throw Failure(description: "no response within \(AdminClient.secondsMax) s")
      }
    }
    throw Failure(description: "the response does not end")
  }

  static func parse(_ bytes: [UInt8]) throws(Failure) -> (status: Int, body: String) {
    guard let end = AdminRequest.end(of: bytes) else {
      throw Failure(description: "the response is not HTTP")
    }
    let words = String(decoding: bytes[..<end].prefix(64), as: UTF8.self).split(separator: " ")
    guard words.count > 1, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
      throw Failure(description: "the response is not HTTP")
    }
    let body = bytes[(end + AdminRequest.endingCount)...]
    return (status, String(decoding: body, as: UTF8.self))
  }
}
