import Foundation
import Glibc
import TestSupport

/// A WebSocket client written by hand, so that it can break the rules: blocking reads with a
/// timeout, on the thread of the test.
final class StreamsClient {
  struct Closed: Error {}

  enum Frame: Equatable {
    case text(String)
    case binary([UInt8])
    case pong([UInt8])
    case close(code: UInt16)
    case end
  }

  private let descriptor: Int32
  private var buffer: [UInt8] = []

  init(port: Int, receiveBufferBytes: Int32? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if var size = receiveBufferBytes {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, 4)
    }
    var timeout = timeval(tv_sec: 20, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, size)
    guard LoopbackAddress.connect(descriptor, to: UInt16(port)) == 0 else { throw Closed() }
  }

  deinit { disconnect() }

  private var isOpen = true

  func disconnect() {
    if isOpen { Glibc.close(descriptor) }
    isOpen = false
  }

  /// - Returns: the head of the response.
  @discardableResult
  func get(_ path: String, host: String = "test", headers: [String] = []) throws -> String {
    let lines = ["GET \(path) HTTP/1.1", "Host: \(host)"] + headers + ["", ""]
    write(Array(lines.joined(separator: "\r\n").utf8))
    return try head()
  }

  @discardableResult
  func upgrade(
    _ path: String = "/ws", host: String = "test", headers: [String] = []
  ) throws -> String {
    try get(
      path, host: host,
      headers: [
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      ] + headers)
  }

  func head() throws -> String {
    while true {
      if let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) {
        let head = String(decoding: buffer[..<end.upperBound], as: UTF8.self)
        buffer.removeSubrange(..<end.upperBound)
        return head
      }
      try fill()
    }
  }

  func write(_ bytes: [UInt8]) {
    _ = bytes.withUnsafeBytes {
      Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
  }

  func send(
    _ payload: [UInt8], opcode: UInt8 = 1, isLast: Bool = true, isMasked: Bool = true
  ) {
    var frame: [UInt8] = [(isLast ? 0x80 : 0) | opcode]
    let mark: UInt8 = isMasked ? 0x80 : 0
    if payload.count < 126 {
      frame.append(mark | UInt8(payload.count))
    } else {
      frame += [mark | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    }
    let mask: [UInt8] = isMasked ? [1, 2, 3, 4] : [0, 0, 0, 0]
    if isMasked { frame += mask }
    frame += payload.enumerated().map { $1 ^ mask[$0 % 4] }
    write(frame)
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// The next frame of the server, which must not be masked.
  func frame() throws -> Frame {
    guard let first = try? byte() else { return .end }
    var length = Int(try byte())
    if length > 125 {
      let bytes = try (0..<(length == 126 ? 2 : 8)).map { _ in try byte() }
      length = bytes.reduce(0) { $0 << 8 | Int($1) }
    }
    while buffer.count < length { try fill() }
    let payload = Array(buffer.prefix(length))
    buffer.removeFirst(length)
    switch first {
    case 0x81: return .text(String(decoding: payload, as: UTF8.self))
    case 0x82: return .binary(payload)
    case 0x8A: return .pong(payload)
    default: return .close(code: payload.prefix(2).reduce(0) { $0 << 8 | UInt16($1) })
    }
  }

  /// The next message of `type`; others are passed over.
  func message(_ type: String) throws -> [String: Any] {
    while case .text(let text) = try frame() {
      let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
      if let object, object["type"] as? String == type { return object }
    }
    throw Closed()
  }

  /// Up to and with `end`, of a stream of events.
  func text(through end: String) throws -> String {
    while true {
      if let found = buffer.firstRange(of: Array(end.utf8)) {
        let text = String(decoding: buffer[..<found.upperBound], as: UTF8.self)
        buffer.removeSubrange(..<found.upperBound)
        return text
      }
      try fill()
    }
  }

  func bytes(_ count: Int) throws -> [UInt8] {
    while buffer.count < count { try fill() }
    defer { buffer.removeFirst(count) }
    return Array(buffer.prefix(count))
  }

  /// All that comes until the server ends the connection.
  func rest() -> [UInt8] {
    while (try? fill()) != nil {}
    defer { buffer = [] }
    return buffer
  }

  private func byte() throws -> UInt8 {
    if buffer.isEmpty { try fill() }
    return buffer.removeFirst()
  }

  private func fill() throws {
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &chunk, chunk.count, 0)
    guard count > 0 else { throw Closed() }
    buffer += chunk.prefix(count)
  }
}
