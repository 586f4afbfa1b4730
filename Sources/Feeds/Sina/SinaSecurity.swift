/// What the quote decoder must know of a security, told by a few bytes of its symbol.
///
/// `Instrument.classify` is the authority on kinds; this is the part of it that decides about
/// *numbers*, cut down to byte compares because it runs for every line. The tests hold the two to
/// the same answers.

import Market

struct SinaSecurity: Equatable {
  /// Fields are lots of a hundred (SH indexes): volume × 100.
  let countsLots: Bool
  /// Stock or fund: turnover ÷ volume must be a price of the day. Indexes have points for prices,
  /// bonds are reported with impossible volumes, and a B share's money is another currency's.
  let tradesAtPrices: Bool
  let isIndex: Bool
}

extension SinaSecurity {
  private static let ordinary = SinaSecurity(
    countsLots: false, tradesAtPrices: true, isIndex: false)
  private static let exempt = SinaSecurity(
    countsLots: false, tradesAtPrices: false, isIndex: false)
  private static let index = SinaSecurity(countsLots: false, tradesAtPrices: false, isIndex: true)
  private static let lotIndex = SinaSecurity(
    countsLots: true, tradesAtPrices: false, isIndex: true)

  /// - Parameter key: the eight bytes of a full symbol, first byte lowest.
  @inline(__always)
  init(key: UInt64) {
    let exchange = key & 0xFFFF
    let first = key &>> 16 & 0xFF
    let second = key &>> 24 & 0xFF
    switch exchange {
    case SinaSecurity.shanghai: self = SinaSecurity.inShanghai(first, second, key)
    case SinaSecurity.shenzhen: self = SinaSecurity.inShenzhen(first, second, key)
    default: self = key &>> 16 & 0xFF_FFFF == SinaSecurity.beijingIndex ? .index : .ordinary
    }
  }

  static let shanghai: UInt64 = 0x6873  // "sh"
  static let shenzhen: UInt64 = 0x7A73  // "sz"
  static let beijing: UInt64 = 0x6A62  // "bj"
  private static let beijingIndex: UInt64 = 0x39_3938  // "899"
  private static let lotIndexCode: UInt64 = 0x30_3030  // "000"
  private static let shenzhenIndex: UInt64 = 0x39_3933  // "399"

  /// 60 and 68 are stocks, 5 funds, 000 indexes; 900 B shares, 1 and 2 bonds and repo.
  @inline(__always)
  private static func inShanghai(_ first: UInt64, _ second: UInt64, _ key: UInt64) -> SinaSecurity {
    switch first {
    case 0x36, 0x35: .ordinary
    case 0x30: key &>> 16 & 0xFF_FFFF == lotIndexCode ? .lotIndex : .exempt
    default: .exempt
    }
  }

  /// 00 and 30 are stocks, 15, 16 and 18 funds, 399 indexes; 20 B shares, 12 and 13 bonds and repo.
  @inline(__always)
  private static func inShenzhen(_ first: UInt64, _ second: UInt64, _ key: UInt64) -> SinaSecurity {
    switch (first, second) {
    case (0x30, 0x30), (0x33, 0x30): .ordinary
    case (0x31, 0x35), (0x31, 0x36), (0x31, 0x38): .ordinary
    case (0x33, 0x39): key &>> 16 & 0xFF_FFFF == shenzhenIndex ? .index : .exempt
    default: .exempt
    }
  }
}
