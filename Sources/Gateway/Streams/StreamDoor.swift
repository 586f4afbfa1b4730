/// What a door adds to the streams: WebSockets at paths of its own, whose messages are those of
/// another maker's API. Nothing else is its own: limits, conflation, resumption and slow clients
/// are the follower's.

import NIOCore
import NIOHTTP1

protocol StreamDoor: Sendable {
  var door: Door { get }
  /// Of one connection; nil: the request opens no stream of the door.
  func translator(for head: HTTPRequestHead) -> (any StreamTranslator)?
}

/// Between a client's messages and the follower's. Touched on the connection's event loop only.
protocol StreamTranslator: AnyObject {
  /// Whether the client's messages are binary; then those to it are, too.
  var isBinary: Bool { get }
  func read(_ message: [UInt8]) -> ClientMessage
  func resolve(_ symbol: String) -> SeriesPlace?
  /// What the client gets instead of `output`: frames, or nothing.
  func write(_ output: FollowerOutput, to buffer: inout ByteBuffer)
}
