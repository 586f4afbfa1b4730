/// What a decoder of quotes must know of a security, by the first three digits of its code.
///
/// `Instrument.classify` is the authority on kinds, but it reads text and takes a microsecond, and
/// this is asked for every line. Its answers depend on no digit behind the third, so all of them
/// fit in a table of 3,000 bytes that is filled once for each source.

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

  init(_ symbol: Symbol, countsLots: (Instrument) -> Bool) {
    self = []
    guard let instrument = Instrument.classify(symbol) else { return }
    if countsLots(instrument) { insert(.countsLots) }
    switch instrument.kind {
    case .stock, .fund: insert(.tradesAtPrices)
    case .index: insert(.index)
    case .convertibleBond: insert(.convertible)
    case .bShare, .repo: break
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
  private static let prefixesPerExchange = 1000
  private static let exchanges = ["sh", "sz", "bj"]

  /// - Parameter countsLots: whether the source gives the volume of an instrument in lots.
  init(countsLots: (Instrument) -> Bool) {
    securities = QuotedSecurityTable.exchanges.flatMap { exchange in
      (0..<QuotedSecurityTable.prefixesPerExchange).map { prefix in
        let digits = String(prefix)
        let code = String(repeating: "0", count: 3 - digits.utf8.count) + digits + "000"
        return Symbol(exchange + code).map { QuotedSecurity($0, countsLots: countsLots) } ?? []
      }
    }
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
