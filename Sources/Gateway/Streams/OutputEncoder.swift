/// Messages as bytes: JSON around objects that are encoded already, and the frame around it. What
/// many followers get alike, the beginning of a commit's message, is written once.

import Market
import NIOCore

enum StreamFraming: Sendable {
  case webSocket
  case events
}

struct OutputEncoder {
  private var pricesHead: (seq: Int64, bytes: [UInt8]) = (-1, [])
  /// A frame's header, or the fields of an event.
  private static let surroundingBytesMax = 64
  private static let comma = UInt8(ascii: ",")
  private static let tail = Array("]}".utf8)

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
    guard let head = head(of: output, reached: reached, in: market) else {
      let whole = output.json(reached: reached, in: market, feeds: feeds)
      Self.writeMessage(
        head: whole, objects: EmptyCollection<[UInt8]>(), tail: [], framing: framing, to: &buffer)
      return
    }
    func write(list objects: some Collection<[UInt8]>) {
      Self.writeMessage(
        head: head, objects: objects, tail: Self.tail, framing: framing, to: &buffer)
    }
    switch output {
    case .prices(_, let stocks): write(list: stocks.lazy.map { $0.json })
    case .snapshot(let snapshot): write(list: snapshot.objects.lazy.map { $0.json })
    case .log(_, _, let messages): write(list: messages.lazy.map { $0.json })
    case .updates(_, _, _, let items): write(list: items.lazy.map { $0.json })
    case .portfolios(let objects): write(list: objects)
    default: break
    }
  }

  private static func writeMessage(
    head: [UInt8], objects: some Collection<[UInt8]>, tail: [UInt8], framing: StreamFraming,
    to buffer: inout ByteBuffer
  ) {
    let commas = max(0, objects.count - 1)
    let length = head.count + objects.reduce(commas) { $0 + $1.count } + tail.count
    buffer.reserveCapacity(minimumWritableBytes: length + surroundingBytesMax)
    switch framing {
    case .webSocket: writeHeader(length: length, to: &buffer)
    case .events: buffer.writeString("data: ")
    }
    buffer.writeBytes(head)
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

  /// What stands before the objects of a message; nil of one without a list of them.
  private mutating func head(
    of output: FollowerOutput, reached: Follower.Reached?, in market: StreamMarket
  ) -> [UInt8]? {
    switch output {
    case .prices(let seq, _):
      guard reached?.log(behind: seq) == nil else {
        return Self.pricesHead(seq: seq, reached: reached, in: market)
      }
      if pricesHead.seq != seq {
        pricesHead = (seq, Self.pricesHead(seq: seq, reached: nil, in: market))
      }
      return pricesHead.bytes
    case .log(let type, let seq, _):
      let log = reached.member(behind: seq)
      return Array("{\"type\":\"\(type.rawValue)\",\"seq\":\(seq)\(log),\"data\":[".utf8)
    case .portfolios:
      return Array("{\"type\":\"\(UserChannel.portfolios.rawValue)\",\"data\":[".utf8)
    case .updates(let channel, let number, let epoch, _):
      let head =
        "{\"type\":\"\(channel.rawValue)\",\"n\":\(number),\"epochN\":\(epoch),\"data\":["
      return Array(head.utf8)
    case .snapshot(let snapshot):
      let head = """
        {"type":"snapshot","channel":"stock-prices","epoch":\(market.epoch),"seq":\(snapshot.seq)\
        \(reached.member(behind: snapshot.seq)),"part":\(snapshot.part),"parts":\(snapshot.parts),\
        "data":[
        """
      return Array(head.utf8)
    default: return nil
    }
  }

  private static func pricesHead(
    seq: Int64, reached: Follower.Reached?, in market: StreamMarket
  ) -> [UInt8] {
    let at = market.committedAt.map { "\"\($0)\"" } ?? "null"
    let log = reached.member(behind: seq)
    return Array(
      "{\"type\":\"stock-prices\",\"seq\":\(seq)\(log),\"at\":\(at),\"data\":[".utf8)
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

extension Follower.Reached? {
  fileprivate func member(behind seq: Int64) -> String {
    guard let log = self?.log(behind: seq) else { return "" }
    let position = log.position == 0 ? "" : ",\"logPosition\":\(log.position)"
    return ",\"logSeq\":\(log.after)\(position)"
  }
}
