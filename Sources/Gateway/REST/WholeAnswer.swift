/// An answer whose bytes are all there, and the requests that get one at once: of routes that have
/// theirs in memory, on the connection's event loop, without a task.

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

package struct WholeAnswer: Sendable {
  package let status: HTTPResponse.Status
  package var headers: HTTPFields
  package let body: ByteBuffer

  init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: ByteBuffer = ByteBuffer()) {
    self.status = status
    self.headers = headers
    self.body = body
    // That of a 304 would be the length of what is not sent.
    if !headers.contains(.contentLength), status != .notModified {
      self.headers.append(
        HTTPField(name: .contentLength, value: String(body.readableBytes)))
    }
  }

  /// Of every answer: no browser takes it for what it is not.
  static let headersOfAll: HTTPFields = [.xContentTypeOptions: "nosniff"]

  /// - Parameter door: what the request came through; nil for the gateway's own API.
  init(_ problem: Problem, through door: Door?) {
    var headers = problem.headers
    headers[.contentType] = door == nil ? Problem.contentType : "application/json"
    headers[.cacheControl] = "no-store"
    let json = door?.json(problem) ?? problem.json
    self.init(status: problem.status, headers: headers, body: ByteBuffer(bytes: json))
  }

  /// nil of an answer that is written as it comes.
  /// - Parameter tags: what the client has already. Compressed content carries its tag with a
  ///   suffix: it is other bytes, and the same answer.
  init?(_ answer: Answer, ifNoneMatch tags: String?) {
    guard let bytes = answer.bytes else { return nil }
    if let tag = answer.headers[.eTag], let tags {
      let known = tags.split(separator: ",").map { entry in
        entry.trimmingCharacters(in: .whitespaces)
          .replacing("W/", with: "").replacing("-gzip\"", with: "\"")
      }
      if known.contains(tag) || known == ["*"] {
        var headers = answer.headers
        headers[.contentType] = nil
        self.init(status: .notModified, headers: headers)
        return
      }
    }
    self.init(status: answer.status, headers: answer.headers, body: bytes)
  }

  var response: Response {
    Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
  }
}

/// What a request says about itself, where it is plain: no body, nothing but a path in its target,
/// no field twice. All others are for Hummingbird.
struct PlainRequest {
  var access: AccessRequest
  private(set) var tags: String?

  /// - Parameter peer: numeric address of the connection's other end.
  init?(_ head: HTTPRequestHead, peer: String?) {
    guard head.method == .GET, head.version == .http1_1,
      head.uri.utf8.allSatisfy(Self.isPlain)
    else { return nil }
    access = AccessRequest(target: head.uri, peer: peer)
    for (name, value) in head.headers {
      guard take(name, value: value) else { return nil }
    }
    // As Hummingbird has it.
    if access.host == nil { return nil }
  }

  /// Of a path that means itself.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "%"): false
    default: byte > 0x20 && byte < 0x7F
    }
  }

  private mutating func take(_ name: String, value: String) -> Bool {
    switch name.utf8.count {
    case 4 where name.isField("host"): Self.set(&access.host, to: value)
    case 6 where name.isField("origin"): Self.set(&access.origin, to: value)
    case 6 where name.isField("expect"): false
    case 7 where name.isField("upgrade"): false
    case 10 where name.isField("connection"): value.isField("keep-alive")
    case 13 where name.isField("authorization"): Self.set(&access.authorization, to: value)
    case 13 where name.isField("if-none-match"): Self.set(&tags, to: value)
    case 14 where name.isField("content-length"): false
    case 15 where name.isField("x-forwarded-for"): Self.set(&access.forwardedFor, to: value)
    case 17 where name.isField("transfer-encoding"): false
    case 19 where name.isField("apca-api-secret-key"): Self.set(&access.secretKey, to: value)
    default: true
    }
  }

  private static func set(_ field: inout String?, to value: String) -> Bool {
    guard field == nil, value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { return false }
    field = value
    return true
  }
}

extension String {
  /// - Parameter name: in small letters.
  fileprivate func isField(_ name: StaticString) -> Bool {
    var position = 0
    for byte in utf8 {
      let isLetter = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      guard position < name.utf8CodeUnitCount,
        (isLetter ? byte | 0x20 : byte) == name.utf8Start[position]
      else { return false }
      position += 1
    }
    return position == name.utf8CodeUnitCount
  }
}
