import Market

/// One row of Sina's K-lines (docs/sources/sina.md#k-lines), its numbers as text.
package struct KlineRow {
  package var day: String
  package var prices: [String]
  package var volume: String
  var amount: String?

  package var text: String {
    let names = ["open", "high", "low", "close"]
    var parts = ["\"day\":\"\(day)\""]
    parts += zip(names, prices).map { "\"\($0)\":\"\($1)\"" }
    parts.append("\"volume\":\"\(volume)\"")
    if let amount { parts.append("\"amount\":\"\(amount)\"") }
    return "{" + parts.joined(separator: ",") + "}"
  }
}

extension SimulatedHistory {
  /// nil for a symbol nobody knows.
  package mutating func klineRows(
    of symbol: Symbol, timeframe: Timeframe, count: Int, at moment: Timestamp
  ) -> [KlineRow]? {
    guard let place = morning(0).place(of: symbol).map(Int.init) else { return nil }
    let scale = morning(0).traits[place].scale
    return bars(of: place, timeframe: timeframe, at: moment, count: count).map {
      KlineRow($0, scale: scale, hasAmount: timeframe.rawValue < Timeframe.day1.rawValue)
    }
  }
}

extension KlineRow {
  /// Digits behind the point of every price; an index of four loses one.
  package static let places: UInt8 = 3

  init(_ bar: HistoryBar, scale: UInt8, hasAmount: Bool) {
    day = bar.day.description + (bar.end.map { " " + clockText($0) } ?? "")
    prices = [bar.sums.open, bar.sums.high, bar.sums.low, bar.sums.close].map {
      KlineRow.price($0, scale: scale)
    }
    volume = String(bar.sums.volume)
    amount =
      hasAmount ? ExactDecimal(units: bar.sums.turnover * 10, scale: 4).description : nil
  }

  /// The script that rows are sent in; nil is what nobody knows.
  package static func script(_ rows: [String]?) -> String {
    let text = rows.map { "[" + $0.joined(separator: ",") + "]" } ?? "null"
    return "/*<script>location.href='//sina.com';</script>*/\n=(\(text));"
  }

  package static func price(_ units: Int64, scale: UInt8) -> String {
    let price = ExactDecimal(units: units, scale: scale)
    return ((try? price.rescaled(places: places)) ?? price).description
  }
}
