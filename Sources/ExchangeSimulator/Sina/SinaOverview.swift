import Market

/// The lines of New York's indexes that a market overview asks for (docs/sources/sina.md), which
/// walk a little with the clock. None of them makes a candle; they only have to be plausible and
/// the same for the same moment.
enum SinaOverview {
  /// Appends the line of `symbol`; empty if it is unknown.
  static func appendLine(_ symbol: Symbol, of market: SimulatedMarket, to body: inout [UInt8]) {
    let text = symbol.description
    guard let index = foreign[text] else {
      LineTable.appendEmptyLine(symbol.bytes, to: &body)
      return
    }
    body.append(contentsOf: "var hq_str_\(text)=\"".utf8)
    body.append(contentsOf: line(index, of: market))
    body.append(contentsOf: "\";\n".utf8)
  }

  private struct ForeignIndex {
    var name: String
    /// In hundredths.
    var level: Int64
  }

  private static let foreign: [String: ForeignIndex] = [
    "gb_$ixic": ForeignIndex(name: "纳斯达克", level: 2_640_242),
    "gb_$dji": ForeignIndex(name: "道琼斯", level: 4_624_729),
    "gb_$inx": ForeignIndex(name: "标普500指数", level: 664_370),
  ]

  private static func line(_ index: ForeignIndex, of market: SimulatedMarket) -> [UInt8] {
    var random = Randomness(seed: market.seed ^ UInt64(market.second / 60), stream: 77)
    let change = index.level * (random.below(401) - 200) / 40_000
    let last = index.level + change
    let level = { (hundredths: Int64) in ExactDecimal(units: hundredths, scale: 2).description }
    let percent = level(change * 10_000 / index.level)
    let low = level(min(last, index.level) - 2000)
    let high = level(max(last, index.level) + 2000)
    let clock = clockText(market.second)
    let text =
      ",\(level(last)),\(percent),\(market.day) \(clock),\(level(change)),\(level(index.level)),"
      + "\(high),\(low),\(level(index.level + 90_000)),\(level(index.level - 600_000)),"
      + "7526280685,6246241163,0,0.00,--,0.00,0.00,0.00,0.00,0,0,0.0000,0.00,0.00,,"
      + "Aug 28 05:16PM EDT,\(level(index.level)),0,1,\(market.day.civil.year),"
      + "0.0000,0.0000,0.0000,0.0000,0.0000,0.0000"
    return (GB18030.encoded(index.name) ?? []) + Array(text.utf8)
  }
}

extension SimulatedMarket {
  /// Appends the line of an index that is none of its instruments; empty if it is unknown.
  package func appendOverviewLine(_ symbol: Symbol, to body: inout [UInt8]) {
    SinaOverview.appendLine(symbol, of: self, to: &body)
  }
}
