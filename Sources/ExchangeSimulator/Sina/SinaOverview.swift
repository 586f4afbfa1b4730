import Market

/// The lines of other families that a market overview asks for (docs/sources/sina.md): short forms
/// of our own instruments, and foreign indexes that walk a little with the clock. None of it makes
/// a candle; it only has to be plausible and the same for the same moment.
enum SinaOverview {
  /// Appends the line of `symbol`; empty if it is unknown.
  static func appendLine(_ symbol: Symbol, of market: SimulatedMarket, to body: inout [UInt8]) {
    let text = symbol.description
    guard let fields = fields(text, of: market) else {
      LineTable.appendEmptyLine(symbol.bytes, to: &body)
      return
    }
    body.append(contentsOf: "var hq_str_\(text)=\"".utf8)
    body.append(contentsOf: fields)
    body.append(contentsOf: "\";\n".utf8)
  }

  private static func fields(_ text: String, of market: SimulatedMarket) -> [UInt8]? {
    if text.hasPrefix("s_") { return short(String(text.dropFirst(2)), of: market) }
    guard let index = foreign[text] else { return nil }
    return line(index, symbol: text, of: market)
  }

  private struct ForeignIndex {
    var name: String
    var alias: String
    /// In hundredths.
    var level: Int64
  }

  private static let foreign: [String: ForeignIndex] = [
    "gb_$ixic": ForeignIndex(name: "纳斯达克", alias: "", level: 2_640_242),
    "gb_ixic": ForeignIndex(name: "纳斯达克", alias: "", level: 2_640_242),
    "gb_$dji": ForeignIndex(name: "道琼斯", alias: "", level: 4_624_729),
    "gb_dji": ForeignIndex(name: "道琼斯", alias: "", level: 4_624_729),
    "gb_$inx": ForeignIndex(name: "标普500指数", alias: "", level: 664_370),
    "gb_inx": ForeignIndex(name: "标普500指数", alias: "", level: 664_370),
    "rt_hkHSI": ForeignIndex(name: "恒生指数", alias: "HSI", level: 2_558_479),
    "rt_hkHSTECH": ForeignIndex(name: "恒生科技指数", alias: "HSTECH", level: 569_112),
    "int_hangseng": ForeignIndex(name: "恒生指数", alias: "", level: 2_558_479),
    "int_dji": ForeignIndex(name: "道琼斯", alias: "", level: 4_624_729),
    "int_nasdaq": ForeignIndex(name: "纳斯达克", alias: "", level: 2_248_407),
    "int_sp500": ForeignIndex(name: "标普指数", alias: "", level: 664_370),
  ]

  private static func line(
    _ index: ForeignIndex, symbol: String, of market: SimulatedMarket
  ) -> [UInt8] {
    var random = Randomness(seed: market.seed ^ UInt64(market.second / 60), stream: 77)
    let change = symbol.hasPrefix("int_") ? 1905 : index.level * (random.below(401) - 200) / 40_000
    let last = index.level + change
    let percent = decimal(change * 10_000 / index.level, scale: 2)
    let name = (try? GB18030.encoded(index.name)) ?? []
    let level = { (hundredths: Int64) in decimal(hundredths, scale: 2) }
    if symbol.hasPrefix("int_") {
      return name + Array(",\(level(last)),\(level(change)),\(percent)".utf8)
    }
    let low = level(min(last, index.level) - 2000)
    let high = level(max(last, index.level) + 2000)
    let clock = clockText(market.second)
    if symbol.hasPrefix("gb_") {
      let text =
        ",\(level(last)),\(percent),\(market.day) \(clock),\(level(change)),\(level(index.level)),"
        + "\(high),\(low),\(level(index.level + 90_000)),\(level(index.level - 600_000)),"
        + "7526280685,6246241163,0,0.00,--,0.00,0.00,0.00,0.00,0,0,0.0000,0.00,0.00,,"
        + "Aug 28 05:16PM EDT,\(level(index.level)),0,1,\(market.day.civil.year),"
        + "0.0000,0.0000,0.0000,0.0000,0.0000,0.0000"
      return name + Array(text.utf8)
    }
    let date = market.day.description.split(separator: "-").joined(separator: "/")
    let text =
      ",\(level(index.level))0,\(level(index.level))0,\(high)0,\(low)0,\(level(last))0,"
      + "\(level(change))0,\(percent)0,0.000,0.000,0.000,0,0.000,0.000,"
      + "\(level(index.level + 120_000))0,\(level(index.level - 840_000))0,\(date),\(clock)"
    return Array(index.alias.utf8) + [UInt8(ascii: ",")] + name + Array(text.utf8)
  }

  /// `name, last, change, percent, volume, amount`: volume in hundreds of what the full line says,
  /// amount in ten thousands.
  private static func short(_ text: String, of market: SimulatedMarket) -> [UInt8]? {
    guard let symbol = Symbol(text), let place = market.place(of: symbol) else { return nil }
    let state = market.states[Int(place)]
    let traits = market.traits[Int(place)]
    let scale = traits.scale
    let change = state.last > 0 ? state.last - state.reference : 0
    let percent = state.last > 0 ? change * 10_000 / state.reference : 0
    let lots = traits.isShanghaiIndex ? state.volume / 10_000 : state.volume / 100
    let text =
      ",\(decimal(state.last, scale: scale)),\(decimal(change, scale: scale)),"
      + "\(decimal(percent, scale: 2)),\(lots),\(state.turnover / 10_000_000)"
    return market.listings[Int(place)].name + Array(text.utf8)
  }

  private static func decimal(_ units: Int64, scale: UInt8) -> String {
    ExactDecimal(units: units, scale: scale).description
  }
}
