import Market

/// One page of bars: by symbol, then by time.
package struct AlpacaPage {
  package var rows: [(symbol: Symbol, bar: USMarket.Bar)] = []
  /// What asks for the next one.
  package var token: String?

  package init() {}

  /// - Parameter texts: a bar as it is served: none, one or two objects.
  package func body(texts: (USMarket.Bar, Symbol) -> [String]) -> [UInt8] {
    var bars = "{"
    var symbol: Symbol?
    for row in rows {
      if row.symbol != symbol {
        bars += (symbol == nil ? "" : "],") + "\"\(row.symbol)\":["
        symbol = row.symbol
      }
      for text in texts(row.bar, row.symbol) {
        if bars.utf8.last != UInt8(ascii: "[") { bars += "," }
        bars += text
      }
    }
    return body(bars: bars + (symbol == nil ? "}" : "]}"))
  }

  package func body(bars: String) -> [UInt8] {
    let token = token.map { "\"\($0)\"" } ?? "null"
    return Array("{\"bars\":\(bars),\"next_page_token\":\(token)}".utf8)
  }
}

extension USMarket.Bar {
  /// Keys in the order of the alphabet, numbers as short as they go.
  package func text(close closeText: String? = nil) -> String {
    func price(_ units: Int64) -> String {
      ExactDecimal(units: units, scale: 4).normalized.description
    }
    let average = ExactDecimal(units: average, scale: 6).normalized
    return "{\"c\":\(closeText ?? price(close)),\"h\":\(price(high)),\"l\":\(price(low)),"
      + "\"n\":\(trades),\"o\":\(price(open)),\"t\":\"\(start.utcText)\",\"v\":\(volume),"
      + "\"vw\":\(average)}"
  }
}

extension Timestamp {
  /// `2026-09-03T13:30:00Z`
  fileprivate var utcText: String {
    let day = TradingDay(daysSince1970: Int32(seconds / 86_400))
    return "\(day)T\(clockText(Int(seconds % 86_400)))Z"
  }
}
