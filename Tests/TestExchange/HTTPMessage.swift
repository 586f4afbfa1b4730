/// HTTP/1.1 as far as a market-data upstream needs it: GET requests in, complete answers out.

package struct SimulatedRequest: Sendable {
  /// Path and query exactly as sent, without the host.
  package var target: String
  /// Names in lower case.
  package var headers: [String: String]

  var keepsAlive: Bool { headers["connection"]?.lowercased() != "close" }

  /// Request line and headers together; a list of 5,400 symbols is 49 KB.
  static let headBytesMax = 262_144

  /// Parses the head of a request: everything before the empty line. nil if it is none.
  init?(head: ArraySlice<UInt8>) {
    var lines = head.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
    let start = lines.removeFirst().split(
      separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard start.count == 3, start[2].starts(with: "HTTP/1.".utf8),
      start[1].first == UInt8(ascii: "/"), start[0].elementsEqual("GET".utf8)
    else { return nil }
    target = String(decoding: start[1], as: UTF8.self)
    headers = [:]
    for line in lines where !line.isEmpty {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
      let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      let value = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
      headers[name] = String(decoding: value, as: UTF8.self)
    }
  }

  package init(target: String, headers: [String: String] = [:]) {
    self.target = target
    self.headers = headers
  }
}

/// A way of a connection to treat an answer that no honest server has.
package protocol ResponseDelivery: Sendable {
  /// Whether the connection serves another request.
  var keepsConnection: Bool { get }

  /// - Returns: whether the client has the body, if it read to the end.
  func deliver(_ response: SimulatedResponse, head: [UInt8], on socket: Int32) -> Bool
}

/// An answer and how it is to be delivered.
package struct SimulatedResponse: Sendable {
  package var status: Int
  package var contentType: String
  package var body: [UInt8]
  /// nil: whole, and at once.
  package var delivery: (any ResponseDelivery)?
  package var retryAfterSeconds: Int?
  /// Further headers, each `Name: value`.
  package var headers: [String] = []
  /// What the observer noted about it; withdrawn if it cannot be delivered.
  package var ticket: ResponseTicket?

  package init(
    status: Int = 200, body: [UInt8],
    contentType: String = "application/javascript; charset=GB18030"
  ) {
    self.status = status
    self.body = body
    self.contentType = contentType
  }

  package static func text(_ status: Int, _ text: String) -> SimulatedResponse {
    SimulatedResponse(status: status, body: Array(text.utf8), contentType: "text/plain")
  }

  package static func json(_ body: [UInt8]) -> SimulatedResponse {
    SimulatedResponse(body: body, contentType: "application/json; charset=utf-8")
  }

  /// Status line and headers.
  func head(keepsAlive: Bool) -> [UInt8] {
    var lines = [
      "HTTP/1.1 \(status) \(SimulatedResponse.reason(status))",
      "Content-Type: \(contentType)",
      "Content-Length: \(body.count)",
      "Cache-Control: no-cache",
      "Connection: \(keepsAlive ? "Keep-Alive" : "close")",
    ]
    if let retryAfterSeconds { lines.append("Retry-After: \(retryAfterSeconds)") }
    lines += headers
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 414: "Request-URI Too Large"
    case 429: "Too Many Requests"
    case 456: "Client Error"
    case 500: "Internal Server Error"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Time-out"
    default: "Unknown"
    }
  }
}
