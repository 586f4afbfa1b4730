import Foundation
import Glibc
import TestSupport

/// A connection of an app to a gateway, a WebSocket or a stream of events. It shares no code with
/// the gateway, and never blocks.
struct AppLink: Sendable {
  enum Input: Sendable {
    case head(status: Int)
    case message(Data, eventID: String?)
    case closed(code: Int)
  }

  enum Reading { case some, nothing, ended }

  let descriptor: Int32
  private let isEvents: Bool
  private var inbound: [UInt8] = []
  /// Of `inbound`: everything before it was taken.
  private var start = 0
  private var outbound: [UInt8]
  private var isHeadRead = false

  private static let chunkBytes = 64 << 10
  private static let headEnd = Array("\r\n\r\n".utf8)
  private static let eventEnd = Array("\n\n".utf8)

  /// Begins to connect.
  /// - Parameters:
  ///   - path: `/ws`, or that of a stream of events.
  ///   - receiveBufferBytes: of the kernel; small for one that is to hold the gateway up.
  /// - Returns: nil without a socket.
  init?(
    port: UInt16, path: String, headers: [String] = [], isEvents: Bool,
    receiveBufferBytes: Int32? = nil
  ) {
    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    descriptor = socket(AF_INET, Int32(kind), 0)
    guard descriptor >= 0 else { return nil }
    if var size = receiveBufferBytes {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    var lines = ["GET \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)"] + headers
    if !isEvents {
      lines += [
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      ]
    }
    outbound = Array((lines + ["", ""]).joined(separator: "\r\n").utf8)
    self.isEvents = isEvents
    guard LoopbackAddress.connect(descriptor, to: port) == 0 || errno == EINPROGRESS else {
      Glibc.close(descriptor)
      return nil
    }
  }

  /// - Parameter isHard: with RST, as a device that lost its network seems to.
  func close(isHard: Bool = false) {
    if isHard {
      var option = linger(l_onoff: 1, l_linger: 0)
      setsockopt(
        descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
    Glibc.close(descriptor)
  }

  // MARK: Writing

  var hasOutput: Bool { !outbound.isEmpty }

  /// A text frame, masked as a client's must be.
  mutating func send(_ text: String) { send(Array(text.utf8), opcode: 1) }

  private mutating func send(_ payload: [UInt8], opcode: UInt8) {
    let mask: [UInt8] = [0x5A, 0xC3, 0x17, 0x88]
    outbound.append(0x80 | opcode)
    if payload.count < 126 {
      outbound.append(0x80 | UInt8(payload.count))
    } else {
      outbound += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    }
    outbound += mask
    for (place, byte) in payload.enumerated() { outbound.append(byte ^ mask[place & 3]) }
  }

  /// - Returns: false if the connection is gone.
  mutating func flush() -> Bool {
    guard !outbound.isEmpty else { return true }
    let count = outbound.withUnsafeBytes {
      Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    if count < 0 { return errno == EAGAIN || errno == ENOTCONN }
    outbound.removeFirst(count)
    return true
  }

  // MARK: Reading

  /// What the socket has, up to a chunk.
  mutating func receive() -> Reading {
    if start > 0 {
      inbound.removeFirst(start)
      start = 0
    }
    return withUnsafeTemporaryAllocation(byteCount: Self.chunkBytes, alignment: 8) { chunk in
      let count = recv(descriptor, chunk.baseAddress, chunk.count, 0)
      if count < 0 { return errno == EAGAIN || errno == EINTR ? .nothing : .ended }
      inbound.append(contentsOf: UnsafeRawBufferPointer(rebasing: chunk[..<count]))
      return count == 0 ? .ended : .some
    }
  }

  /// The next of what was received.
  mutating func next() -> Input? {
    guard isHeadRead else { return nextHead() }
    return isEvents ? nextEvent() : nextFrame()
  }

  private mutating func nextHead() -> Input? {
    guard let end = find(Self.headEnd) else { return nil }
    let words = String(decoding: inbound[start..<end], as: UTF8.self).split(separator: " ")
    start = end + Self.headEnd.count
    isHeadRead = true
    return .head(status: words.count > 1 ? Int(words[1]) ?? 0 : 0)
  }

  private mutating func nextFrame() -> Input? {
    while true {
      let available = inbound.count - start
      guard available >= 2 else { return nil }
      var length = Int(inbound[start + 1] & 0x7F)
      var head = 2
      if length >= 126 {
        let width = length == 126 ? 2 : 8
        guard available >= 2 + width else { return nil }
        length = inbound[start + 2..<start + 2 + width].reduce(0) { $0 << 8 | Int($1) }
        head += width
      }
      guard available >= head + length else { return nil }
      let opcode = inbound[start] & 0x0F
      let payload = start + head..<start + head + length
      start = payload.upperBound
      switch opcode {
      case 1: return .message(data(payload), eventID: nil)
      case 8: return .closed(code: inbound[payload].prefix(2).reduce(0) { $0 << 8 | Int($1) })
      case 9: send(Array(inbound[payload]), opcode: 10)
      default: break
      }
    }
  }

  private mutating func nextEvent() -> Input? {
    while let end = find(Self.eventEnd) {
      let lines = inbound[start..<end].split(separator: UInt8(ascii: "\n"))
      start = end + Self.eventEnd.count
      var (eventID, payload): (String?, Range<Int>?) = (nil, nil)
      for line in lines {
        if line.starts(with: "id: ".utf8) {
          eventID = String(decoding: line.dropFirst(4), as: UTF8.self)
        } else if line.starts(with: "data: ".utf8) {
          payload = line.startIndex + 6..<line.endIndex
        }
      }
      if let payload { return .message(data(payload), eventID: eventID) }
    }
    return nil
  }

  private func data(_ range: Range<Int>) -> Data {
    inbound.withUnsafeBytes { Data(UnsafeRawBufferPointer(rebasing: $0[range])) }
  }

  /// Where a pattern begins in what was not taken yet.
  private func find(_ pattern: [UInt8]) -> Int? {
    inbound.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return nil }
      var place = start
      while place + pattern.count <= bytes.count,
        let found = memchr(base + place, Int32(pattern[0]), bytes.count - place)
      {
        place = UnsafeRawPointer(found) - base
        guard place + pattern.count <= bytes.count else { return nil }
        if memcmp(found, pattern, pattern.count) == 0 { return place }
        place += 1
      }
      return nil
    }
  }
}
