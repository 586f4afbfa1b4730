import Foundation
import HTTPTypes
import Market
import NIOCore
import Platform

/// What a request is answered with, whole: all bytes of it are there.
package struct Answer: Sendable {
  package var status: HTTPResponse.Status
  package var headers: HTTPFields = [:]
  package fileprivate(set) var body = ByteBuffer()
  /// Of an answer to many: its body compressed, once somebody took it so.
  fileprivate(set) var compressed: Locked<ByteBuffer?>?
  /// The code of a problem that is one for now; nil of any other answer.
  fileprivate(set) var refusal: String?

  /// Of every answer: no browser takes it for what it is not.
  static let headersOfAll: HTTPFields = [.xContentTypeOptions: "nosniff"]
}

extension Answer {
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

  static func object(
    caching: String = "no-cache", members: (inout JSONWriter) -> Void
  ) -> Answer {
    Answer(json: JSONWriter.encode(object: members), caching: caching)
  }

  /// An array of objects.
  static func list<Row>(
    of rows: some Sequence<Row>, caching: String = "no-cache",
    members: (inout JSONWriter, Row) -> Void
  ) -> Answer {
    var text = JSONWriter(capacity: 2_048)
    text.objects(of: rows, members: members)
    return Answer(json: text.bytes, caching: caching)
  }

  /// An object of a user's own things: kept nowhere on the way.
  static func own(
    _ status: HTTPResponse.Status = .ok, location: String? = nil,
    members: (inout JSONWriter) -> Void
  ) -> Answer {
    var answer = object(caching: "no-store", members: members)
    answer.status = status
    if let location { answer.headers[.location] = location }
    return answer
  }

  static func own<Value>(
    _ value: Value, as shape: Shape<Value>, in zone: MarketZone = .utc,
    status: HTTPResponse.Status = .ok, location: String? = nil
  ) -> Answer {
    own(status, location: location) { $0.write(value, as: shape, in: zone) }
  }

  static func ownList<Row>(
    _ status: HTTPResponse.Status = .ok, of rows: some Sequence<Row>,
    members: (inout JSONWriter, Row) -> Void
  ) -> Answer {
    var answer = list(of: rows, caching: "no-store", members: members)
    answer.status = status
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
    refusal = problem.isForNow ? problem.code : nil
  }

  /// The same for many requests: its body is compressed once.
  func kept() -> Answer {
    var answer = self
    answer.compressed = Locked(nil)
    return answer
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

  /// As it goes out: compressed for those who take it, with its length, to HEAD without its body.
  func ready(for request: Request) -> Answer {
    var answer = self
    if request.method != .head, isCompressible,
      Gzip.isTaken(request.headers[.acceptEncoding] ?? "")
    {
      answer.body = compressedBody()
      answer.headers[.contentEncoding] = "gzip"
      if let tag = headers[.eTag], tag.hasSuffix("\"") {
        answer.headers[.eTag] = "\(tag.dropLast())-gzip\""
      }
    }
    answer.headers.append(contentsOf: Self.headersOfAll)
    answer.headers[.contentLength] = String(answer.body.readableBytes)
    if request.method == .head { answer.body = ByteBuffer() }
    return answer
  }

  private func compressedBody() -> ByteBuffer {
    if let known = compressed?.withLock({ $0 }) { return known }
    let made = Gzip.compress(body)
    compressed?.withLock { $0 = made }
    return made
  }

  private var isCompressible: Bool {
    let type = headers[.contentType] ?? ""
    return body.readableBytes >= Gzip.bytesMin && status == .ok
      && ["application/", "text/", "image/svg"].contains { type.hasPrefix($0) }
  }
}

/// The newest answer to a question that many ask: made anew when what it shows has changed.
final class KeptAnswer: Sendable {
  private let newest = Locked<(version: Int, answer: Answer)?>(nil)

  /// - Parameter version: of what it shows.
  func answer(of version: Int, make: () -> Answer) -> Answer {
    if let newest = newest.withLock({ $0 }), newest.version == version { return newest.answer }
    let answer = make().kept()
    newest.withLock { $0 = (version, answer) }
    return answer
  }
}
