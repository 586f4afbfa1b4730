/// How qt.gtimg.cn refuses.

enum TencentRefusal {
  /// Why `body` holds no quotes to decode; nil if it does.
  ///
  /// HTTP 414, a URI that is too long, is `malformed`, as every request that is wrong itself.
  static func classify(_ body: UnsafeRawBufferPointer, status: Int) -> QuoteOutcome? {
    if let outcome = QuoteOutcome(refusedWith: status) { return outcome }
    let text = body.trimmed
    if text.isEmpty { return .empty }
    if text.first == UInt8(ascii: "<") { return .banned }
    // Nothing of what was requested is known, not even the reference symbol: of a request whose
    // prefixes are wrong the host says the same, so no instrument is called unknown for it.
    if noneMatch.contains(where: { text.starts(with: $0) }) { return .notFound }
    return text.offset(of: TencentLine.start) == nil ? .malformed : nil
  }

  private static let noneMatch = [Array("v_pv_none_match=".utf8), Array("pv_none_match=".utf8)]
}
