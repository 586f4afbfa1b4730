/// One client's connection: requests in, answers out, as long as both keep it alive.
struct Connection {
  let socket: Int32
  let response: (SimulatedRequest) -> SimulatedResponse
  let undelivered: (ResponseTicket) -> Void

  private static let end = Array("\r\n\r\n".utf8)
  private static let readBytes = 65_536

  /// Serves until either side is done. The socket is the caller's to close.
  func serve() {
    var received: [UInt8] = []
    while let head = nextHead(&received) {
      guard let request = SimulatedRequest(head: head[...]) else {
        _ = deliver(.text(400, "Bad Request"), keepsAlive: false)
        return
      }
      if !deliver(response(request), keepsAlive: request.keepsAlive) || !request.keepsAlive {
        return
      }
    }
  }

  /// The bytes before the next empty line; nil if the client is gone or sends too much.
  private func nextHead(_ received: inout [UInt8]) -> [UInt8]? {
    var searched = 0
    while true {
      if let end = Connection.firstEnd(in: received, from: searched) {
        let head = Array(received[..<end])
        received.removeFirst(end + Connection.end.count)
        return head
      }
      searched = max(received.count - Connection.end.count, 0)
      if received.count > SimulatedRequest.headBytesMax { return nil }
      guard Socket.receive(socket, into: &received, bytesMax: Connection.readBytes) else {
        return nil
      }
    }
  }

  private static func firstEnd(in bytes: [UInt8], from start: Int) -> Int? {
    var place = start
    while place + end.count <= bytes.count {
      if bytes[place] == end[0], bytes[place..<place + end.count].elementsEqual(end) {
        return place
      }
      place += 1
    }
    return nil
  }

  /// False if the connection is over.
  private func deliver(_ response: SimulatedResponse, keepsAlive: Bool) -> Bool {
    let head = response.head(keepsAlive: keepsAlive)
    let isDelivered: Bool
    switch response.delivery {
    case .whole:
      isDelivered = Socket.send(socket, bytes: head + response.body)
    case .slow(let bytesPerSecond):
      isDelivered =
        Socket.send(socket, bytes: head) && trickle(response.body, bytesPerSecond: bytesPerSecond)
    case .cut(let bytes):
      _ = Socket.send(socket, bytes: head + response.body.prefix(bytes))
      return false
    case .reset:
      Socket.resetOnClose(socket)
      return false
    case .never:
      Socket.waitForHangUp(socket)
      return false
    case .wire(let script):
      let isDelivered = perform(script, body: response.body) && script.deliversBody
      if !isDelivered, let ticket = response.ticket { undelivered(ticket) }
      return false
    }
    if !isDelivered, let ticket = response.ticket { undelivered(ticket) }
    return isDelivered
  }

  /// False if the client was gone before the end.
  private func perform(_ script: WireScript, body: [UInt8]) -> Bool {
    for step in script.steps {
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

  /// Ten portions a second.
  private func trickle(_ body: [UInt8], bytesPerSecond: Int) -> Bool {
    let portion = max(bytesPerSecond / 10, 1)
    var start = 0
    while start < body.count {
      let end = min(start + portion, body.count)
      guard Socket.send(socket, bytes: Array(body[start..<end])) else { return false }
      start = end
      if start < body.count, Socket.hangsUp(socket, within: 100) { return false }
    }
    return true
  }
}
