import Market

/// Alpaca's `/v2/stocks/bars` of the data host, `/v2/calendar` and `/v2/assets` of the trading host
/// (docs/sources/alpaca.md), as far as a demo asks: minutes and days of IEX, on one page, for any
/// key.
///
/// While Shanghai trades New York has closed: each bar that can be asked for is final.
package struct AlpacaProtocol: UpstreamProtocol {
  private let market = USMarket(seed: 1)

  package static let barsPath = "/v2/stocks/bars"
  package static let calendarPath = "/v2/calendar"
  package static let assetsPath = "/v2/assets"
  package static let paths = [barsPath, calendarPath, assetsPath]

  package func response(
    _ request: SimulatedRequest, from exchange: inout SimulatedExchange
  ) -> SimulatedResponse? {
    let target = RequestTarget(request.target)
    switch String(target.path) {
    case AlpacaProtocol.barsPath:
      return .json(page(target).body { bar, _ in [bar.text()] })
    case AlpacaProtocol.calendarPath: return AlpacaProtocol.calendar(target, of: market)
    case AlpacaProtocol.assetsPath: return AlpacaProtocol.assets(target, of: market)
    default: return nil
    }
  }

  private func page(_ target: RequestTarget) -> AlpacaPage {
    var page = AlpacaPage()
    guard let start = target.moment("start"), let end = target.moment("end") else { return page }
    let sessions = market.calendar.sessions
    let asked = sessions.indices.filter {
      start.newYorkDay <= sessions[$0].day && sessions[$0].day <= end.newYorkDay
    }
    let isDaily = target["timeframe"] == "1Day"
    let symbols = (target["symbols"] ?? "").split(separator: ",").compactMap { Symbol($0) }
    for symbol in Set(symbols).sorted() {
      guard let share = market.place(of: symbol) else { continue }
      for session in asked {
        let minutes = market.minutes(share, session: session, feed: .iex)
        let day = isDaily ? market.day(of: minutes, session: session) : nil
        let bars = isDaily ? [day].compactMap(\.self) : minutes
        for bar in bars where start <= bar.start && bar.start <= end {
          page.rows.append((symbol, bar))
        }
      }
    }
    return page
  }

  package static func calendar(_ target: RequestTarget, of market: USMarket) -> SimulatedResponse {
    let start = target["start"].flatMap { TradingDay($0) }
    let end = target["end"].flatMap { TradingDay($0) }
    let sessions = market.calendar.sessions
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
    return .json(Array(("[" + rows.joined(separator: ",") + "]").utf8))
  }

  /// Listed, but no share a bar can be had of.
  private static let oddities = [
    ("0112358D0", "Escrow of a merged bank", "OTC", "inactive", "us_equity"),
    ("CLDLF", "Cloudleaf Mining Ltd Ordinary Shares", "OTC", "active", "us_equity"),
    ("TWTR", "Twitter, Inc. Common Stock", "NYSE", "inactive", "us_equity"),
    ("BTC/USD", "Bitcoin / US Dollar", "CRYPTO", "active", "crypto"),
  ]

  /// - Parameter symbolText: the JSON of an asset's symbol, or of what is served in its place; nil
  ///   if the row is missing.
  package static func assets(
    _ target: RequestTarget, of market: USMarket,
    symbolText: (String, Int) -> String? = { symbol, _ in symbol }
  ) -> SimulatedResponse {
    var all = market.shares.map { ("\($0.symbol)", $0.name, $0.exchange, "active", "us_equity") }
    all += oddities
    all = all.filter { asset in
      (target["status"] ?? asset.3) == asset.3 && (target["asset_class"] ?? asset.4) == asset.4
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
    return .json(Array(("[" + rows.joined(separator: ",") + "]").utf8))
  }
}

extension RequestTarget {
  /// RFC 3339, or a date: midnight in New York.
  fileprivate func moment(_ name: String) -> Timestamp? {
    guard let text = self[name] else { return nil }
    return TradingDay(text).map { Timestamp(day: $0, newYorkSecondOfDay: 0) }
      ?? Timestamp(rfc3339: text)
  }
}

extension DemoUpstream {
  static let alpaca = DemoUpstream(
    name: "alpaca", key: "demo-key demo-secret", protocols: [AlpacaProtocol()])
}
