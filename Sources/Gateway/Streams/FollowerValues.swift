/// What a follower's state machine answers with: values, compared exactly in tests.

/// Why a follower is closed; raw values are WebSocket close codes.
enum StreamClose: UInt16, CaseIterable, Sendable {
  case goingAway = 1001
  case protocolError = 1002
  case unsupportedData = 1003
  case invalidText = 1007
  case messageTooLarge = 1009
  case tryAgainLater = 1013
  case authenticationTimeout = 4401
  case forbidden = 4403
  case tooSlow = 4408
  case tooManyConnections = 4409
  case tooManyMessages = 4429

  var reason: String {
    switch self {
    case .goingAway: "going away: reconnect after 0 to 5 seconds, chosen at random"
    case .protocolError: "protocol error"
    case .unsupportedData: "text where messages are binary, or the other way round"
    case .invalidText: "text is not UTF-8"
    case .messageTooLarge: "message too large"
    case .tryAgainLater:
      "try again later: too many requests, no database, or the last minutes are being read"
    case .authenticationTimeout: "not authenticated within 10 seconds"
    case .forbidden: "forbidden"
    case .tooSlow: "no progress for 30 seconds"
    case .tooManyConnections: "too many connections of this token"
    case .tooManyMessages: "more than 10 messages a second"
    }
  }
}

enum StreamError: Equatable, Sendable {
  case malformed
  case unknownAction(String)
  case unknownField(String)
  case unknownChannel(String)
  case invalidEvery(String)
  case invalidInterval(String)
  case invalidSymbol
  case tooManySymbols
  case tooManyChannels
  case authenticationRequired
  case accountRequired
  case marketRequired
  case storeAway
  case unknownNumber
}

/// How an authentication ended.
enum StreamAdmission: Equatable, Sendable {
  case granted
  case refused(StreamClose)
}

/// What the connection does outside the stream of messages.
enum FollowerAction: Equatable, Sendable {
  case authorize(StreamCredential)
  /// To find out where the user's outbox ends.
  case startOutbox
  /// Changes of these series' quotes concern the follower from now on.
  case watch([SeriesPlace])
  case unwatch([SeriesPlace])
}

struct SubscribedChannel: Equatable, Sendable {
  let name: String
  /// How many series are meant; nil for a channel that has none.
  let count: Int?
}

/// A message to the client. Objects are those of the market, encoded once for all.
enum FollowerOutput: Equatable, Sendable {
  case welcome(epoch: Int64, seq: Int64)
  case authenticated(id: RequestID?)
  case subscribed(Subscribed)
  case unsubscribed(id: RequestID?, channels: [SubscribedChannel], unknown: [String])
  case pong(id: RequestID?)
  case failed(id: RequestID?, StreamError)
  case resync(ResyncReason, epoch: Int64, seq: Int64)
  case snapshot(Snapshot)
  /// `seq` is where the follower resumes after this message.
  case prices(seq: Int64, objects: [EncodedStock])
  case log(type: LogType, seq: Int64, objects: [FeedMessage])
  /// Of the user's own; the number is where the follower resumes after this message.
  case updates(UserChannel, number: Int64, epoch: Int64, items: [OutboxItem])
  case portfolios(objects: [[UInt8]])
  case slow(conflated: Int)
  case heartbeat(seq: Int64)
  case close(StreamClose)

  struct Subscribed: Equatable, Sendable {
    let id: RequestID?
    let channels: [SubscribedChannel]
    let unknown: [String]
    /// nil: nothing was to be recovered.
    var isRecovered: Bool?
    var from: Int64?
    let to: Int64
    /// Of the user's outbox; nil: no channel of it is meant.
    var number: Int64?
    var epoch: Int64?
  }

  struct Snapshot: Equatable, Sendable {
    let seq: Int64
    let part: Int
    let parts: Int
    let objects: [EncodedStock]
  }
}

/// Raw values are those of the API's `type`.
enum LogType: String, Sendable {
  case candles
  case gap
  case gapClosed = "gap-closed"
  case certificate
  case minuteComplete = "minute-complete"
  case event

  init(_ kind: FeedMessage.Kind) {
    switch kind {
    case .candle: self = .candles
    case .gap: self = .gap
    case .closedGap: self = .gapClosed
    case .certificate: self = .certificate
    case .minuteComplete: self = .minuteComplete
    case .event: self = .event
    }
  }
}
