/// What a door adds to the streams: WebSockets at paths of its own, whose messages are those of
/// another maker's API. Nothing else is its own: limits, conflation, resumption and slow clients
/// are the follower's.

import NIOCore
import NIOHTTP1

/// Of one connection; nil: the request opens no stream of the door.
typealias StreamDoor = @Sendable (HTTPRequestHead) -> (any StreamTranslator)?

/// Between a client's messages and the follower's. Touched on the connection's event loop only.
protocol StreamTranslator: AnyObject {
  var door: Door { get }
  /// Whether the client's messages are binary; then those to it are, too.
  var isBinary: Bool { get }
  func read(_ message: [UInt8]) -> ClientMessage
  func resolve(_ symbol: String) -> SeriesPlace?
  /// What the client gets instead of `output`: frames, or nothing.
  func write(_ output: FollowerOutput, to buffer: inout ByteBuffer)
}

extension HTTPRequestHead {
  /// Whether it asks for a WebSocket.
  var offersWebSocket: Bool {
    method == .GET
      && headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
  }

  /// Without the query.
  var path: Substring { uri.prefix { $0 != "?" } }
}
