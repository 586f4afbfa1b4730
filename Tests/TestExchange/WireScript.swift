import CLinux
import ExchangeSimulator
import Glibc

/// An answer byte by byte, for what no honest server sends: heads that lie, bodies that never end,
/// and silence in the wrong place.

/// What goes over the connection in place of an answer. Behind the last step it is closed.
package struct WireScript: Sendable, Hashable {
  package enum Step: Sendable, Hashable {
    case send([UInt8])
    /// The body the exchange would have sent.
    case sendBody
    /// Again and again, until the client hangs up.
    case sendEndlessly([UInt8])
    /// A byte at a time.
    case trickle([UInt8], everyMilliseconds: Int32)
    /// Nothing, until the client hangs up.
    case hold
    /// The close is a TCP reset.
    case reset
  }

  package var steps: [Step]

  package init(_ steps: [Step]) { self.steps = steps }

  /// Whether a client that reads to the end has the exchange's own body.
  package var deliversBody: Bool {
    steps.contains(.sendBody)
      && steps.allSatisfy { step in
        switch step {
        case .send, .sendBody: true
        case .sendEndlessly, .trickle, .hold, .reset: false
        }
      }
  }
}

/// The ways a connection can treat an answer.
package enum FaultyDelivery: ResponseDelivery {
  case slow(bytesPerSecond: Int)
  /// The promised length never arrives: the connection closes after so many bytes of the body.
  case cut(afterBytes: Int)
  case wire(WireScript)

  package var keepsConnection: Bool { if case .slow = self { true } else { false } }

  /// Whether a client that reads to the end has the exchange's own body.
  package var deliversBody: Bool {
    switch self {
    case .slow: true
    case .cut: false
    case .wire(let script): script.deliversBody
    }
  }

  package func deliver(_ response: SimulatedResponse, head: [UInt8], on socket: Int32) -> Bool {
    switch self {
    case .slow(let bytesPerSecond):
      return Socket.send(socket, bytes: head)
        && Socket.trickle(response.body, bytesPerSecond: bytesPerSecond, on: socket)
    case .cut(let bytes): _ = Socket.send(socket, bytes: head + response.body.prefix(bytes))
    case .wire(let script): return script.perform(body: response.body, on: socket) && deliversBody
    }
    return false
  }
}

extension WireScript {
  /// False if the client was gone before the end.
  fileprivate func perform(body: [UInt8], on socket: Int32) -> Bool {
    for step in steps {
      switch step {
      case .send(let bytes): guard Socket.send(socket, bytes: bytes) else { return false }
      case .sendBody: guard Socket.send(socket, bytes: body) else { return false }
      case .sendEndlessly(let bytes): while Socket.send(socket, bytes: bytes) {}
      case .trickle(let bytes, let milliseconds):
        for byte in bytes {
          guard Socket.send(socket, bytes: [byte]) else { return false }
          if Socket.hangsUp(socket, within: milliseconds) { return false }
        }
      case .hold: Socket.waitForHangUp(socket)
      case .reset: Socket.resetOnClose(socket)
      }
    }
    return true
  }
}

extension Socket {
  /// Ten portions a second.
  fileprivate static func trickle(
    _ body: [UInt8], bytesPerSecond: Int, on socket: Int32
  ) -> Bool {
    let portion = max(bytesPerSecond / 10, 1)
    var start = 0
    while start < body.count {
      let end = min(start + portion, body.count)
      guard send(socket, bytes: Array(body[start..<end])) else { return false }
      start = end
      if start < body.count, hangsUp(socket, within: 100) { return false }
    }
    return true
  }

  /// Waits so long, and says whether the other side hung up meanwhile.
  fileprivate static func hangsUp(_ socket: Int32, within milliseconds: Int32) -> Bool {
    var watched = pollfd(fd: socket, events: Int16(EPOLLRDHUP.rawValue), revents: 0)
    return poll(&watched, 1, milliseconds) > 0
  }

  fileprivate static func waitForHangUp(_ socket: Int32) {
    while !hangsUp(socket, within: 60_000) {}
  }

  /// The close that follows sends RST and drops what was not sent.
  fileprivate static func resetOnClose(_ socket: Int32) {
    set(socket, level: SOL_SOCKET, option: SO_LINGER, to: linger(l_onoff: 1, l_linger: 0))
  }
}
