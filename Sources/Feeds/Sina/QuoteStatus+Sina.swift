/// Sina's status codes (its own page script, docs/sources/sina.md#status).

import Market

extension QuoteStatus {
  /// - Parameter code: the two bytes of field 32, first byte lowest.
  @inline(__always)
  init(sinaCode code: UInt16) {
    if code == 0x3030 {  // "00"
      self = .normal
    } else {
      self = QuoteStatus.unusual(code)
    }
  }

  @inline(never)
  private static func unusual(_ code: UInt16) -> QuoteStatus {
    switch code {
    case 0x3130: .haltedOneHour  // "01"
    case 0x3230: .halted  // "02"
    case 0x3330: .haltedAllDay  // "03"
    case 0x3430: .haltedTemporarily  // "04"
    case 0x3530: .haltedHalfDay  // "05"
    case 0x3730: .paused  // "07"
    case 0x312D: .noRecord  // "-1"
    case 0x322D: .notListed  // "-2"
    case 0x332D: .delisted  // "-3"
    default: .unknown
    }
  }
}
