import Foundation
import HTTPTypes
import Hummingbird
import Market
import NIOCore

/// What a request is answered with, whole: all bytes of it are there.
package struct Answer: Sendable {
  package var status: HTTPResponse.Status
  package var headers: HTTPFields
  let body: ByteBuffer

  /// Of every answer: no browser takes it for what it is not.
  static let headersOfAll: HTTPFields = [.xContentTypeOptions: "nosniff"]

  private init(status: HTTPResponse.Status, headers: HTTPFields, body: ByteBuffer) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// - Parameters:
  ///   - tag: names this very content; whoever has it gets 304.
  ///   - caching: the header Cache-Control.
  package init(
    json: [UInt8], tag: String? = nil, caching: String = "no-cache",
    contentType: String = "application/json"
  ) {
    var headers: HTTPFields = [
      .contentType: contentType, .cacheControl: caching, .vary: "Accept-Encoding",
    ]
    if let tag { headers[.eTag] = "\"\(tag)\"" }
    self.init(status: .ok, headers: headers, body: ByteBuffer(bytes: json))
  }

  /// Text that is named by its bytes.
  init(
    tagging text: [UInt8], caching: String = "no-cache", contentType: String = "application/json"
  ) {
    let hash = StableHash(of: String(decoding: text, as: UTF8.self))
    self.init(
      json: text, tag: String(hash.value, radix: 36), caching: caching, contentType: contentType)
  }

  /// Of a user's own things: kept nowhere on the way.
  static func own(
    _ status: HTTPResponse.Status = .ok, location: String? = nil,
    write: (inout JSONWriter) -> Void
  ) -> Answer {
    var text = JSONWriter(capacity: 1_024)
    write(&text)
    var answer = Answer(json: text.bytes, caching: "no-store")
    answer.status = status
    if let location { answer.headers[.location] = location }
    return answer
  }

  static var done: Answer {
    var answer = Answer(json: [], caching: "no-store")
    answer.status = .noContent
    answer.headers[.contentType] = nil
    return answer
  }

  /// - Parameter door: what the request came through; nil for the gateway's own API.
  init(_ problem: Problem, through door: Door?) {
    var headers = problem.headers
    headers[.contentType] = door == nil ? Problem.contentType : "application/json"
    headers[.cacheControl] = "no-store"
    let json = door?.json(problem) ?? problem.json
    self.init(status: problem.status, headers: headers, body: ByteBuffer(bytes: json))
  }

  /// What a client gets that has some content already.
  /// - Parameter tags: its `If-None-Match`. Compressed content carries its tag with a suffix: it is
  ///   other bytes, and the same answer.
  func unlessKnown(as tags: String?) -> Answer {
    guard let tag = headers[.eTag], let tags else { return self }
    let known = tags.split(separator: ",").map { entry in
      entry.trimmingCharacters(in: .whitespaces)
        .replacing("W/", with: "").replacing("-gzip\"", with: "\"")
    }
    guard known.contains(tag) || known == ["*"] else { return self }
    var headers = headers
    headers[.contentType] = nil
    return Answer(status: .notModified, headers: headers, body: ByteBuffer())
  }

  var response: Response {
    Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
  }
}
