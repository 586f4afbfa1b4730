import HostileGateway

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
