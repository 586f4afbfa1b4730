import ExchangeSimulator
import Market

/// Writes the lines of a day: 88 fields joined by `~` (docs/sources/tencent.md#fields).
///
/// What is not a quote (capitalisation, earnings, returns over the year) is invented, the same all
/// day.
struct TencentLineWriter: Sendable {
  static let separator = UInt8(ascii: "~")
  static let fieldCount = 88
  static let lineBytesTypical = 530

  let day: TradingDay
  private let today: [UInt8]
  private let yesterday: [UInt8]
  /// `v_sh600519="1~…~600519~`
  private let heads: [[UInt8]]
  private let traits: [Traits]
  private let profiles: [TencentProfile]

  init(_ market: SimulatedMarket) {
    day = market.day
    today = Array(market.day.compact.utf8)
    yesterday = Array(market.previousDay.compact.utf8)
    traits = market.traits
    heads = market.listings.map(TencentLineWriter.head)
    profiles = market.listings.indices.map { place in
      TencentProfile(
        market.listings[place], market.traits[place],
        Randomness(seed: market.seed &+ 0x7E9D, stream: UInt64(place)))
    }
  }

  private static func head(_ listing: Listing) -> [UInt8] {
    let symbol = listing.symbol.description
    let market =
      switch listing.exchange {
      case .shanghai: "1"
      case .shenzhen: "51"
      default: "62"
      }
    return Array("v_\(symbol)=\"\(market)~".utf8) + name(listing)
      + Array("~\(symbol.dropFirst(2))~".utf8)
  }

  /// Padded otherwise than Sina's. Some end with 亊, whose second byte is a `~`.
  private static func name(_ listing: Listing) -> [UInt8] {
    let name = listing.name.flatMap { $0 == UInt8(ascii: " ") ? [$0, $0] : [$0] }
    let code = Int(listing.symbol.description.dropFirst(2)) ?? 0
    return code % 16 == 0 ? name + [0x81, 0x7E] : name
  }

  func line(of place: Int32, _ state: InstrumentState, stamp: Int) -> [UInt8] {
    var line = TencentLine(
      state: state, traits: traits[Int(place)], profile: profiles[Int(place)])
    line.text.write(heads[Int(place)])
    line.writePrices()
    line.writeBook()
    line.writeStamp(
      date: state.isPreviousSession ? yesterday : today,
      second: line.letter == .delisted ? Grid.dayReset : stamp)
    line.writeTotals()
    line.writeLimits()
    line.writeRest()
    return line.text.bytes
  }
}

/// What is invented of an instrument, once.
struct TencentProfile: Sendable {
  let shares: Int64
  /// `GP-A`
  let type: [UInt8]
  /// `   A`
  let flags: [UInt8]
  let returns: [UInt8]
  let tail: [UInt8]

  init(_ listing: Listing, _ traits: Traits, _ random: Randomness) {
    var random = random
    shares = traits.isIndex ? 4_798_335_202_075 : 10_000_000 * (5 + random.below(2000))
    let isStar = traits.board == .star
    let isFund = traits.kind == .fund
    let type =
      switch (traits.kind, traits.board) {
      case (.index, _): "ZS"
      case (.fund, _): listing.name.suffix(3).elementsEqual("LOF".utf8) ? "LOF" : "ETF"
      case (_, .star): "GP-A-KCB"
      case (_, .chiNext): "GP-A-CYB"
      case (_, .beijing): "GP"
      default: "GP-A"
      }
    self.type = Array(type.utf8)
    flags = Array((isStar ? "A RA" : traits.afterHours ? "   A" : " ").utf8)
    returns = Array("-5.48~-4.12~4.08~32.41~27.30~".utf8)
    let value = isFund ? "0.06~4.5791~2.48~0.04~4.5793" : "~~-13.34~-0.10~"
    let board =
      switch traits.exchange {
      case .beijing: "1~NBFND"
      case .shanghai where !traits.isIndex: "0~___D__F__N"
      default: "0~"
      }
    tail = Array("~\(value)~CNY~\(board)~".utf8)
  }
}
