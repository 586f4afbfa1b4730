import Market

/// Alpaca's `/v2/stocks/bars` of the data host, `/v2/calendar` and `/v2/assets` of the trading host
/// (docs/sources/alpaca.md).
///
/// Any key will do. The question is refused as a whole: one symbol that is none, or SIP bars too
/// fresh for the plan, and nobody gets anything.
package struct AlpacaProtocol: UpstreamProtocol {
  private let seed: UInt64
  private let permitsRecentSIP: Bool
  /// Made when first asked for: most servers never are.
  private lazy var ledger = USLedger(seed: seed)

  /// - Parameters:
  ///   - seed: of the American market, not of the Chinese one.
  ///   - permitsRecentSIP: without it, SIP data of the last 15 minutes is refused (the Basic plan).
  package init(seed: UInt64 = 1, permitsRecentSIP: Bool = false) {
    self.seed = seed
    self.permitsRecentSIP = permitsRecentSIP
  }

  package static let paths = ["/v2/stocks/bars", "/v2/calendar", "/v2/assets"]

  package mutating func response(
    _ request: SimulatedRequest, from exchange: inout SimulatedExchange
  ) -> SimulatedResponse? {
    let target = RequestTarget(request.target)
    guard AlpacaProtocol.paths.contains(String(target.path)) else { return nil }
    let moment = exchange.moment(requested: target.milliseconds)
    let symbols = (target["symbols"] ?? "").split(separator: ",").compactMap { Symbol($0) }
    let faults = exchange.faults(on: .alpaca, at: moment, symbols: symbols)
    if let refused = faults?.refusal { return refused }
    let response: SimulatedResponse
    switch target.path {
    case "/v2/calendar": response = AlpacaProtocol.calendar(target, of: ledger.market)
    case "/v2/assets":
      response = AlpacaProtocol.assets(
        target, of: ledger.market, faults: faults as? any AlpacaFaults)
    default:
      response = bars(
        target, number: exchange.requestsAnswered, at: moment, faults: faults as? any AlpacaFaults)
    }
    return response.suffering(faults)
  }

  private mutating func bars(
    _ target: RequestTarget, number: Int, at moment: Timestamp, faults: (any AlpacaFaults)?
  ) -> SimulatedResponse {
    do throws(AlpacaRefusal) {
      let query = try AlpacaQuery(target, permitsRecentSIP: permitsRecentSIP, at: moment)
      var page = ledger.page(query, at: moment)
      faults?.damage(&page, of: query, number: number)
      return .json(page.body(faults: faults))
    } catch {
      return error.response
    }
  }

  private static func calendar(_ target: RequestTarget, of market: USMarket) -> SimulatedResponse {
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

  private static func assets(
    _ target: RequestTarget, of market: USMarket, faults: (any AlpacaFaults)?
  ) -> SimulatedResponse {
    var all = market.shares.map { ("\($0.symbol)", $0.name, $0.exchange, "active", "us_equity") }
    all += oddities
    all = all.filter { asset in
      (target["status"] ?? asset.3) == asset.3 && (target["asset_class"] ?? asset.4) == asset.4
    }
    all.sort { ($0.4, $0.2, $0.0) < ($1.4, $1.2, $1.0) }
    let rows = all.enumerated().compactMap { number, asset -> String? in
      let symbol = "\"\(asset.0)\""
      var shown: String? = symbol
      if let faults { shown = faults.assetSymbol(symbol, number: number) }
      guard let shown else { return nil }
      return "{\"attributes\":[],\"class\":\"\(asset.4)\",\"easy_to_borrow\":true,"
        + "\"exchange\":\"\(asset.2)\",\"fractionable\":true,\"id\":\"\(uuid(asset.0))\","
        + "\"marginable\":true,\"name\":\"\(asset.1)\",\"shortable\":true,"
        + "\"status\":\"\(asset.3)\",\"symbol\":\(shown),"
        + "\"tradable\":\(asset.3 == "active" && asset.2 != "OTC")}"
    }
    return .json(Array(("[" + rows.joined(separator: ",") + "]").utf8))
  }

  /// A name's own, of the usual form.
  private static func uuid(_ name: String) -> String {
    var random = Randomness(seed: name.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) })
    return [8, 4, 4, 4, 12].map { digits in
      String(String(random.next() | 1 << 63, radix: 16).prefix(digits))
    }.joined(separator: "-")
  }
}

extension SimulatedResponse {
  static let recentSIP = bareJSON(
    403, alpacaMessage("subscription does not permit querying recent SIP data"))

  /// The body of a refusal.
  package static func alpacaMessage(_ sentence: String) -> String {
    let escaped = sentence.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "{\"message\":\"\(escaped)\"}"
  }
}

/// What strikes an answer of Alpaca's.
package protocol AlpacaFaults: ResponseFaults {
  /// - Parameter number: of the request; what makes an endless chain of tokens differ.
  func damage(_ page: inout AlpacaPage, of query: AlpacaQuery, number: Int)

  /// A bar as it is served: none, one or two objects.
  func texts(of bar: USMarket.Bar, symbol: Symbol) -> [String]

  /// The JSON of an asset's symbol; nil if the row is missing.
  func assetSymbol(_ symbol: String, number: Int) -> String?
}

extension UpstreamName {
  package static let alpaca = UpstreamName("alpaca")
}

extension DemoUpstream {
  static let alpaca = DemoUpstream(
    name: "alpaca", key: "demo-key demo-secret", protocols: [AlpacaProtocol()])
}
