/// The messages of one connection of Alpaca's stream: the server speaks first, each frame is a
/// list, `auth` comes before `subscribe`, and each subscription is answered with all there are.

import Foundation
import Market
import NIOCore
import Reader

final class AlpacaTranslator: StreamTranslator {
  let door = AlpacaDoor.door
  let isBinary: Bool
  private let stream: AlpacaStream
  private let feed: String
  private var subscription = AlpacaSubscription()
  /// As of the last request.
  private var symbols: AlpacaSymbols
  /// Of requests that have no answer yet, oldest first.
  private var pending: [Pending] = []

  private struct Pending {
    /// Stands again if the request is refused.
    let before: AlpacaSubscription
    var errors: [AlpacaError] = []
  }

  init(_ stream: AlpacaStream, feed: String, isBinary: Bool) {
    self.stream = stream
    self.feed = feed
    self.isBinary = isBinary
    symbols = AlpacaSymbols(InstrumentDirectory(), feed: nil)
  }

  func resolve(_ symbol: String) -> SeriesPlace? { symbols.place(symbol) }

  // MARK: From the client

  private struct Request: Decodable {
    let action: String
    let secret: String?
    /// By the channel's name, in whatever request: one that is not known is answered, too.
    private var lists: [String: [String]] = [:]

    private struct Key: CodingKey, Hashable {
      let stringValue: String
      var intValue: Int? { nil }

      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }

      static let (action, key, secret) = (
        Key(stringValue: "action"), Key(stringValue: "key"), Key(stringValue: "secret")
      )
    }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: Key.self)
      action = try fields.decode(String.self, forKey: .action)
      secret = try fields.decodeIfPresent(String.self, forKey: .secret)
      for name in fields.allKeys where ![Key.action, .key, .secret].contains(name) {
        lists[name.stringValue] = try fields.decodeIfPresent([String].self, forKey: name)
      }
    }

    func symbols(of channel: AlpacaChannel) -> [String] { lists[channel.rawValue] ?? [] }

    /// Nothing of these is recorded.
    var channelsWithoutData: [String] {
      lists.filter { AlpacaChannel(rawValue: $0.key) == nil && !$0.value.isEmpty }.keys.sorted()
    }
  }

  func read(_ message: [UInt8]) -> ClientMessage {
    let json = isBinary ? MessagePackReader.json(of: message) : message
    let request = json.flatMap { try? JSONDecoder().decode(Request.self, from: Data($0)) }
    if request?.action == "auth", let secret = request?.secret {
      return .authenticate(token: secret, id: nil)
    }
    pending.append(Pending(before: subscription))
    switch request?.action {
    case "subscribe"?, "unsubscribe"?: break
    case "auth"?, nil: return .malformed(id: nil)
    case let action?: return .unknown(action: action, id: nil)
    }
    guard let request else { return .malformed(id: nil) }
    return change(by: request)
  }

  private func change(by request: Request) -> ClientMessage {
    let directory = stream.market().directory
    symbols = AlpacaSymbols(directory, feed: feed)
    let isAdding = request.action == "subscribe"
    let before = subscription
    var unknown: Set<String> = []
    for channel in AlpacaChannel.allCases {
      var names: [String: AlpacaName] = [:]
      let wanted = request.symbols(of: channel)
      for name in wanted where name != AlpacaSubscription.wildcard {
        if let place = symbols.place(name) {
          names[directory[place].symbol.description] = AlpacaName(spelling: name, place: place)
        } else {
          unknown.insert(name)
        }
      }
      let all = wanted.contains(AlpacaSubscription.wildcard)
      if isAdding {
        subscription.add(names, all: all, to: channel)
      } else {
        subscription.remove(names, all: all, from: channel)
      }
    }
    if isAdding { note(unknown: unknown, withoutData: request.channelsWithoutData) }
    let hasAll = before.hasAll || subscription.hasAll
    let everything = PlaceSet(hasAll ? Array(directory.places) : [])
    let (old, new) = isAdding ? (before, subscription) : (subscription, before)
    let channels = ChannelsRequest(channels: old.channels(missingFor: new, of: everything))
    return isAdding ? .subscribe(channels) : .unsubscribe(channels)
  }

  private func note(unknown: Set<String>, withoutData: [String]) {
    let last = pending.count - 1
    if !unknown.isEmpty {
      pending[last].errors.append(.unknownSymbols(unknown.sorted()))
    }
    if !withoutData.isEmpty { pending[last].errors.append(.noData(of: withoutData)) }
  }

  // MARK: To the client

  func write(_ output: FollowerOutput, to buffer: inout ByteBuffer) {
    let messages = messages(of: output)
    if !messages.isEmpty { write(list: messages, to: &buffer) }
    if case .close(let reason) = output { OutputEncoder.writeClose(reason, to: &buffer) }
  }

  private func write(list messages: [[UInt8]], to buffer: inout ByteBuffer) {
    var head = MessagePackWriter()
    head.array(count: messages.count)
    let sum = messages.reduce(0) { $0 + $1.count }
    let length = sum + (isBinary ? head.bytes.count : messages.count + 1)
    OutputEncoder.writeHeader(length: length, isBinary: isBinary, to: &buffer)
    if isBinary { buffer.writeBytes(head.bytes) }
    for (index, message) in messages.enumerated() {
      if !isBinary { buffer.writeString(index == 0 ? "[" : ",") }
      buffer.writeBytes(message)
    }
    if !isBinary { buffer.writeString("]") }
  }

  private func messages(of output: FollowerOutput) -> [[UInt8]] {
    switch output {
    case .welcome: [success("connected")]
    case .authenticated: [success("authenticated")]
    case .subscribed, .unsubscribed: answer()
    case .failed(_, let error): refused(AlpacaError(error))
    case .snapshot(let snapshot): quotes(snapshot.objects)
    case .prices(_, let objects): quotes(objects)
    case .log(.candles, _, let objects): bars(objects)
    case .resync: [encoded(AlpacaError.missed.message)]
    case .slow: [encoded(AlpacaError.slow.message)]
    case .close(let reason): AlpacaError(reason).map { [encoded($0.message)] } ?? []
    case .log, .updates, .portfolios, .heartbeat, .pong: []
    }
  }

  private func encoded(_ message: AlpacaMessage) -> [UInt8] {
    isBinary ? message.packed : message.json
  }

  private func success(_ text: String) -> [UInt8] {
    encoded(AlpacaMessage([.init("T", .text("success")), .init("msg", .text(text))]))
  }

  private func answer() -> [[UInt8]] {
    let errors = pending.isEmpty ? [] : pending.removeFirst().errors
    let empty = ["trades", "statuses", "lulds", "corrections", "cancelErrors"]
    let message = AlpacaMessage(
      [.init("T", .text("subscription"))]
        + AlpacaChannel.allCases.map { .init($0.rawValue, .texts(subscription[$0].listed)) }
        + empty.map { .init($0, .texts([])) })
    return [encoded(message)] + errors.map { encoded($0.message) }
  }

  private func refused(_ error: AlpacaError) -> [[UInt8]] {
    if !pending.isEmpty { subscription = pending.removeFirst().before }
    return [encoded(error.message)]
  }

  private func quotes(_ stocks: [EncodedStock]) -> [[UInt8]] {
    stocks.compactMap { bytes(of: stream.translation(of: $0)) }
  }

  private func bars(_ messages: [FeedMessage]) -> [[UInt8]] {
    messages.compactMap { bytes(of: stream.translation(of: $0)) }
  }

  /// Under the client's name; nil of what it does not follow.
  private func bytes(of translation: AlpacaTranslation?) -> [UInt8]? {
    guard let translation,
      let name = subscription[translation.channel].name(of: translation.symbol)
    else { return nil }
    return translation.bytes(spelled: name, isBinary: isBinary)
  }
}
