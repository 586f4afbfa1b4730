/// Between NIO's types of HTTP/1 and those that routes use.

import HTTPServing
import HTTPTypes
import NIOCore
import NIOHTTP1

package struct Request: Sendable {
  package let head: HTTPRequest
  /// HTTP/1.1 has exactly one `Host`, HTTP/1.0 one at most.
  let isHostClear: Bool
  /// A little more than the bound of one that is too large.
  /// - Throws: where it breaks off.
  let body: HTTPExchange.Body

  package init(head: HTTPRequest, body: @escaping HTTPExchange.Body) {
    self.head = head
    self.body = body
    isHostClear = true
  }

  package init(_ old: HTTPRequestHead, body: @escaping HTTPExchange.Body) {
    // The decoder lets only tokens through; no route takes TRACE.
    let method = HTTPRequest.Method(old.method.rawValue) ?? .trace
    let hosts = old.headers["host"]
    var fields = HTTPFields()
    for (name, value) in old.headers where name.lowercased() != "host" {
      if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
    }
    head = HTTPRequest(
      method: method, scheme: "http", authority: hosts.first, path: Self.target(of: old.uri),
      headerFields: fields)
    isHostClear = hosts.count == 1 || hosts.isEmpty && old.version != .http1_1
    self.body = body
  }

  var method: HTTPRequest.Method { head.method }
  var headers: HTTPFields { head.headerFields }
  /// Path and query.
  var target: String { head.path ?? "/" }

  /// Proxies get the address of the whole.
  private static func target(of uri: String) -> String {
    guard !uri.hasPrefix("/"), let scheme = uri.firstRange(of: "://") else { return uri }
    let target = uri[scheme.upperBound...].drop { $0 != "/" && $0 != "?" }.prefix { $0 != "#" }
    return target.hasPrefix("/") ? String(target) : "/\(target)"
  }
}

extension Answer {
  package var http: HTTPAnswer {
    let status = HTTPResponseStatus(statusCode: status.code, reasonPhrase: status.reasonPhrase)
    let fields = headers.map { ($0.name.rawName, $0.value) }
    return HTTPAnswer(
      head: HTTPResponseHead(version: .http1_1, status: status, headers: HTTPHeaders(fields)),
      body: body)
  }
}
