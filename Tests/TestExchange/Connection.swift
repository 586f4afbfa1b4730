import ExchangeSimulator

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
    let isDelivered =
      response.delivery?.deliver(response, head: head, on: socket)
      ?? Socket.send(socket, bytes: head + response.body)
    if !isDelivered, let ticket = response.ticket { undelivered(ticket) }
    return isDelivered && response.delivery?.keepsConnection ?? true
  }
}
