/// HTTP/1.1 on a socket, as far as a market-data upstream needs it.

import ExchangeSimulator

extension SimulatedRequest {
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
    var headers: [String: String] = [:]
    for line in lines where !line.isEmpty {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
      let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      let value = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
      headers[name] = String(decoding: value, as: UTF8.self)
    }
    self.init(target: String(decoding: start[1], as: UTF8.self), headers: headers)
  }
}

extension SimulatedResponse {
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
