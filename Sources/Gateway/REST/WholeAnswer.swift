/// An answer whose bytes are all there.

import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

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
