import Market

/// Alpaca's `/v2/stocks/bars` of the data host, `/v2/calendar` and `/v2/assets` of the trading host
/// (docs/sources/alpaca.md).
///
/// Order of refusals: key, rate, faults on order, question. The question is refused as a whole:
/// one symbol that is none, or SIP bars too fresh for the plan, and nobody gets anything.
package struct AlpacaProtocol: UpstreamProtocol {
  private let options: AlpacaOptions
  package private(set) var requests = AlpacaRequests()
  /// Made when first asked for: most servers never are.
  private lazy var ledger = USLedger(seed: options.seed)

  package init(_ options: AlpacaOptions = AlpacaOptions()) { self.options = options }

  package mutating func response(
    _ request: SimulatedRequest, from exchange: inout SimulatedExchange
  ) -> SimulatedResponse? {
    let target = RequestTarget(request.target)
    let isTrading = target.path != "/v2/stocks/bars"
    guard !isTrading || target.path == "/v2/calendar" || target.path == "/v2/assets" else {
      return nil
    }
    let moment = exchange.moment(requested: target.milliseconds)
    let key = request.headers["apca-api-key-id"] ?? ""
    guard let secret = options.keys[key],
      secret == request.headers["apca-api-secret-key"]
    else { return SimulatedResponse(isTrading ? .alpacaForbidden : .alpacaUnauthorized) }
    let uses = requests.count(key, at: moment)
    if uses > options.requestsPerMinuteMax {
      return SimulatedResponse(.alpacaThrottled)
    }
    let symbols = (target["symbols"] ?? "").split(separator: ",").compactMap { Symbol($0) }
    let faults = exchange.faults.active(on: .alpaca, at: moment, symbols: symbols)
    if let refused = SimulatedResponse.refusal(faults) { return refused }
    let response: SimulatedResponse
    switch target.path {
    case "/v2/calendar": response = AlpacaProtocol.calendar(target, of: ledger.market)
    case "/v2/assets":
      response = AlpacaProtocol.assets(target, of: ledger.market, faults: faults)
    default:
      response = bars(target, number: exchange.requestsAnswered, at: moment, faults: faults)
    }
    return response.suffering(faults)
  }

  private mutating func bars(
    _ target: RequestTarget, number: Int, at moment: Timestamp, faults: [ActiveFault]
  ) -> SimulatedResponse {
    do throws(AlpacaRefusal) {
      let query = try AlpacaQuery(target, options: options, at: moment)
      let page = ledger.page(query, at: moment)
      return .json(AlpacaPageText(page, query: query, faults: faults, number: number).body)
    } catch {
      return SimulatedResponse(error.response)
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
    _ target: RequestTarget, of market: USMarket, faults: [ActiveFault]
  ) -> SimulatedResponse {
    var all = market.shares.map { ("\($0.symbol)", $0.name, $0.exchange, "active", "us_equity") }
    all += oddities
    all = all.filter { asset in
      (target["status"] ?? asset.3) == asset.3 && (target["asset_class"] ?? asset.4) == asset.4
    }
    all.sort { ($0.4, $0.2, $0.0) < ($1.4, $1.2, $1.0) }
    let rows = all.enumerated().compactMap { number, asset -> String? in
      let fault = faults.first { $0.kind.isAboutRows && $0.strikes(row: Int64(number)) }
      if fault?.kind == .missingRow { return nil }
      let symbol = fault?.kind == .notANumber ? "null" : "\"\(asset.0)\""
      return "{\"attributes\":[],\"class\":\"\(asset.4)\",\"easy_to_borrow\":true,"
        + "\"exchange\":\"\(asset.2)\",\"fractionable\":true,\"id\":\"\(uuid(asset.0))\","
        + "\"marginable\":true,\"name\":\"\(asset.1)\",\"shortable\":true,"
        + "\"status\":\"\(asset.3)\",\"symbol\":\(symbol),"
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
