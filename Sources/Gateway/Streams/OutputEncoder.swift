/// Messages as bytes: JSON around objects that are encoded already, and the frame around it. What
/// many followers get alike, the beginning of a commit's message, is written once.

import NIOCore

enum StreamFraming: Sendable {
  case webSocket
  case events
}

struct OutputEncoder {
  /// What is around the prices of a commit.
  private var prices: (seq: Int64, message: [UInt8]) = (-1, [])
  /// A frame's header, or the fields of an event.
  private static let surroundingBytesMax = 64
  private static let comma = UInt8(ascii: ",")

  /// - Parameter reached: with this message; nil: a client that comes again cannot name it.
  mutating func write(
    _ output: FollowerOutput, framing: StreamFraming, reached: Follower.Reached?,
    of market: StreamMarket, feeds: () -> [UInt8], to buffer: inout ByteBuffer
  ) {
    if case .close(let reason) = output {
      if framing == .webSocket { Self.writeClose(reason, to: &buffer) }
      return
    }
    if framing == .events, let reached, let seq = reached.seq {
      buffer.writeString("id: \(market.epoch)-\(seq)\(reached.suffix(behind: seq))\n")
    }
    let message = message(of: output, reached: reached, in: market, feeds: feeds)
    func write(list objects: some Collection<[UInt8]>) {
      Self.writeMessage(message, around: objects, framing: framing, to: &buffer)
    }
    switch output {
    case .prices(_, let stocks): write(list: stocks.lazy.map { $0.json })
    case .snapshot(let snapshot): write(list: snapshot.objects.lazy.map { $0.json })
    case .log(_, _, let messages): write(list: messages.lazy.map { $0.json })
    case .updates(_, _, _, let items): write(list: items.lazy.map { $0.json })
    case .portfolios(let objects): write(list: objects)
    default: write(list: [])
    }
  }

  /// - Parameter message: of one with objects they go into its last member, an empty list.
  private static func writeMessage(
    _ message: [UInt8], around objects: some Collection<[UInt8]>, framing: StreamFraming,
    to buffer: inout ByteBuffer
  ) {
    let tail = objects.isEmpty ? [] : message.suffix(2)
    let commas = max(0, objects.count - 1)
    let length = objects.reduce(message.count + commas) { $0 + $1.count }
    buffer.reserveCapacity(minimumWritableBytes: length + surroundingBytesMax)
    switch framing {
    case .webSocket: writeHeader(length: length, to: &buffer)
    case .events: buffer.writeString("data: ")
    }
    buffer.writeBytes(message.dropLast(tail.count))
    for (index, object) in objects.enumerated() {
      if index > 0 { buffer.writeInteger(comma) }
      buffer.writeBytes(object)
    }
    buffer.writeBytes(tail)
    if framing == .events { buffer.writeString("\n\n") }
  }

  // MARK: Frames

  /// RFC 6455 §5.2: a whole message, not masked.
  static func writeHeader(length: Int, isBinary: Bool = false, to buffer: inout ByteBuffer) {
    buffer.writeInteger(UInt8(isBinary ? 0x82 : 0x81))
    if length < 126 {
      buffer.writeInteger(UInt8(length))
    } else if length <= UInt16.max {
      buffer.writeInteger(UInt8(126))
      buffer.writeInteger(UInt16(length))
    } else {
      buffer.writeInteger(UInt8(127))
      buffer.writeInteger(UInt64(length))
    }
  }

  static func writeClose(_ reason: StreamClose, to buffer: inout ByteBuffer) {
    buffer.writeInteger(UInt8(0x88))
    buffer.writeInteger(UInt8(2 + reason.reason.utf8.count))
    buffer.writeInteger(reason.rawValue)
    buffer.writeString(reason.reason)
  }

  /// - Parameter payload: at most 125 bytes.
  static func writeControl(opcode: UInt8, payload: ByteBufferView, to buffer: inout ByteBuffer) {
    buffer.writeInteger(0x80 | opcode)
    buffer.writeInteger(UInt8(payload.count))
    buffer.writeBytes(payload)
  }

  // MARK: JSON

  private mutating func message(
    of output: FollowerOutput, reached: Follower.Reached?, in market: StreamMarket,
    feeds: () -> [UInt8]
  ) -> [UInt8] {
    guard case .prices(let seq, _) = output, reached?.log(behind: seq) == nil else {
      return output.json(reached: reached, in: market, feeds: feeds)
    }
    if prices.seq != seq {
      prices = (seq, output.json(reached: nil, in: market, feeds: feeds))
    }
    return prices.message
  }
}

extension Follower.Reached {
  /// Where the log goes on, if that is not a message's seq.
  func log(behind seq: Int64) -> LogCursor? {
    log.flatMap { $0 > LogCursor(after: seq) ? $0 : nil }
  }

  /// Of an event's id.
  fileprivate func suffix(behind seq: Int64) -> String {
    // The first epoch needs no name.
    let epoch = epoch.flatMap { $0 == 0 ? nil : ".\($0)" } ?? ""
    let outbox = number.map { ".\($0)\(epoch)" } ?? ""
    guard let log = log(behind: seq) else { return outbox }
    let position = log.position == 0 ? "" : "-\(log.position)"
    return "-\(log.after)\(position)\(outbox)"
  }
}
