import Glibc
import TestSupport

/// A client of plain sockets, so that what arrives is seen byte by byte and nothing is repaired on
/// the way, as an HTTP library would.
struct RawClient {
  private let socket: Int32

  /// Milliseconds for an answer that will come, also under a sanitizer on a busy machine.
  static let patience: Int32 = 60_000

  enum Ending: Equatable {
    /// The other side closed.
    case closed
    case reset
    /// Nothing more came in the time allowed.
    case silence
    /// The answer is complete as its Content-Length says.
    case complete
  }

  struct Response {
    var head: String
    var body: [UInt8]
    var ending: Ending

    var status: Int? { Int(head.split(separator: " ").dropFirst().first ?? "") }
    var text: String { String(decoding: body, as: UTF8.self) }
    var lines: [Substring] { text.split(separator: "\n") }
  }

  init(port: UInt16) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if LoopbackAddress.connect(socket, to: port) != 0 { throw RawClientError() }
  }

  func close() { _ = Glibc.close(socket) }

  func send(_ bytes: [UInt8]) {
    _ = bytes.withUnsafeBytes {
      Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
  }

  func finishSending() { _ = shutdown(socket, Int32(SHUT_WR)) }

  /// Asks as a well-behaved client does.
  func get(
    _ target: String, referer: String? = "https://finance.sina.com.cn/",
    patienceMilliseconds: Int32 = RawClient.patience
  ) -> Response {
    let line = referer.map { "Referer: \($0)\r\n" } ?? ""
    send(Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\(line)\r\n".utf8))
    return receive(patienceMilliseconds: patienceMilliseconds)
  }

  /// Reads until the answer is complete, the connection ends or patience does.
  func receive(patienceMilliseconds: Int32 = RawClient.patience) -> Response {
    var bytes: [UInt8] = []
    while true {
      if let response = RawClient.parsed(bytes, ending: .complete), response.isWhole {
        return response.response
      }
      var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      if poll(&watched, 1, patienceMilliseconds) <= 0 { return partial(bytes, .silence) }
      let count = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { chunk in
        let count = recv(socket, chunk.baseAddress, chunk.count, 0)
        bytes.append(contentsOf: UnsafeRawBufferPointer(chunk).prefix(max(count, 0)))
        return count
      }
      if count < 0 { return partial(bytes, .reset) }
      if count == 0 { return partial(bytes, .closed) }
    }
  }

  private func partial(_ bytes: [UInt8], _ ending: Ending) -> Response {
    RawClient.parsed(bytes, ending: ending)?.response
      ?? Response(head: "", body: bytes, ending: ending)
  }

  private static func parsed(_ bytes: [UInt8], ending: Ending) -> (
    response: Response, isWhole: Bool
  )? {
    let mark = Array("\r\n\r\n".utf8)
    guard
      let end = bytes.indices.first(where: { place in
        place + 4 <= bytes.count && bytes[place..<place + 4].elementsEqual(mark)
      })
    else { return nil }
    let head = String(decoding: bytes[..<end], as: UTF8.self)
    let body = Array(bytes[(end + 4)...])
    let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
      .flatMap { Int($0.dropFirst(16)) }
    return (Response(head: head, body: body, ending: ending), body.count == length)
  }
}

struct RawClientError: Error {}
