/// HTTP/1.1 as far as a market-data upstream needs it: GET requests in, complete answers out.

package struct SimulatedRequest: Sendable {
  var method: String
  /// Path and query exactly as sent, without the host.
  var target: String
  /// Names in lower case.
  var headers: [String: String]

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
    method = "GET"
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
    method = "GET"
    self.target = target
    self.headers = headers
  }
}

/// An answer and how it is to be delivered.
package struct SimulatedResponse: Sendable {
  /// The ways a connection can treat an answer.
  package enum Delivery: Sendable, Equatable {
    case whole
    case slow(bytesPerSecond: Int)
    /// The promised length never arrives: the connection closes after so many bytes of the body.
    case cut(afterBytes: Int)
    /// A TCP reset instead of an answer.
    case reset
    /// Nothing at all until the client gives up.
    case never
    case wire(WireScript)
  }

  package var status = 200
  var contentType = "application/javascript; charset=GB18030"
  package var body: [UInt8]
  package var delivery = Delivery.whole
  package var retryAfterSeconds: Int?
  var headers: [String] = []
  /// What the observer noted about it; withdrawn if it cannot be delivered.
  package var ticket: ResponseTicket?

  static func text(_ status: Int, _ text: String) -> SimulatedResponse {
    var response = SimulatedResponse(status: status, body: Array(text.utf8))
    response.contentType = "text/plain"
    return response
  }

  static func page(_ status: Int, _ sentence: String) -> SimulatedResponse {
    let html = "<html><head><title>\(sentence)</title></head><body>\(sentence)</body></html>\n"
    var response = SimulatedResponse(
      status: status, body: (try? GB18030.encoded(html)) ?? Array(html.utf8))
    response.contentType = "text/html; charset=GBK"
    return response
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
