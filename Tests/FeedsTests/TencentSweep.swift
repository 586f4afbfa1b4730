import Market
import TestSupport

/// Made-up lines of qt.gtimg.cn with the quotes they say, for property tests. It renders text
/// itself and shares nothing with the decoder.
struct TencentSweep {
  private var random: SplitMix

  init(seed: UInt64) { random = SplitMix(seed: seed) }

  struct Row {
    var quote: Quote
    /// GB18030 bytes.
    var name: [UInt8]
    var line: [UInt8]
  }

  private struct Kind {
    let prefix: String
    let places: UInt8
    var isStar = false
    var isIndex = false
  }

  private static let kinds = [
    Kind(prefix: "sh600", places: 2), Kind(prefix: "sz000", places: 2),
    Kind(prefix: "sz300", places: 2), Kind(prefix: "bj920", places: 2),
    Kind(prefix: "sh688", places: 2, isStar: true), Kind(prefix: "sh510", places: 3),
    Kind(prefix: "sz161", places: 3), Kind(prefix: "sh000", places: 2, isIndex: true),
    Kind(prefix: "sz399", places: 2, isIndex: true),
  ]

  /// Traded, in the auction or halted; of each kind.
  mutating func row(_ number: Int) -> Row {
    let kind = Self.kinds[number % Self.kinds.count]
    let code = String(1000 + number % 1000).dropFirst()
    let symbol = Symbol(kind.prefix + code) ?? Symbol(low: 0, high: 0)
    let day = TradingDay(daysSince1970: Int32(between(20_000, 20_900)))
    var quote = Quote(
      symbol: symbol, tradingDay: day, secondOfDay: Int32(between(34_200, 86_399)))
    let hasTraded = kind.isIndex || between(0, 4) > 0
    quote.previousClose = price(between(1_000, 90_000), kind)
    quote.rounding = Rounding(volume: kind.isStar ? 0 : 50, turnover: 1)
    var shown = quote.previousClose
    var volume: Int64 = 0
    if hasTraded {
      let low = between(1_000, 90_000)
      let high = low + between(0, 500)
      quote.low = price(low, kind)
      quote.high = price(high, kind)
      quote.open = price(between(low, high), kind)
      quote.last = price(between(low, high), kind)
      shown = quote.last
      let shares = between(1, 90_000_000)
      let scale = kind.places == 2 ? Int64(100) : 1_000
      quote.turnover = ExactDecimal(between(low * shares, high * shares) / scale)
      volume = kind.isStar ? shares : (shares + 50) / 100
      quote.volume = ExactDecimal(kind.isStar ? volume : volume * 100)
    } else {
      quote.status = between(0, 1) == 0 ? .normal : .halted
      if kind.isIndex { quote.last = shown }
    }
    fillBook(of: &quote, kind)
    fillRest(of: &quote, kind)
    let name = name()
    return Row(
      quote: quote, name: name,
      line: line(quote, shown: shown, volume: volume, name: name, kind: kind))
  }

  private mutating func fillBook(of quote: inout Quote, _ kind: Kind) {
    guard !kind.isIndex, quote.status == .normal else { return }
    for level in 0..<5 where between(0, 9) > 0 {
      quote.bids[level] = BookLevel(
        price: price(between(1, 90_000), kind), volume: ExactDecimal(between(0, 9_999) * 100))
      quote.asks[level] = BookLevel(
        price: price(between(1, 90_000), kind), volume: ExactDecimal(between(0, 9_999) * 100))
    }
    (quote.bid, quote.ask) = (quote.bids[0].price, quote.asks[0].price)
  }

  private mutating func fillRest(of quote: inout Quote, _ kind: Kind) {
    quote.limits = .none
    if !kind.isIndex, between(0, 9) > 0 {
      let lower = between(1, 90_000)
      quote.limits = .band(
        PriceBand(lower: price(lower, kind), upper: price(lower + between(0, 9_000), kind)))
    }
    if !kind.isIndex, between(0, 1) == 0 {
      quote.afterHours = AfterHours(
        volume: ExactDecimal(between(1, 9_999) * (kind.isStar ? 1 : 100)),
        turnover: ExactDecimal(between(1, 99_999_999)))
    }
  }

  private mutating func between(_ least: Int64, _ most: Int64) -> Int64 {
    Int64.random(in: least...most, using: &random)
  }

  private func price(_ units: Int64, _ kind: Kind) -> ExactDecimal {
    ExactDecimal(units: units, scale: kind.places)
  }

  /// Characters whose second byte may be any, `~` and `|` among them, and ASCII.
  private mutating func name() -> [UInt8] {
    (0..<between(1, 6)).flatMap { _ in
      switch between(0, 4) {
      case 0: return [UInt8(between(0x41, 0x5A))]
      case 1: return [UInt8(between(0x81, 0xA0)), 0x7E]
      default: return [UInt8(between(0xB0, 0xD6)), UInt8(between(0xA1, 0xFE))]
      }
    }
  }
}

extension TencentSweep {
  private static let noLimit = "-1"

  private mutating func line(
    _ quote: Quote, shown: ExactDecimal, volume: Int64, name: [UInt8], kind: Kind
  ) -> [UInt8] {
    var fields = [String](repeating: "", count: 88)
    func set(_ place: Int, _ value: some CustomStringConvertible) {
      fields[place] = value.description
    }
    let symbol = quote.symbol.description
    set(0, ["sh": "1", "sz": "51", "bj": "62"][symbol.prefix(2)] ?? "")
    set(2, symbol.dropFirst(2))
    for (place, price) in [
      (3, shown), (4, quote.previousClose), (5, quote.open), (33, quote.high), (34, quote.low),
      (41, quote.high), (42, quote.low),
    ] { set(place, price) }
    set(6, volume)
    set(36, volume)
    for level in 0..<5 {
      for (start, book) in [(9, quote.bids), (19, quote.asks)] {
        set(start + 2 * level, book[level].price)
        set(start + 2 * level + 1, book[level].volume.units / 100)
      }
    }
    set(30, quote.at.description.filter(\.isNumber).prefix(14))
    set(35, "\(shown)/\(volume)/\(quote.turnover)")
    set(40, quote.status == .halted ? "S" : "")
    set(57, ExactDecimal(units: quote.turnover.units, scale: 4))
    let band: PriceBand? = if case .band(let band) = quote.limits { band } else { nil }
    set(47, band?.upper.description ?? Self.noLimit)
    set(48, band?.lower.description ?? Self.noLimit)
    set(58, ExactDecimal(units: quote.afterHours?.turnover.units ?? 0, scale: 4))
    set(59, (quote.afterHours?.volume.units ?? 0) / (kind.isStar ? 1 : 100))
    var bytes = fields.map { Array($0.utf8) }
    bytes[1] = name
    let kept = bytes.prefix([88, 88, 87, 60][Int(between(0, 3))])
    return Array("v_\(symbol)=\"".utf8) + kept.joined(separator: [UInt8(ascii: "~")])
      + Array("\";\n".utf8)
  }
}
