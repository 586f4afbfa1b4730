/// What a decoder of quotes must know of a security, by the first three digits of its code.
///
/// The rules are the authority on kinds and units, and this is asked for every line. What they say
/// depends on no digit behind the third, so all of it fits in a table of 3,000 bytes that is filled
/// once for each source and day.

import Market

struct QuotedSecurity: OptionSet, Sendable {
  let rawValue: UInt8

  /// The source gives its volume in lots of a hundred.
  static let countsLots = QuotedSecurity(rawValue: 1)
  /// Stock or fund: turnover ÷ volume must be a price of the day. Indexes have points for prices, a
  /// B share's money is in another currency, and of a code no plan knows nothing can be demanded.
  static let tradesAtPrices = QuotedSecurity(rawValue: 2)
  static let index = QuotedSecurity(rawValue: 4)
  /// Turnover ÷ volume is a price of the day as well, once pieces are counted: a line in lots of
  /// ten is recognised by its money. Without money nothing can be said of the volume.
  static let convertible = QuotedSecurity(rawValue: 8)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(_ row: CodePlanRow) {
    self = row.countsLots ? .countsLots : []
    switch row.kind {
    case .stock, .fund: insert(.tradesAtPrices)
    case .index: insert(.index)
    case .convertibleBond: insert(.convertible)
    case .bShare, .repo, nil: break
    }
  }

  /// The multiplier `countsLots` stands for.
  static let lot: Int64 = 100
  /// Bonds in one lot.
  static let bondLot: Int64 = 10
}

struct QuotedSecurityTable: Sendable {
  private let securities: [QuotedSecurity]

  static let shanghai: UInt64 = 0x6873  // "sh"
  static let shenzhen: UInt64 = 0x7A73  // "sz"
  static let beijing: UInt64 = 0x6A62  // "bj"

  /// - Parameter day: whose rules; nil: today's.
  init(of source: String, on day: TradingDay?) {
    securities = RuleBook.current.codePlan(of: source, on: day).map { QuotedSecurity($0) }
  }

  /// - Parameter key: the eight bytes of a full symbol, first byte lowest.
  @inline(__always)
  subscript(key: UInt64) -> QuotedSecurity {
    let exchange = key & 0xFFFF
    let prefix = (key &>> 16 & 0xF) &* 100 &+ (key &>> 24 & 0xF) &* 10 &+ (key &>> 32 & 0xF)
    let start: UInt64 =
      exchange == QuotedSecurityTable.shanghai
      ? 0 : exchange == QuotedSecurityTable.shenzhen ? 1 : 2
    let place = Int(truncatingIfNeeded: start &* 1000 &+ prefix)
    return place < securities.count ? securities[place] : []
  }

  /// Whether `key` is `sh`, `sz` or `bj` and six digits.
  @inline(__always)
  static func isFullSymbol(_ key: UInt64) -> Bool {
    let exchange = key & 0xFFFF
    let digits = (key &>> 16) ^ 0x3030_3030_3030
    return Swar.faults(inDigits: digits) & Swar.tops == 0
      && (exchange == shanghai || exchange == shenzhen || exchange == beijing)
  }
}
