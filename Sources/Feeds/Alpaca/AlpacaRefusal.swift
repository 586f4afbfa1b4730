/// What a response of Alpaca that is not data means, market data and trading hosts alike.
///
/// The status comes first, the message only where a status means several things
/// (docs/sources/alpaca.md#refusals): a 403 may be a wrong key or a plan without recent SIP data, a
/// 400 one bad symbol out of hundreds. Bodies may be HTML at any status.

enum AlpacaRefusal {
  /// nil where the body is to be read.
  static func classify(_ body: UnsafeRawBufferPointer, status: Int) -> FeedRefusal? {
    let text = body.trimmed
    let message = AlpacaMessage(text)
    switch status {
    case 200..<300: return classifySuccess(text, message: message)
    case 401, 407: return FeedRefusal(.unauthorised, "HTTP \(status): the key was refused")
    case 403:
      return classify(message) ?? FeedRefusal(.unauthorised, "HTTP 403: the key was refused")
    case 408, 500..<600: return FeedRefusal(.transient, "HTTP \(status): the server failed")
    // Its hosts do not redirect; a network that wants a login does.
    case 300..<400: return FeedRefusal(.transient, "HTTP \(status): redirected")
    case 429:
      return FeedRefusal(.throttled(retryAfterSeconds: nil), "HTTP 429: too many requests")
    default:
      return classify(message)
        ?? FeedRefusal(.programmingError, "HTTP \(status): the request was refused as invalid")
    }
  }

  private static func classifySuccess(
    _ text: UnsafeRawBufferPointer, message: AlpacaMessage?
  ) -> FeedRefusal? {
    if let message { return classify(misplaced: message) }
    switch text.first {
    case UInt8(ascii: "{"), UInt8(ascii: "["): return nil
    case UInt8(ascii: "<"): return FeedRefusal(.transient, "an HTML page instead of data")
    case nil: return FeedRefusal(.malformed, "the response is empty")
    default: return FeedRefusal(.malformed, "the response is not in the expected format")
    }
  }

  /// nil for a message without a meaning of its own.
  private static func classify(_ message: AlpacaMessage?) -> FeedRefusal? {
    if message?.isEntitlement == true {
      return FeedRefusal(.entitlement, "the plan does not include this data")
    }
    guard let message, message.isAboutSymbol else { return nil }
    return FeedRefusal(
      .invalidSymbol(message.refusedSymbol), "market data does not know a symbol of the request")
  }

  /// The class of a message behind a status of success, which an intermediary may have put there.
  private static func classify(misplaced message: AlpacaMessage) -> FeedRefusal {
    if let refusal = classify(message) { return refusal }
    switch message.topic {
    case .requestRate:
      return FeedRefusal(.throttled(retryAfterSeconds: nil), "too many requests")
    case .key: return FeedRefusal(.unauthorised, "the key was refused")
    case .server: return FeedRefusal(.transient, "the server failed")
    case .request: return FeedRefusal(.programmingError, "the request was refused as invalid")
    case nil: return FeedRefusal(.malformed, "a message instead of data")
    }
  }
}

/// `{"code":42210000,"message":"…"}`, the code where there is one.
private struct AlpacaMessage {
  private var code: Int64?
  private var words = ""

  /// No message seen has a tenth of it.
  private static let textBytesMax = 4096
  private static let symbolBytesMax = 32
  private static let symbolLead = "invalid symbol"
  private static let recentDataRefused: Int64 = 42_210_000

  /// nil unless `text` is an object with a message and no data.
  init?(_ text: UnsafeRawBufferPointer) {
    guard text.first == UInt8(ascii: "{"), text.count <= AlpacaMessage.textBytesMax else {
      return nil
    }
    do throws(JSONFault) {
      var reader = try JSONReader(text)
      try reader.openObject()
      while let key = try reader.nextKey() {
        let value = try reader.readValue()
        switch key {
        case "code": code = value.number?.whole
        case "message": words = value.string?.text ?? ""
        case "bars": return nil
        default: break
        }
      }
    } catch {
      return nil
    }
    if words.isEmpty { return nil }
  }

  var isEntitlement: Bool {
    code == AlpacaMessage.recentDataRefused || words.lowercased().contains("subscription")
  }

  enum Topic {
    case requestRate, key, server, request
  }

  /// The subject of a known message, found by its first words.
  var topic: Topic? {
    let words = words.lowercased()
    return AlpacaMessage.topics.first { words.hasPrefix($0.lead) }?.topic
  }

  private static let topics: [(lead: String, topic: Topic)] = [
    ("too many requests", .requestRate), ("rate limit", .requestRate), ("forbidden", .key),
    ("request is not authorized", .key), ("internal server error", .server),
    ("invalid", .request), ("end should not be before start", .request),
  ]

  var isAboutSymbol: Bool { words.lowercased().hasPrefix(AlpacaMessage.symbolLead) }

  /// What stands behind `invalid symbol: `; nil where nothing fit to be repeated does.
  var refusedSymbol: String? {
    guard let name = words.split(separator: ": ", maxSplits: 1).dropFirst().first,
      name.utf8.count <= AlpacaMessage.symbolBytesMax,
      name.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    return String(name)
  }
}
