import ExchangeSimulator
import Market

/// Alpaca as it is for an account (docs/sources/alpaca.md): with keys, each with its requests a
/// minute, both feeds, bars of up to a day, and bars that change.
///
/// Order of refusals: key, rate, faults on order, question. The question is refused as a whole: one
/// symbol that is none, or SIP bars too fresh for the plan, and nobody gets anything.
package struct KeyedAlpaca: UpstreamProtocol {
  private static let barsPath = "/v2/stocks/bars"
  private static let calendarPath = "/v2/calendar"
  private static let assetsPath = "/v2/assets"

  private let options: AlpacaOptions
  /// Made when first asked for: most servers never are.
  private lazy var ledger = USLedger(seed: options.seed)
  package private(set) var requests = AlpacaRequests()

  package init(_ options: AlpacaOptions = AlpacaOptions()) { self.options = options }

  package mutating func response(
    _ request: SimulatedRequest, from exchange: inout SimulatedExchange
  ) -> SimulatedResponse? {
    let target = RequestTarget(request.target)
    let path = String(target.path)
    guard [Self.barsPath, Self.calendarPath, Self.assetsPath].contains(path) else { return nil }
    let key = request.headers["apca-api-key-id"] ?? ""
    guard let secret = options.keys[key], secret == request.headers["apca-api-secret-key"] else {
      let isTrading = path != Self.barsPath
      return SimulatedResponse(isTrading ? .alpacaForbidden : .alpacaUnauthorized)
    }
    let moment = exchange.moment(requested: target.milliseconds)
    let uses = requests.count(key, at: moment)
    if uses > options.requestsPerMinuteMax { return SimulatedResponse(.alpacaThrottled) }
    let symbols = (target["symbols"] ?? "").split(separator: ",").compactMap { Symbol($0) }
    let faults = exchange.faults(on: .alpaca, at: moment, symbols: symbols) as? ActiveFaults
    if let refused = faults?.refusal { return refused }
    let response: SimulatedResponse
    switch path {
    case Self.calendarPath:
      let (start, end) = (target["start"], target["end"])
      response = .json(
        ledger.market.calendarBody(
          from: start.flatMap { TradingDay($0) }, to: end.flatMap { TradingDay($0) }))
    case Self.assetsPath:
      let (status, assetClass) = (target["status"], target["asset_class"])
      response = .json(
        ledger.market.assetsBody(status: status, assetClass: assetClass) { symbol, number in
          if let faults { return faults.assetSymbol(symbol, number: number) }
          return symbol
        })
    default:
      response = bars(target, number: exchange.requestsAnswered, at: moment, faults: faults)
    }
    return response.suffering(faults)
  }

  private mutating func bars(
    _ target: RequestTarget, number: Int, at moment: Timestamp, faults: ActiveFaults?
  ) -> SimulatedResponse {
    do throws(AlpacaRefusal) {
      let query = try AlpacaQuery(
        target, permitsRecentSIP: options.permitsRecentSIP, at: moment)
      var page = ledger.page(query, at: moment)
      faults?.damage(&page, of: query, number: number)
      if faults?.hasNoBars == true { return .json(page.body(bars: "null")) }
      return .json(
        page.body { bar, symbol in faults?.texts(of: bar, symbol: symbol) ?? [bar.text()] })
    } catch {
      return SimulatedResponse(error.response)
    }
  }
}
