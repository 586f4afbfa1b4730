/// How hq.sinajs.cn refuses.
///
/// The body decides, not the status: a ban page or a voided batch may come with HTTP 200
/// (docs/sources/sina.md#lines-and-refusals). Only where the body says nothing does the status
/// speak.

extension QuoteOutcome {
  /// Why `body` holds no quotes to decode; nil if it does.
  static func refusal(of body: UnsafeRawBufferPointer, status: Int) -> QuoteOutcome? {
    let text = body.trimmed
    if let refusal = refusal(ofAnyHost: text, status: status) { return refusal }
    return text.offset(of: SinaGrammar.lineStart) == nil ? .malformed : nil
  }

  /// The refusals that all of Sina's hosts share, tested before the format is looked at.
  static func refusal(ofAnyHost text: UnsafeRawBufferPointer, status: Int) -> QuoteOutcome? {
    if let refusal = refusal(in: text) { return refusal }
    if let outcome = QuoteOutcome(refusedWith: status) { return outcome }
    if text.isEmpty { return .empty }
    return text.first == UInt8(ascii: "<") ? .banned : nil
  }

  /// What the body says of itself, whatever the status.
  private static func refusal(in text: UnsafeRawBufferPointer) -> QuoteOutcome? {
    if voidedBatch.contains(where: { text.starts(with: $0) }) { return .poisoned }
    if refusedReferer.contains(where: { text.starts(with: $0) }) { return .unauthorised }
    if null.withUnsafeBytes({ text.equals($0) }) { return .throttled }
    if text.starts(with: SinaGrammar.lineStart) { return nil }
    let head = text.slice(0, to: min(text.count, banPageBytesMax))
    return banPhrases.contains { head.offset(of: $0) != nil } ? .banned : nil
  }

  /// How far into a body the phrase of a ban page is looked for.
  private static let banPageBytesMax = 16_384
  private static let voidedBatch = [
    Array(#"var hq_str_sys_auth="FAILED""#.utf8), Array("sys_auth=FAILED".utf8),
    Array(#"sys_auth="FAILED""#.utf8),
  ]
  private static let refusedReferer = [Array("Kinsoku".utf8), Array("Forbidden".utf8)]
  private static let null = Array("null".utf8)
  /// 异常访问, "abnormal access" (tushare #997), in UTF-8 and in GBK.
  private static let banPhrases: [[UInt8]] = [
    Array("异常访问".utf8), [0xD2, 0xEC, 0xB3, 0xA3, 0xB7, 0xC3, 0xCE, 0xCA],
  ]
}
