import Foundation
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import Platform
import TestSupport
import Testing

@testable import Gateway

struct Reply {
  let status: Int
  let headers: HTTPFields
  /// What is no text, as is what is compressed, has replacement characters.
  let body: String

  var json: [String: Any] {
    get throws {
      try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] ?? [:]
    }
  }
}

/// A request of a test: asked of a route table in memory, or through a socket.
struct AskedRequest: Sendable {
  let path: String
  var method: HTTPRequest.Method = .get
  var headers = HTTPFields()
  var body: ByteBuffer?

  func answer(from table: RouteTable, log: Logger = quietLog) async throws -> Reply {
    let request = Request(
      head: HTTPRequest(
        method: method, scheme: "http", authority: "test", path: path, headerFields: headers),
      body: { [body] in body ?? ByteBuffer() })
    let answer = await table.respond(
      to: request, context: GatewayContext(of: EmbeddedChannel(), log: log))
    expectDeclared(answer.status, in: table)
    return Reply(
      status: answer.status.code, headers: answer.headers, body: String(buffer: answer.body))
  }

  /// Whatever a test asks: the OpenAPI document says of each problem that its route can have it.
  private func expectDeclared(_ status: HTTPResponse.Status, in table: RouteTable) {
    let parts = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
    let routes = table.routes.filter { $0.match(parts) != nil && $0.method == method }
    guard status.code >= 300, !routes.isEmpty else { return }
    #expect(
      routes.contains { $0.otherStatuses.contains(status.code) },
      "\(method) \(path) does not declare \(status.code)")
  }

  /// Blocks the thread until the answer is there.
  func answer(fromPort port: Int) throws -> Reply {
    let client = try StreamsClient(port: port)
    var lines = ["\(method) \(path) HTTP/1.1", "Host: test", "Connection: close"]
    lines += headers.map { "\($0.name): \($0.value)" }
    if let body { lines.append("Content-Length: \(body.readableBytes)") }
    client.write(Array((lines + ["", ""]).joined(separator: "\r\n").utf8))
    if let body { client.write(Array(body.readableBytesView)) }
    let head = try client.head().components(separatedBy: "\r\n")
    var fields = HTTPFields()
    for line in head.dropFirst() where !line.isEmpty {
      let parts = line.split(separator: ":", maxSplits: 1)
      if let name = HTTPField.Name(String(parts[0])), parts.count == 2 {
        fields.append(
          HTTPField(name: name, value: parts[1].trimmingCharacters(in: .whitespaces)))
      }
    }
    let rest = client.rest()
    let isChunked = fields[.transferEncoding] == "chunked"
    return Reply(
      status: Int(head[0].split(separator: " ")[1]) ?? 0, headers: fields,
      body: String(decoding: isChunked ? Self.joined(chunks: rest) : rest, as: UTF8.self))
  }

  private static func joined(chunks: [UInt8]) -> [UInt8] {
    var rest = chunks[...]
    var body: [UInt8] = []
    while let end = rest.firstIndex(of: 13),
      let count = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16), count > 0
    {
      body += rest.dropFirst(end + 2 - rest.startIndex).prefix(count)
      rest = rest.dropFirst(end + 2 - rest.startIndex + count + 2)
    }
    return body
  }
}
