/// The lines of hq.sinajs.cn and the families of symbols (docs/sources/sina.md).
///
///     var hq_str_<symbol>="<field>,<field>,…";⏎
///
/// Structure is read on the raw bytes: `, " ; =` and line feed never occur inside a GB18030
/// character, so nothing has to be decoded to split a line.

enum SinaGrammar {
  static let lineStart = Array("var hq_str_".utf8)
  /// `="` between symbol and fields.
  static let opening = Array(#"=""#.utf8)
  /// `";` behind the fields.
  static let closing = Array(#"";"#.utf8)
  /// Fields a full line has at least: everything up to the time.
  static let fullFieldsMin = 32
  /// `sh600519`, `sz000001`, `bj920000`: exchange and six digits.
  static let fullSymbolBytes = 8
}

/// The layouts a line can have; the symbol decides.
enum SinaFamily {
  /// `sh`, `sz`, `bj` and six digits: at least 32 fields, five-level book.
  case full
  /// `s_` before such a symbol: name, last, change, percent, volume, turnover.
  case short
  /// `_i` behind such a symbol: share capital and limit prices.
  case companion
  /// `hk00700`, `rt_hkHSI`.
  case hongKong
  /// `gb_aapl`, `gb_$ixic`, `usr_nvda`.
  case unitedStates
  /// `int_hangseng`: name, last, change, percent.
  case international
  /// `b_KOSPI`: the same four fields, then more.
  case bourse

  /// nil for a symbol of none of them.
  init?(_ symbol: UnsafeRawBufferPointer) {
    if SinaFamily.isFull(symbol) {
      self = .full
    } else if symbol.count == 10, SinaFamily.isFull(symbol.slice(0, to: 8)),
      symbol.starts(with: SinaFamily.companionTail, at: 8)
    {
      self = .companion
    } else {
      let found = SinaFamily.prefixes.first {
        symbol.starts(with: $0.prefix) && $0.isCode(symbol.dropping($0.prefix.count))
      }
      guard let found else { return nil }
      self = found.family
    }
  }

  private static let exchanges = [Array("sh".utf8), Array("sz".utf8), Array("bj".utf8)]
  private static let companionTail = Array("_i".utf8)

  /// What a family begins with, and what may stand behind it.
  private static let prefixes:
    [(prefix: [UInt8], family: SinaFamily, isCode: @Sendable (UnsafeRawBufferPointer) -> Bool)] = [
      (Array("s_".utf8), .short, isFull), (Array("rt_hk".utf8), .hongKong, isHongKong),
      (Array("hk".utf8), .hongKong, isHongKong), (Array("gb_".utf8), .unitedStates, isUnitedStates),
      (Array("usr_".utf8), .unitedStates, isUnitedStates),
      (Array("int_".utf8), .international, { isWord($0, isLetter: isLower) }),
      (Array("b_".utf8), .bourse, { isWord($0, isLetter: isUpper) }),
    ]

  private static func isFull(_ symbol: UnsafeRawBufferPointer) -> Bool {
    symbol.count == SinaGrammar.fullSymbolBytes
      && exchanges.contains { symbol.starts(with: $0) }
      && symbol.dropFirst(2).allSatisfy(isDigit)
  }

  /// Five digits, or an index name in capitals.
  private static func isHongKong(_ code: UnsafeRawBufferPointer) -> Bool {
    code.allSatisfy(isDigit) ? code.count == 5 : isWord(code, isLetter: isUpper)
  }

  /// A ticker in lower case; `$` marks an index in front and stands for a dot inside.
  private static func isUnitedStates(_ ticker: UnsafeRawBufferPointer) -> Bool {
    guard let last = ticker.last, last != UInt8(ascii: "$") else { return false }
    return ticker.allSatisfy { isLower($0) || isDigit($0) || $0 == UInt8(ascii: "$") }
  }

  private static func isWord(
    _ bytes: UnsafeRawBufferPointer, isLetter: (UInt8) -> Bool
  ) -> Bool {
    !bytes.isEmpty && bytes.allSatisfy { isLetter($0) || isDigit($0) }
  }
}

private func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
private func isLower(_ byte: UInt8) -> Bool { (97...122).contains(byte) }
private func isUpper(_ byte: UInt8) -> Bool { (65...90).contains(byte) }
