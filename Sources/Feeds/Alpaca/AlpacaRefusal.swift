/// What an answer of Alpaca that is not data amounts to, market data and trading hosts alike.
///
/// The status comes first, the message only where a status means several things
/// (upstreams/alpaca.md §B.6): a 403 may be a wrong key or a plan without recent SIP data, a 400 one
/// bad symbol out of hundreds. Bodies may be HTML at any status.

import Market

enum AlpacaRefusal {
  /// nil where the body is to be read.
  static func judge(_ body: UnsafeRawBufferPointer, status: Int) -> FeedRefusal? {
    let text = body.trimmed
    let message = AlpacaMessage(text)
    switch status {
    case 200..<300: return judgeFine(text, message)
    case 401, 407: return FeedRefusal(.unauthorised, "HTTP \(status): the key was refused")
    case 403:
      return judge(message) ?? FeedRefusal(.unauthorised, "HTTP 403: the key was refused")
    case 408, 500..<600: return FeedRefusal(.transient, "HTTP \(status): the server failed")
    case 429:
      return FeedRefusal(.throttled(retryAfterSeconds: nil), "HTTP 429: asked too often")
    default:
      return judge(message)
        ?? FeedRefusal(.programmingError, "HTTP \(status): the request was refused as wrong")
    }
  }

  private static func judgeFine(
    _ text: UnsafeRawBufferPointer, _ message: AlpacaMessage?
  ) -> FeedRefusal? {
    if let message {
      return judge(message) ?? FeedRefusal(.malformed, "a message in place of data")
    }
    switch text.first {
    case UInt8(ascii: "{"), UInt8(ascii: "["): return nil
    case UInt8(ascii: "<"): return FeedRefusal(.transient, "a page of HTML in place of data")
    case nil: return FeedRefusal(.malformed, "an empty answer")
    default: return FeedRefusal(.malformed, "not an answer in the format")
    }
  }

  /// nil for a message that says nothing of its own.
  private static func judge(_ message: AlpacaMessage?) -> FeedRefusal? {
    if message?.isEntitlement == true {
      return FeedRefusal(.entitlement, "the plan does not include this")
    }
    guard let refusedSymbol = message?.refusedSymbol else { return nil }
    return FeedRefusal(.invalidSymbol(refusedSymbol.name), "a symbol market data does not take")
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

  /// What stands behind `invalid symbol: `; its name is nil where nothing fit to be repeated does.
  var refusedSymbol: (name: String?, Void)? {
    guard words.lowercased().hasPrefix(AlpacaMessage.symbolLead) else { return nil }
    let name = words.dropFirst(AlpacaMessage.symbolLead.count)
      .drop { $0 == ":" || $0 == " " || $0 == "s" }
    let isFit =
      (1...AlpacaMessage.symbolBytesMax).contains(name.utf8.count)
      && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    return (isFit ? String(name) : nil, ())
  }
}
