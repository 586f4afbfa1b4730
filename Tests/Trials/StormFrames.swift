/// What no client may send over a WebSocket, and how RFC 6455 or the gateway's own bounds have the
/// connection end.
struct BadFrames: Sendable {
  let name: String
  let code: UInt16
  let bytes: [UInt8]

  private init(_ name: String, code: UInt16, _ bytes: [UInt8]...) {
    self.name = name
    self.code = code
    self.bytes = bytes.flatMap(\.self)
  }

  static let all = [
    BadFrames("unmasked", code: 1002, [0x81, 0x02, 0x7B, 0x7D]),
    BadFrames("an opcode that is reserved", code: 1002, frame([], opcode: 3)),
    BadFrames("a reserved bit", code: 1002, [0xC1, 0x82, 0, 0, 0, 0, 0x7B, 0x7D]),
    BadFrames("the end of no message", code: 1002, frame([0x20], opcode: 0)),
    BadFrames(
      "a message in a message", code: 1002, frame([0x20], isLast: false), frame([0x7B, 0x7D])),
    BadFrames("a ping of 200 bytes", code: 1002, frame(blanks(200), opcode: 9)),
    BadFrames("a ping in fragments", code: 1002, frame([], opcode: 9, isLast: false)),
    BadFrames("half a close code", code: 1002, frame([3], opcode: 8)),
    BadFrames("close code 1005", code: 1002, frame([0x03, 0xED], opcode: 8)),
    BadFrames("a close reason that is no UTF-8", code: 1007, frame([3, 0xE8, 0xC3], opcode: 8)),
    BadFrames("no UTF-8", code: 1007, frame([0x22, 0xC3, 0x28, 0x22])),
    BadFrames(
      "UTF-8 that ends early", code: 1007, frame([0x22, 0xE4], isLast: false),
      frame([0xB8], opcode: 0)),
    BadFrames("binary", code: 1003, frame([1], opcode: 2)),
    BadFrames("a frame of 20 kB", code: 1009, frame(blanks(20_000))),
    BadFrames(
      "a frame of 2^63 bytes", code: 1009, [0x81, 0xFF] + [UInt8](repeating: 0x7F, count: 12)),
    BadFrames(
      "a message of 80 kB in fragments", code: 1009, frame(blanks(16_000), isLast: false),
      [[UInt8]](repeating: frame(blanks(16_000), opcode: 0, isLast: false), count: 4)
        .flatMap(\.self)),
    BadFrames(
      "a flood of fragments", code: 4429, frame([], isLast: false),
      [[UInt8]](repeating: frame([0x20], opcode: 0, isLast: false), count: 500).flatMap(\.self)),
    BadFrames(
      "a flood of pings", code: 4429,
      [[UInt8]](repeating: frame([], opcode: 9), count: 500).flatMap(\.self)),
  ]

  private static func blanks(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x20, count: count) }

  /// Masked with zeros.
  private static func frame(
    _ payload: [UInt8], opcode: UInt8 = 1, isLast: Bool = true
  ) -> [UInt8] {
    let length: [UInt8] =
      payload.count < 126
      ? [0x80 | UInt8(payload.count)]
      : [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    return [(isLast ? 0x80 : 0) | opcode] + length + [0, 0, 0, 0] + payload
  }
}

/// Holds each end of a WebSocket to the code it must have.
struct CloseTally {
  /// Whose upgrade was answered, and how many of them ended as they must.
  private(set) var upgraded = 0
  private(set) var right = 0
  private var wrong: [String: Int] = [:]

  /// - Parameter received: everything that came, the head included.
  mutating func ended(_ frames: BadFrames, received: [UInt8]) {
    guard received.starts(with: "HTTP/1.1 101".utf8) else { return }
    upgraded += 1
    let code = Self.closeCode(in: received)
    if code == frames.code {
      right += 1
    } else {
      wrong["\(frames.name) ended with \(code.map(String.init) ?? "no code")", default: 0] += 1
    }
  }

  var complaints: [String] {
    wrong.sorted { $0.key < $1.key }.map { "\($0.value) times: \($0.key)" }
  }

  /// Of the first close frame behind the head; the gateway's frames are not masked.
  private static func closeCode(in received: [UInt8]) -> UInt16? {
    let end = Array("\r\n\r\n".utf8)
    guard var place = received.indices.first(where: { received[$0...].starts(with: end) }) else {
      return nil
    }
    place += end.count
    while place + 4 <= received.count {
      var (length, head) = (Int(received[place + 1] & 0x7F), 2)
      if length == 126 {
        (length, head) = (Int(received[place + 2]) << 8 | Int(received[place + 3]), 4)
      }
      if received[place] & 0x0F == 8 {
        return UInt16(received[place + 2]) << 8 | UInt16(received[place + 3])
      }
      place += head + length
    }
    return nil
  }
}
