/// What goes over the admin endpoint's line: the head of a request in, a whole answer out.

/// A request without a body; what follows the head is not looked at.
package struct AdminRequest: Sendable, Hashable {
  package var method: String
  /// Without the query.
  package var path: String
  /// What it calls us: the values of `Host`, of which there should be one.
  package var hosts: [String] = []

  package init(method: String = "GET", path: String) {
    self.method = method
    self.path = path
  }

  /// nil unless it is a request line of HTTP/1 and headers of the form `name: value`.
  init?(head: ArraySlice<UInt8>) {
    let lines = head.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
      $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0
    }
    let words = lines[0].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard words.count == 3, words[2].starts(with: "HTTP/1.".utf8), !words[0].isEmpty,
      words[0].allSatisfy({ (65...90).contains($0) }), words[1].first == UInt8(ascii: "/"),
      lines.dropFirst().allSatisfy({ $0.contains(UInt8(ascii: ":")) })
    else { return nil }
    method = String(decoding: words[0], as: UTF8.self)
    path = String(decoding: words[1].prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
    hosts = lines.dropFirst().compactMap(AdminRequest.host)
  }

  /// Of a header line; nil if it is another header.
  private static func host(in line: ArraySlice<UInt8>) -> String? {
    let text = String(decoding: line, as: UTF8.self)
    guard let colon = text.firstIndex(of: ":"), text[..<colon].lowercased() == "host" else {
      return nil
    }
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    let value = text[text.index(after: colon)...].drop(while: isBlank)
    return String(value.reversed().drop(while: isBlank).reversed())
  }

  private static let ending = Array("\r\n\r\n".utf8)
  static let endingCount = ending.count

  /// Where the head ends, its empty line left out.
  static func end(of bytes: [UInt8]) -> Int? {
    guard bytes.count >= ending.count else { return nil }
    return (0...bytes.count - ending.count).first { start in
      bytes[start] == ending[0] && bytes[start..<start + ending.count].elementsEqual(ending)
    }
  }
}

package struct AdminResponse: Sendable, Hashable {
  package var status: Int
  package var contentType = "text/plain; charset=utf-8"
  package var body: String

  package static func text(_ status: Int, _ text: String) -> AdminResponse {
    AdminResponse(status: status, body: text + "\n")
  }

  static func unavailable(_ sentence: String) -> AdminResponse { .text(503, sentence) }

  /// The connection ends with it, so that nobody stays.
  func bytes(withBody: Bool) -> [UInt8] {
    var head = "HTTP/1.1 \(status) \(reason)\r\nContent-Type: \(contentType)\r\n"
    if status == 405 { head += "Allow: GET, HEAD\r\n" }
    head += "Content-Length: \(body.utf8.count)\r\nCache-Control: no-store\r\n"
    head += "Connection: close\r\n\r\n"
    return Array(head.utf8) + (withBody ? Array(body.utf8) : [])
  }

  private var reason: String {
    switch status {
    case 200: "OK"
    case 400: "Bad Request"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 421: "Misdirected Request"
    case 431: "Request Header Fields Too Large"
    default: "Service Unavailable"
    }
  }
}
