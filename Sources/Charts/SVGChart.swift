/// A chart as an SVG picture: prices, volume, the mean price of the day, and what must be known of
/// candles before they are trusted: trading that was not seen, minutes seen in part, extremes that
/// may belong to a neighbour, revisions.
///
/// It does no input or output. Decimals come in and whole pixels go out, computed in integers.

import Market

package struct SVGChart: Sendable {
  package var symbol: Symbol
  package var name: String?
  package var timeframe: Timeframe
  package var zone: MarketZone
  /// Oldest first.
  package var candles: [CandleRecord]
  /// Whether these are some of more, which have the same extremes: then volumes say nothing.
  package var isThinned = false
  package var gaps: [Gap] = []
  /// Of the day that is shown; nil where several are.
  package var previousClose: ExactDecimal?
  package var band: PriceBand?
  package var style = ChartStyle()

  package init(symbol: Symbol, timeframe: Timeframe, zone: MarketZone, candles: [CandleRecord]) {
    self.symbol = symbol
    self.timeframe = timeframe
    self.zone = zone
    self.candles = candles
  }

  /// Shows the close before a day, and the prices between which it may trade, if that day is all
  /// that is shown.
  package mutating func setReference(previousClose close: ExactDecimal, on day: TradingDay) {
    guard close.isPositive, timeframe.rawValue < Timeframe.day1.rawValue,
      candles.first?.tradingDay == day, candles.last?.tradingDay == day
    else { return }
    previousClose = close
    band = Instrument.classify(symbol).flatMap { instrument in
      PriceLimit.band(
        for: instrument, marks: NameMarks.parse(name ?? ""), previousClose: close, on: day)
    }
  }

  /// Of a picture, whatever is drawn.
  package static let bytesMax = 60_000
  /// A column takes up to 60 bytes.
  private static let columnsMax = 1_200

  package func svg() -> [UInt8] {
    var columnsMax = Self.columnsMax
    while true {
      let bytes = ChartPicture(self, columnsMax: columnsMax).svg()
      if bytes.count <= Self.bytesMax || columnsMax <= 1 { return bytes }
      columnsMax /= 2
    }
  }

  /// Prices of which a line is drawn beside candles.
  var levels: [ExactDecimal] { [previousClose, band?.lower, band?.upper].compactMap(\.self) }

  // MARK: Texts

  var isEmpty: Bool { !candles.contains { $0.close != nil } }

  var heading: String { "\(symbol)\(name.map { " \($0)" } ?? "")" }

  var title: String { "\(heading), \(timeframe.name)" }

  /// For those who do not see the picture.
  var summary: String {
    guard let first = candles.first, let last = candles.last else { return "No candles." }
    var sentences = [
      "\(candles.count) candles, \(time(of: first)) to \(time(of: last)), \(zone.rawValue)."
    ]
    let high = candles.compactMap(\.high).max()
    let low = candles.compactMap(\.low).min()
    if let open = candles.lazy.compactMap(\.open).first, let high, let low, let close = last.close {
      sentences.append("Open \(open), high \(high), low \(low), close \(close).")
    }
    let marks = [
      ("seen in part", candles.count { $0.flags.contains(.partial) }),
      ("with ambiguous extremes", candles.count { $0.flags.contains(.extremeAmbiguous) }),
      ("revised", candles.count { $0.revision > 0 }),
    ].filter { $0.1 > 0 }
    if !marks.isEmpty {
      sentences.append(marks.map { "\($0.1) \($0.0)" }.joined(separator: ", ") + ".")
    }
    if !gaps.isEmpty {
      sentences.append("\(gaps.count) \(gaps.count == 1 ? "gap" : "gaps") in what was seen.")
    }
    return sentences.joined(separator: " ")
  }

  private func time(of candle: CandleRecord) -> String {
    let hasTime = timeframe.rawValue < Timeframe.day1.rawValue
    return hasTime
      ? "\(candle.tradingDay) \(ClockText.minute(zone.wallClock(at: candle.openedAt).second))"
      : "\(candle.tradingDay)"
  }
}
