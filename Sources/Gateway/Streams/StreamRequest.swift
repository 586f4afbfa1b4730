/// A request that opens a stream, read from its head.

import AppStore
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
  /// What is wrong with its arguments.
  private(set) var problem: Problem?

  /// nil: not a stream; HTTP answers.
  /// - Parameters:
  ///   - isBehindDoor: whether a door opens a stream for it.
  ///   - takesAnySecret: clients of other APIs cannot be without a secret; where none is needed,
  ///     one that is no token means nothing.
  init?(_ head: HTTPRequestHead, isBehindDoor: Bool = false, takesAnySecret: Bool = false) {
    let path = head.path
    switch path {
    case _ where isBehindDoor: framing = .webSocket
    case "/ws", "/v1/ws":
      guard head.offersWebSocket else { return nil }
      framing = .webSocket
    case StreamRoute.path where head.method == .GET: framing = .events
    default: return nil
    }
    origin = head.headers.first(name: "origin")
    host = head.headers.first(name: "host")
    let forwarded = head.headers["x-forwarded-for"]
    forwardedFor = forwarded.isEmpty ? nil : forwarded.joined(separator: ",")
    let token = Self.token(in: head.headers, takesAnySecret: takesAnySecret)
    hasOtherAuthorization = token == nil && head.headers.contains(name: "authorization")
    guard framing == .events else {
      let query = URLComponents(string: head.uri)?.queryItems
      let ticket = query?.first { $0.name == "ticket" }?.value
      credential = token ?? ticket.map(StreamCredential.ticket)
      return
    }
    var arguments = Arguments([:], body: [])
    do throws(Problem) {
      let values = try StreamRoute.events.values(
        path: [:], query: String(head.uri.dropFirst(path.count + 1))
      ) { head.headers.first(name: $0) }
      arguments = Arguments(values, body: [])
    } catch {
      problem = error
    }
    credential = token ?? arguments["ticket"].map(StreamCredential.ticket)
    subscription = Self.subscription(arguments)
  }

  private static func token(
    in headers: HTTPHeaders, takesAnySecret: Bool
  ) -> StreamCredential? {
    if !headers.contains(name: "authorization"),
      let secret = headers.first(name: "apca-api-secret-key")
    {
      return takesAnySecret && !secret.hasPrefix(TokenSecret.prefix) ? nil : .token(secret)
    }
    guard let value = headers.first(name: "authorization"),
      value.prefix(7).lowercased() == "bearer "
    else { return nil }
    return .token(value.dropFirst(7).trimmingCharacters(in: .whitespaces))
  }

  private static func subscription(_ arguments: Arguments) -> ChannelsRequest {
    let channels = (arguments.list("channels") ?? ["stock-prices"]).map { name in
      ChannelRequest(
        name: name, symbols: arguments.list("symbols"),
        every: name == "stock-prices" ? arguments["every"] : nil,
        intervals: arguments.list("intervals"))
    }
    // Behind dots the number of the user's outbox, and its epoch unless that is the first.
    let parts = arguments["Last-Event-ID"]?.split(separator: ".") ?? []
    let afterN = parts.count > 1 ? Int64(parts[1]) : nil
    return ChannelsRequest(
      after: parts.first.flatMap(resumePoint), afterN: afterN,
      epochN: parts.count > 2 ? Int64(parts[2]) : afterN.map { _ in 0 }, channels: channels)
  }

  /// "epoch-seq", "epoch-seq-logSeq" or "epoch-seq-logSeq-logPosition".
  private static func resumePoint(_ text: Substring) -> ResumePoint? {
    let numbers = text.split(separator: "-").map { Int64($0) }
    guard (2...4).contains(numbers.count), let epoch = numbers[0], let seq = numbers[1] else {
      return nil
    }
    return ResumePoint(
      epoch: epoch, seq: seq, logSeq: numbers.count > 2 ? numbers[2] : nil,
      logPosition: numbers.count > 3 ? numbers[3].map { Int($0) } : nil)
  }
}
