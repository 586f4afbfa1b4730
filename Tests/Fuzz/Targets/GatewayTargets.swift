import HostileGateway
import Market

@testable import Feeds
@testable import Gateway

/// What a client sends to the gateway: a request, or frames of an open WebSocket. An answer that is
/// the gateway's own failure ends the process, as a trap does.
enum GatewayTarget {
  private static let gateway = HostileGateway()

  static func takeRequest(_ bytes: UnsafeRawBufferPointer) { take([Array(bytes)]) }

  static func takeFrames(_ bytes: UnsafeRawBufferPointer) {
    take([HostileBytes.upgrade, Array(bytes)])
  }

  private static func take(_ pieces: [[UInt8]]) {
    do { try gateway.take(pieces) } catch { fatalError("\(error)") }
  }
}

/// What a reader of MessagePack makes of it: JSON, or nothing.
enum MessagePackTarget {
  static let seeds: [[UInt8]] = {
    var message = MessagePackWriter()
    message.map(count: 4)
    message.string("action")
    message.string("subscribe")
    message.string("bars")
    message.array(count: 2)
    message.string("AAPL")
    message.integer(-5_000_000_000)
    message.string("at")
    message.moment(.init(seconds: 1))
    message.string("none")
    message.null()
    return [message.bytes, [0xDE, 0, 1, 0xD9, 1, 0x61, 0xDC, 0, 2, 0xC3, 0xCF]]
  }()

  static func take(_ bytes: UnsafeRawBufferPointer) {
    guard let text = MessagePackReader.json(of: Array(bytes)) else { return }
    let end = text.withUnsafeBytes { text in
      try? JSONTarget.end(of: text) { (reader: inout JSONReader) throws(JSONFault) in
        try reader.skip()
      }
    }
    guard end == text.count else { fatalError("\(text) is not JSON") }
  }
}
