import Glibc

/// One visit: a request comes in, an answer goes out, the line is closed. Every step is one system
/// call that does not wait.
struct AdminConnection {
  let socket: Int32
  /// Descriptors are used again; visits are not.
  let visit: UInt64
  /// On the steady clock, nanoseconds.
  var deadline: Int64
  private var phase = Phase.reading([])
  /// HEAD is told the length and spared the body.
  private var wantsBody = true

  private enum Phase {
    case reading([UInt8])
    case waiting
    case writing([UInt8], from: Int)
    /// All is said; what the client still sends is thrown away, so that closing resets nothing.
    case leaving
  }

  enum Step {
    case goesOn
    case asks(AdminRequest)
    case ended
  }

  /// From the first byte to the last, and again for the answer.
  static let secondsMax: Int64 = 5
  static let headBytesMax = 8_192
  private static let blockBytes = 4_096

  init(socket: Int32, visit: UInt64, acceptedAt now: Int64) {
    self.socket = socket
    self.visit = visit
    deadline = now + AdminConnection.secondsMax * 1_000_000_000
  }

  /// What to wait for; while an answer is made, only for the client to go.
  var events: Int16 {
    switch phase {
    case .reading, .leaving: Int16(POLLIN)
    case .writing: Int16(POLLOUT)
    case .waiting: 0
    }
  }

  var isWaiting: Bool { if case .waiting = phase { true } else { false } }

  mutating func respond(with response: AdminResponse, at now: Int64) {
    phase = .writing(response.bytes(withBody: wantsBody), from: 0)
    deadline = now + AdminConnection.secondsMax * 1_000_000_000
  }

  /// Does what can be done without waiting.
  mutating func advance() -> Step {
    switch phase {
    case .reading(let head): read(head)
    case .waiting: .ended
    case .writing(let bytes, let from): write(bytes, from: from)
    case .leaving: isGone() ? .ended : .goesOn
    }
  }

  private mutating func read(_ before: [UInt8]) -> Step {
    var head = before
    switch AdminSocket.read(socket, bytesMax: AdminConnection.blockBytes) {
    case .bytes(let bytes): head += bytes
    case .later: return .goesOn
    case .over: return .ended
    }
    if let end = AdminRequest.end(of: head) {
      phase = .waiting
      guard let request = AdminRequest(head: head[..<end]) else {
        return refuse(.text(400, "not an HTTP request"))
      }
      wantsBody = request.method != "HEAD"
      return .asks(request)
    }
    phase = .reading(head)
    return head.count > AdminConnection.headBytesMax
      ? refuse(.text(431, "the request is too long")) : .goesOn
  }

  private mutating func refuse(_ response: AdminResponse) -> Step {
    phase = .writing(response.bytes(withBody: wantsBody), from: 0)
    return advance()
  }

  private mutating func write(_ bytes: [UInt8], from start: Int) -> Step {
    let sent = AdminSocket.write(socket, bytes[start...])
    guard let sent else { return .ended }
    guard start + sent < bytes.count else {
      phase = .leaving
      shutdown(socket, Int32(SHUT_WR))
      return .goesOn
    }
    phase = .writing(bytes, from: start + sent)
    return .goesOn
  }

  /// Throws away what is there; true once the client has closed.
  private func isGone() -> Bool {
    switch AdminSocket.read(socket, bytesMax: AdminConnection.blockBytes) {
    case .bytes, .later: false
    case .over: true
    }
  }
}
