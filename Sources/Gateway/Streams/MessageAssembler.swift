/// Frames as RFC 6455 allows them from a client, joined to messages. NIO's decoder keeps to sizes
/// alone; all other rules are here.

import NIOCore
import NIOWebSocket

struct MessageAssembler {
  enum Event: Equatable {
    case none
    case message([UInt8])
    case ping(ByteBuffer)
    /// The client closes; the payload is repeated to it.
    case closed(ByteBuffer)
    case violation(StreamClose)
  }

  /// The beginning of a message whose end has not arrived.
  private var fragments: [UInt8]?
  private let isBinary: Bool
  private let bytesMax: Int

  /// - Parameter isBinary: whether messages are binary, and not text.
  init(isBinary: Bool = false, bytesMax: Int = StreamLimits.messageBytesMax) {
    self.isBinary = isBinary
    self.bytesMax = bytesMax
  }

  mutating func receive(_ frame: WebSocketFrame) -> Event {
    guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
      return .violation(.protocolError)
    }
    let data = frame.unmaskedData
    switch frame.opcode {
    case .text, .binary:
      guard (frame.opcode == .binary) == isBinary else { return .violation(.unsupportedData) }
      guard fragments == nil else { return .violation(.protocolError) }
      fragments = []
      return append(data, isLast: frame.fin)
    case .continuation:
      guard fragments != nil else { return .violation(.protocolError) }
      return append(data, isLast: frame.fin)
    case .ping: return .ping(data)
    case .pong: return .none
    case .connectionClose: return closed(data)
    default: return .violation(.protocolError)
    }
  }

  private mutating func append(_ data: ByteBuffer, isLast: Bool) -> Event {
    var bytes = fragments ?? []
    guard bytes.count + data.readableBytes <= bytesMax else {
      return .violation(.messageTooLarge)
    }
    bytes.append(contentsOf: data.readableBytesView)
    guard isLast else {
      fragments = bytes
      return .none
    }
    fragments = nil
    let isValid = isBinary || String(validating: bytes, as: UTF8.self) != nil
    return isValid ? .message(bytes) : .violation(.invalidText)
  }

  /// RFC 6455 §5.5.1 and §7.4.
  private func closed(_ payload: ByteBuffer) -> Event {
    guard payload.readableBytes > 0 else { return .closed(payload) }
    var rest = payload
    guard let code = rest.readInteger(as: UInt16.self) else { return .violation(.protocolError) }
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: break
    default: return .violation(.protocolError)
    }
    let isText = String(validating: rest.readableBytesView, as: UTF8.self) != nil
    return isText ? .closed(payload) : .violation(.invalidText)
  }
}
