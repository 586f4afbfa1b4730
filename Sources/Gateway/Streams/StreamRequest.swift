/// A request that opens a stream, read from its head.

import Foundation
import NIOHTTP1

struct StreamRequest: Equatable, Sendable {
  let framing: StreamFraming
  let credential: StreamCredential?
  /// `Authorization` of another kind than a token's.
  let hasOtherAuthorization: Bool
  let origin: String?
  let host: String?
  /// All of them, joined by commas.
  let forwardedFor: String?
  /// Of an event stream: what a WebSocket sends as a message.
  private(set) var subscription: ChannelsRequest?

  /// nil: not a stream; HTTP answers.
  init?(_ head: HTTPRequestHead) {
    guard head.method == .GET else { return nil }
    let path = head.uri.prefix { $0 != "?" }
    switch path {
    case "/ws", "/v1/ws":
      guard
        head.headers[canonicalForm: "upgrade"].contains(where: { $0.lowercased() == "websocket" })
      else { return nil }
      framing = .webSocket
    case "/v1/stream": framing = .events
    default: return nil
    }
    let query = Query(head.uri)
    origin = head.headers.first(name: "origin")
    host = head.headers.first(name: "host")
    let forwarded = head.headers["x-forwarded-for"]
    forwardedFor = forwarded.isEmpty ? nil : forwarded.joined(separator: ",")
    let token = Self.token(in: head.headers)
    hasOtherAuthorization = token == nil && head.headers.contains(name: "authorization")
    credential = token ?? query["ticket"].map(StreamCredential.ticket)
    if framing == .events {
      subscription = Self.subscription(
        query, lastEventID: head.headers.first(name: "last-event-id"))
    }
  }

  private static func token(in headers: HTTPHeaders) -> StreamCredential? {
    guard let value = headers.first(name: "authorization"),
      value.prefix(7).lowercased() == "bearer "
    else { return nil }
    return .token(value.dropFirst(7).trimmingCharacters(in: .whitespaces))
  }

  private static func subscription(_ query: Query, lastEventID: String?) -> ChannelsRequest {
    let symbols = query["symbols"].map(words)
    let channels = words(query["channels"] ?? "stock-prices").map { name in
      ChannelRequest(
        name: name, symbols: symbols, every: name == "stock-prices" ? query["every"] : nil,
        intervals: query["intervals"].map(words))
    }
    return ChannelsRequest(after: lastEventID.flatMap(resumePoint), channels: channels)
  }

  private static func words(_ text: String) -> [String] {
    text.split(separator: ",").map(String.init)
  }

  /// "epoch-seq".
  private static func resumePoint(_ text: String) -> ResumePoint? {
    let numbers = text.split(separator: "-").map { Int64($0) }
    guard numbers.count == 2, let epoch = numbers[0], let seq = numbers[1] else { return nil }
    return ResumePoint(epoch: epoch, seq: seq)
  }

  private struct Query {
    private let items: [URLQueryItem]

    init(_ uri: String) { items = URLComponents(string: uri)?.queryItems ?? [] }

    subscript(name: String) -> String? { items.first { $0.name == name }?.value }
  }
}
