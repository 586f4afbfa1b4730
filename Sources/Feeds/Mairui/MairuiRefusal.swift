/// What a response of Mairui that is no list means.
///
/// The body decides and the status only where the body is silent: the quota's end, for one, comes
/// with HTTP 200 as `9`, `101`, `101:…`, `{"code":101}` or a sentence
/// (docs/sources/mairui.md#refusals). There is no official table of the numbers, so sentences are
/// recognised by a few words that do not change.

enum MairuiRefusal {
  /// nil where the body is to be read as a list.
  static func classify(_ body: UnsafeRawBufferPointer, status: Int) -> FeedRefusal? {
    let text = body.trimmed
    let isFine = (200..<300).contains(status)
    switch text.first {
    case UInt8(ascii: "[") where isFine: return nil
    case UInt8(ascii: "["), UInt8(ascii: "<"), nil: break
    case UInt8(ascii: "{"):
      if let refusal = MairuiMessage(object: text)?.refusal { return refusal }
    default:
      if let refusal = MairuiMessage(text: text).refusal { return refusal }
    }
    if let refusal = classify(status: status) { return refusal }
    return text.first == UInt8(ascii: "<")
      ? FeedRefusal(.transient, "an HTML page instead of a list")
      : FeedRefusal(
        .malformed,
        text.isEmpty ? "the response is empty" : "the response is not in the expected format")
  }

  /// nil for success.
  private static func classify(status: Int) -> FeedRefusal? {
    switch status {
    case 200..<300: nil
    case 401, 403, 407: FeedRefusal(.unauthorised, "HTTP \(status): the licence was refused")
    // Hosts were moved before: the answer may be at the next one.
    case 300..<400, 404, 410: FeedRefusal(.notFound, "HTTP \(status): not found on this host")
    case 429: FeedRefusal(.throttled(retryAfterSeconds: nil), "HTTP 429: too many requests")
    case 503: FeedRefusal(.throttled(retryAfterSeconds: nil), "HTTP 503: the server is overloaded")
    case 408, 500..<600: FeedRefusal(.transient, "HTTP \(status): the server failed")
    default: FeedRefusal(.programmingError, "HTTP \(status): the request was refused")
    }
  }
}

/// A number and words, as far as an error has them.
private struct MairuiMessage {
  private var code: Int64?
  private var words = ""

  /// How much of a body is looked at for words.
  private static let textBytesMax = 512
  /// The window in which the addresses of a licence are counted: after more than two it must pass.
  private static let addressWindowSeconds = 60

  /// `101:Licence证书当日次数已超出`, `"101"`, `9`.
  init(text: UnsafeRawBufferPointer) {
    words = String(decoding: text.prefix(MairuiMessage.textBytesMax), as: UTF8.self)
    let digits = words.drop { $0 == "\"" }.prefix { $0.isASCII && $0.isNumber }
    let next = words.drop { $0 == "\"" }.dropFirst(digits.count).first
    if next.map({ !$0.isLetter || !$0.isASCII }) ?? true { code = Int64(digits) }
  }

  /// `{"code":101,"msg":…}`, `{"detail":…}`, `{"error":…}`; nil where it is no whole object.
  init?(object text: UnsafeRawBufferPointer) {
    do throws(JSONFault) {
      var reader = try JSONReader(text)
      try reader.openObject()
      while let key = try reader.nextKey() { add(try reader.readValue(), for: key) }
      try reader.finish()
    } catch {
      return nil
    }
  }

  private mutating func add(_ value: JSONValue, for key: JSONString) {
    switch (key, value) {
    case ("code", .number(let number)): code = number.whole
    case ("code", .string(let string)): code = Int64(string.text)
    case (_, .string(let string)): words += string.text + "\n"
    default: break
    }
  }

  /// The number first; words only where it says nothing known.
  var refusal: FeedRefusal? { refusalByCode ?? refusalByText }

  private var refusalByCode: FeedRefusal? {
    switch code {
    case 9, 101: FeedRefusal(.quotaExhausted, "the licence has no requests left today")
    case 102, 401, 403: FeedRefusal(.unauthorised, "the licence is not valid")
    case 103:
      FeedRefusal(
        .throttled(retryAfterSeconds: MairuiMessage.addressWindowSeconds),
        "the licence is in use from more than two addresses")
    case 104, 404: FeedRefusal(.notFound, "not found on this host, or not included in this licence")
    case 429, 503: FeedRefusal(.throttled(retryAfterSeconds: nil), "too many requests")
    case 500, 502, 504: FeedRefusal(.transient, "the server failed")
    default: nil
    }
  }

  private var refusalByText: FeedRefusal? {
    let mentionsLicence = words.lowercased().contains("licence") || words.contains("证书")
    if contains("超出", "超限", "用尽") {
      return FeedRefusal(.quotaExhausted, "the licence has no requests left today")
    }
    if mentionsLicence, contains("无效", "不存在", "过期", "到期") {
      return FeedRefusal(.unauthorised, "the licence is not valid")
    }
    if contains("数据不存在") { return FeedRefusal(.noData, "the source has no such data") }
    if contains("资源不存在") {
      return FeedRefusal(.notFound, "not found on this host, or not included in this licence")
    }
    return nil
  }

  private func contains(_ phrases: String...) -> Bool { phrases.contains { words.contains($0) } }
}
