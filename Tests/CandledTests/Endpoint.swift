import Foundation
import Glibc
import TestSupport
import Testing

/// HTTP by hand: what curl would see.
struct Endpoint {
  var port: UInt16
  /// Sent with each request.
  var headers: [String: String] = [:]

  struct Refused: Error {}

  func get(_ path: String) throws -> (status: Int, head: String, body: String) {
    try ask("GET", path)
  }

  func put(_ path: String, _ json: String) throws -> (status: Int, head: String, body: String) {
    var endpoint = self
    endpoint.headers["Content-Type"] = "application/json"
    endpoint.headers["Content-Length"] = "\(json.utf8.count)"
    return try endpoint.ask("PUT", path, body: json)
  }

  private func ask(
    _ method: String, _ path: String, body: String = ""
  ) throws -> (status: Int, head: String, body: String) {
    let line = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(line) }
    guard LoopbackAddress.connect(line, to: port) == 0 else { throw Refused() }
    let fields = ["Host": "localhost", "Connection": "close"].merging(headers) { $1 }
    let lines = ["\(method) \(path) HTTP/1.1"] + fields.map { "\($0.key): \($0.value)" }
    let request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    guard send(line, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw Refused()
    }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 65_536)
    while case let count = recv(line, &block, block.count, 0), count > 0 {
      bytes += block.prefix(count)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let parts = text.components(separatedBy: "\r\n\r\n")
    let code = parts[0].split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return (try #require(code), parts[0], parts.dropFirst().joined(separator: "\r\n\r\n"))
  }
}
