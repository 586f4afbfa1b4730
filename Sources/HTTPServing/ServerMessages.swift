/// What goes over a connection: the head of a request in, a whole response out.

import NIOCore
import NIOHTTP1

/// A request without a body; what follows the head is not looked at.
package struct ServerRequest: Sendable, Hashable {
  package var method: String
  /// Without the query, which nothing here has.
  package var path: String
  /// The values of `Host`, of which there should be one.
  package var hosts: [String]

  package init(method: String = "GET", path: String, hosts: [String] = []) {
    self.method = method
    self.path = path
    self.hosts = hosts
  }

  /// nil if it asks for anything but a path of ours, such as another server's.
  init?(_ head: HTTPRequestHead) {
    guard head.uri.hasPrefix("/") else { return nil }
    self.init(
      method: head.method.rawValue, path: String(head.uri.prefix { $0 != "?" }),
      hosts: head.headers["host"].map { value in
        String(value.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
      })
  }
}

package struct ServerResponse: Sendable, Hashable {
  package var status: Int
  package var contentType = "text/plain; charset=utf-8"
  package var body: String

  package init(status: Int, contentType: String, body: String) {
    self.status = status
    self.contentType = contentType
    self.body = body
  }

  /// One or more lines of text.
  package static func text(_ text: String, status: Int) -> ServerResponse {
    ServerResponse(status: status, contentType: "text/plain; charset=utf-8", body: text + "\n")
  }

  static let notHTTP = text("not an HTTP request", status: 400)

  func answer(withBody: Bool = true) -> HTTPAnswer {
    var headers: HTTPHeaders = ["Content-Type": contentType]
    if status == 405 { headers.add(name: "Allow", value: "GET, HEAD") }
    headers.add(name: "Content-Length", value: "\(body.utf8.count)")
    headers.add(name: "Cache-Control", value: "no-store")
    return HTTPAnswer(
      head: HTTPResponseHead(
        version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers),
      body: ByteBuffer(string: withBody ? body : ""))
  }
}
