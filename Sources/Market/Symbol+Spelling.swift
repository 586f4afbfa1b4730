/// The many ways people spell one A-share, brought to the one that is stored.
///
/// A bare code is taken only where the code plans leave one reading: `000001` is an index in
/// Shanghai and a bank in Shenzhen, so it is refused, never guessed.

extension Symbol {
  /// Reads `sh600519`, `SH600519`, `600519.SH` and, where only one exchange has such a code,
  /// `600519`: all are `sh600519`. A text that starts with a letter and is no A-share spelling is
  /// kept as it is: `AAPL`, `gb_$ixic`.
  ///
  /// nil for an ambiguous or unknown bare code, an unknown exchange, and what `init(_:)` refuses.
  public init?(anySpelling text: String) {
    let spelling =
      Symbol.prefixed(text) ?? Symbol.suffixed(text) ?? Symbol.inferred(text)
      ?? (text.first.map { "0"..."9" ~= $0 } == true ? nil : text)
    guard let spelling, let symbol = Symbol(spelling) else { return nil }
    self = symbol
  }

  private static func prefixed(_ text: String) -> String? {
    let code = text.suffix(Instrument.codeDigits)
    guard Instrument.isCode(code) else { return nil }
    return exchange(named: text.dropLast(Instrument.codeDigits)).map { $0.prefix + code }
  }

  private static func suffixed(_ text: String) -> String? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, Instrument.isCode(parts[0]) else { return nil }
    return exchange(named: parts[1]).map { $0.prefix + parts[0] }
  }

  private static func inferred(_ text: String) -> String? {
    guard Instrument.isCode(text) else { return nil }
    let readings = Exchange.mainland
      .map { $0.prefix + text }
      .filter { Symbol($0).flatMap(Instrument.classify) != nil }
    return readings.count == 1 ? readings.first : nil
  }

  private static func exchange(named name: Substring) -> Exchange? {
    Exchange.mainland.first { $0.prefix == name.lowercased() }
  }
}
