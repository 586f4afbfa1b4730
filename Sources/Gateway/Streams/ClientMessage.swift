/// What a client sends, read from JSON. A field that is not known, and what cannot be read, become
/// `strange` and `malformed`, which are answered and change nothing.

import Foundation

/// A request's `id`, repeated in its answer as it was sent.
enum RequestID: Equatable, Sendable, Decodable {
  case text(String)
  case number(Int64)

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let number = try? value.decode(Int64.self) {
      self = .number(number)
    } else {
      let text = try value.decode(String.self)
      guard text.utf8.count <= StreamLimits.requestIDBytesMax else {
        throw DecodingError.dataCorruptedError(in: value, debugDescription: "a long id")
      }
      self = .text(text)
    }
  }
}

/// Where a client stopped.
struct ResumePoint: Equatable, Sendable, Decodable {
  let epoch: Int64
  let seq: Int64
  /// Where its log goes on; nil: where its prices do.
  var logSeq: Int64?
  var logPosition: Int?

  var log: LogCursor {
    logSeq.map { LogCursor(after: $0, position: logPosition ?? 0) } ?? LogCursor(after: seq)
  }
}

struct ChannelRequest: Equatable, Sendable, Decodable {
  let name: String
  var symbols: [String]?
  var every: String?
  var intervals: [String]?
  /// In place of `symbols`, from a door that has looked them up.
  var places: PlaceSet?

  private enum CodingKeys: CodingKey { case name, symbols, every, intervals }
}

struct ChannelsRequest: Equatable, Sendable {
  var id: RequestID?
  var after: ResumePoint?
  /// What the client has of its user's outbox.
  var afterN: Int64?
  /// In which that number was given; nil: the client does not say.
  var epochN: Int64?
  let channels: [ChannelRequest]
}

enum ClientMessage: Equatable, Sendable {
  case authenticate(token: String, id: RequestID?)
  case subscribe(ChannelsRequest)
  case unsubscribe(ChannelsRequest)
  case ping(id: RequestID?)
  case unknown(action: String, id: RequestID?)
  case strange(field: String, id: RequestID?)
  case malformed(id: RequestID?)

  /// Of a subscription: as a request's, by its symbols. Whoever repeats one is sent all of it anew.
  var cost: Int {
    guard case .subscribe(let request) = self else { return 0 }
    let symbols = request.channels.reduce(0) {
      $0 + ($1.symbols?.count ?? $1.places?.count ?? 0)
    }
    return 1 + symbols / Route.symbolsOfCost
  }

  private static let schema = Schema.either(
    .either(
      schema(of: ["auth"], [.init("token", .string)]), schema(of: ["ping"], [])),
    .either(
      schema(
        of: ["subscribe"],
        [channels, .init("after", .anyObject)] + ["afterN", "epochN"].map { .init($0, .integer) }),
      schema(of: ["unsubscribe"], [channels])))
  private static let channels = Schema.Member(
    "channels",
    .array(of: .object(["name", "symbols", "every", "intervals"].map { .init($0, .string) })))

  private static func schema(of actions: [String], _ members: [Schema.Member]) -> Schema {
    .object([.init("action", .choice(actions)), .init("id", .string)] + members)
  }

  /// - Parameter json: at most `StreamLimits.messageBytesMax`.
  init(json: [UInt8]) {
    let decoder = JSONDecoder()
    let data = Data(json)
    let id = (try? decoder.decode(Identified.self, from: data))?.id
    guard let fields = try? decoder.decode(Fields.self, from: data) else {
      self = .malformed(id: id)
      return
    }
    switch (fields.action, fields.token, fields.channels) {
    case ("auth", let token?, _): self = .authenticate(token: token, id: id)
    case ("subscribe", _, let channels?):
      self = .subscribe(
        ChannelsRequest(
          id: id, after: fields.after, afterN: fields.afterN.map { max($0, 0) },
          epochN: fields.epochN, channels: channels))
    case ("unsubscribe", _, let channels?):
      self = .unsubscribe(ChannelsRequest(id: id, channels: channels))
    case ("ping", _, _): self = .ping(id: id)
    case ("auth", _, _), ("subscribe", _, _), ("unsubscribe", _, _): self = .malformed(id: id)
    case (let action, _, _): self = .unknown(action: action, id: id)
    }
    switch self {
    case .unknown, .malformed, .strange: break
    case .authenticate, .subscribe, .unsubscribe, .ping:
      let fault = Self.schema.strangeField(in: data)
      if let fault { self = .strange(field: fault.field, id: id) }
    }
  }

  private struct Identified: Decodable { var id: RequestID? }

  private struct Fields: Decodable {
    let action: String
    var token: String?
    var after: ResumePoint?
    var afterN: Int64?
    var epochN: Int64?
    var channels: [ChannelRequest]?
  }
}
