/// The messages that are written for one follower.

import Market

extension FollowerOutput {
  /// Whether a client that resumes may name the seq that is reached with this message.
  var isResumable: Bool {
    switch self {
    case .snapshot, .prices, .log, .updates, .heartbeat: true
    default: false
    }
  }

  private var hasObjects: Bool {
    switch self {
    case .snapshot, .prices, .log, .updates, .portfolios: true
    default: false
    }
  }

  /// The message without its objects, for which there is an empty list at its end.
  func json(
    reached: Follower.Reached?, in market: StreamMarket, feeds: () -> [UInt8]
  ) -> [UInt8] {
    JSONWriter.encode { object in
      writeMembers(to: &object, reached: reached, in: market, feeds: feeds)
      if hasObjects { object.array("data") { _ in } }
    }
  }

  private func writeMembers(
    to object: inout JSONWriter, reached: Follower.Reached?, in market: StreamMarket,
    feeds: () -> [UInt8]
  ) {
    object.member("type") { $0.string(type) }
    switch self {
    case .welcome(let epoch, let seq):
      object.member("epoch") { $0.integer(epoch) }
      object.member("seq") { $0.integer(seq) }
      object.member("heartbeatSeconds") {
        $0.integer(StreamLimits.heartbeatMilliseconds / 1_000)
      }
    case .authenticated(let id), .pong(let id): object.member(id: id)
    case .subscribed(let answer): answer.writeMembers(to: &object)
    case .unsubscribed(let id, let channels, let unknown):
      object.member(id: id)
      object.member(channels: channels, unknown: unknown)
    case .failed(let id, let error):
      object.member(id: id)
      object.member("code") { $0.string(error.code) }
      object.member("title") { $0.string(error.title) }
    case .resync(let reason, let epoch, let seq):
      object.member("reason") { $0.string(reason.rawValue) }
      object.member("epoch") { $0.integer(epoch) }
      object.member("seq") { $0.integer(seq) }
    case .slow(let conflated): object.member("conflated") { $0.integer(Int64(conflated)) }
    case .heartbeat(let seq):
      object.member(seq: seq, reached: reached)
      object.member("at") { $0.string(Timestamp.now.description) }
      object.member("stale") { $0.boolean(market.lostAt != nil) }
      object.member("feeds") { $0.encoded(feeds()) }
    case .snapshot(let snapshot):
      object.member("channel") { $0.string("stock-prices") }
      object.member("epoch") { $0.integer(market.epoch) }
      object.member(seq: snapshot.seq, reached: reached)
      object.member("part") { $0.integer(Int64(snapshot.part)) }
      object.member("parts") { $0.integer(Int64(snapshot.parts)) }
    case .prices(let seq, _):
      object.member(seq: seq, reached: reached)
      object.member("at") { $0.optional(market.committedAt) { $0.string($1.description) } }
    case .log(_, let seq, _): object.member(seq: seq, reached: reached)
    case .updates(_, let number, let epoch, _):
      object.member("n") { $0.integer(number) }
      object.member("epochN") { $0.integer(epoch) }
    case .portfolios, .close: break
    }
  }

  private var type: String {
    switch self {
    case .welcome: "welcome"
    case .authenticated: "authenticated"
    case .subscribed: "subscribed"
    case .unsubscribed: "unsubscribed"
    case .pong: "pong"
    case .failed: "error"
    case .resync: "resync"
    case .snapshot: "snapshot"
    case .prices: "stock-prices"
    case .log(let type, _, _): type.rawValue
    case .updates(let channel, _, _, _): channel.rawValue
    case .portfolios: UserChannel.portfolios.rawValue
    case .slow: "slow"
    case .heartbeat: "heartbeat"
    case .close: "close"
    }
  }
}

extension FollowerOutput.Subscribed {
  fileprivate func writeMembers(to object: inout JSONWriter) {
    object.member(id: id)
    object.member(channels: channels, unknown: unknown)
    if let isRecovered { object.member("recovered") { $0.boolean(isRecovered) } }
    if let from { object.member("from") { $0.integer(from) } }
    object.member("to") { $0.integer(to) }
    if let number { object.member("n") { $0.integer(number) } }
    if let epoch { object.member("epochN") { $0.integer(epoch) } }
  }
}

extension JSONWriter {
  fileprivate mutating func member(id: RequestID?) {
    switch id {
    case nil: break
    case .text(let text): member("id") { $0.string(text) }
    case .number(let number): member("id") { $0.integer(number) }
    }
  }

  /// The seq, and where the log goes on if that is not it.
  fileprivate mutating func member(seq: Int64, reached: Follower.Reached?) {
    member("seq") { $0.integer(seq) }
    guard let log = reached?.log(behind: seq) else { return }
    member("logSeq") { $0.integer(log.after) }
    if log.position > 0 { member("logPosition") { $0.integer(Int64(log.position)) } }
  }

  fileprivate mutating func member(channels: [SubscribedChannel], unknown: [String]) {
    list("channels", of: channels) { object, channel in
      object.member("name") { $0.string(channel.name) }
      if let count = channel.count { object.member("count") { $0.integer(Int64(count)) } }
    }
    member("unknown") { $0.strings(unknown) }
  }
}

extension StreamError {
  var code: String {
    switch self {
    case .malformed: "malformed_message"
    case .unknownAction: "unknown_action"
    case .unknownField: "unknown_field"
    case .unknownChannel: "unknown_channel"
    case .invalidEvery: "invalid_every"
    case .invalidInterval: "invalid_interval"
    case .invalidSymbol: "invalid_symbol"
    case .tooManySymbols: "too_many_symbols"
    case .tooManyChannels: "too_many_channels"
    case .authenticationRequired: "unauthenticated"
    case .accountRequired, .marketRequired: "forbidden"
    case .storeAway: "store_away"
    case .unknownNumber: "unknown_number"
    }
  }

  var title: String {
    switch self {
    case .malformed: "expected a JSON object with \"action\" and the fields of that action"
    case .unknownAction(let action):
      "unknown action \"\(action.prefix(32))\": expected auth, subscribe, unsubscribe or ping"
    case .unknownField(let field): "\(field) is no field of this action"
    case .unknownChannel(let name): "unknown channel \"\(name)\""
    case .invalidEvery(let text):
      "every is \"\(text)\": expected 1s to \(StreamLimits.everySecondsMax)s"
    case .invalidInterval(let name): "unknown interval \"\(name)\""
    case .invalidSymbol:
      "a symbol has at most \(StreamLimits.symbolBytesMax) bytes and no control characters"
    case .tooManySymbols: "at most \(StreamLimits.symbolsMax) symbols on a channel"
    case .tooManyChannels: "at most \(StreamLimits.channelsMax) channels in a message"
    case .accountRequired: "what is a user's own needs a token with the scope account"
    case .marketRequired: "the market needs a token with the scope market"
    case .storeAway: "the database cannot be read now: subscribe again later"
    case .unknownNumber:
      "afterN is beyond the outbox, or of another epoch: read the orders and the inbox again; "
        + "what comes is sent"
    case .authenticationRequired: "send {\"action\":\"auth\",\"token\":\"…\"} first"
    }
  }
}
