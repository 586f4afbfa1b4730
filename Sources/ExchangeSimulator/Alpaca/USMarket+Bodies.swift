import Market

/// What Alpaca's hosts answer of the market (docs/sources/alpaca.md): `/v2/stocks/bars`, as far as
/// a demo asks, `/v2/calendar` and `/v2/assets`.
extension USMarket {
  /// Minutes or days of IEX on one page, those that start from `start` to `end`, both included.
  ///
  /// While Shanghai trades New York has closed: each bar that can be asked for is final.
  package func barsBody(
    of symbols: [Symbol], isDaily: Bool, from start: Timestamp, to end: Timestamp
  ) -> [UInt8] {
    var page = AlpacaPage()
    let sessions = calendar.sessions
    let asked = sessions.indices.filter {
      start.newYorkDay <= sessions[$0].day && sessions[$0].day <= end.newYorkDay
    }
    for symbol in Set(symbols).sorted() {
      guard let share = place(of: symbol) else { continue }
      for session in asked {
        let minutes = minutes(share, session: session, feed: .iex)
        let bars = isDaily ? [day(of: minutes, session: session)].compactMap(\.self) : minutes
        for bar in bars where start <= bar.start && bar.start <= end {
          page.rows.append((symbol, bar))
        }
      }
    }
    return page.body { bar, _ in [bar.text()] }
  }

  package func calendarBody(from start: TradingDay?, to end: TradingDay?) -> [UInt8] {
    let sessions = calendar.sessions
    let rows = sessions.indices.filter { place in
      start.map { sessions[place].day >= $0 } ?? true
        && end.map { sessions[place].day <= $0 } ?? true
    }.map { place in
      let settles = sessions[min(place + 1, sessions.count - 1)].day
      let isHalf = sessions[place].isHalf
      return "{\"close\":\"\(isHalf ? "13:00" : "16:00")\",\"date\":\"\(sessions[place].day)\","
        + "\"open\":\"09:30\",\"session_close\":\"\(isHalf ? "1700" : "2000")\","
        + "\"session_open\":\"0400\",\"settlement_date\":\"\(settles)\"}"
    }
    return Array(("[" + rows.joined(separator: ",") + "]").utf8)
  }

  /// Listed, but no share a bar can be had of.
  private static let oddities = [
    ("0112358D0", "Escrow of a merged bank", "OTC", "inactive", "us_equity"),
    ("CLDLF", "Cloudleaf Mining Ltd Ordinary Shares", "OTC", "active", "us_equity"),
    ("TWTR", "Twitter, Inc. Common Stock", "NYSE", "inactive", "us_equity"),
    ("BTC/USD", "Bitcoin / US Dollar", "CRYPTO", "active", "crypto"),
  ]

  /// - Parameters:
  ///   - status, assetClass: of those that are wanted; nil for all.
  ///   - symbolText: the JSON of an asset's symbol, or of what is served in its place; nil if the
  ///     row is missing.
  package func assetsBody(
    status: String?, assetClass: String?,
    symbolText: (String, Int) -> String? = { symbol, _ in symbol }
  ) -> [UInt8] {
    var all = shares.map { ("\($0.symbol)", $0.name, $0.exchange, "active", "us_equity") }
    all += Self.oddities
    all = all.filter { asset in
      (status ?? asset.3) == asset.3 && (assetClass ?? asset.4) == asset.4
    }
    all.sort { ($0.4, $0.2, $0.0) < ($1.4, $1.2, $1.0) }
    let rows = all.enumerated().compactMap { number, asset -> String? in
      guard let symbol = symbolText("\"\(asset.0)\"", number) else { return nil }
      return "{\"attributes\":[],\"class\":\"\(asset.4)\",\"easy_to_borrow\":true,"
        + "\"exchange\":\"\(asset.2)\",\"fractionable\":true,\"marginable\":true,"
        + "\"name\":\"\(asset.1)\",\"shortable\":true,"
        + "\"status\":\"\(asset.3)\",\"symbol\":\(symbol),"
        + "\"tradable\":\(asset.3 == "active" && asset.2 != "OTC")}"
    }
    return Array(("[" + rows.joined(separator: ",") + "]").utf8)
  }
}
