import ExchangeSimulator
import Market

/// Sina's K-lines as candled asks for them (docs/sources/sina.md#k-lines):
/// `/cn/api/jsonp_v2.php/=/CN_MarketDataService.getKLineData?…`, without averages.
///
/// It behaves as the real one was seen to: newest N bars and no dates, the running bar included;
/// whatever it does not like, or does not know, is `null`, and so are weeks and months here.
struct SinaKlineProtocol: UpstreamProtocol {
  private static let path = "/cn/api/jsonp_v2.php/=/CN_MarketDataService.getKLineData"
  /// More was answered `null` (akshare #4094).
  static let barsMax = 1970
  static let barsDefault = 1023

  func response(_ request: SimulatedRequest, from exchange: inout SimulatedExchange)
    -> SimulatedResponse?
  {
    let target = RequestTarget(request.target)
    guard target.path == SinaKlineProtocol.path else { return nil }
    let moment = exchange.moment(requested: target.milliseconds)
    let symbol = target["symbol"].flatMap { Symbol($0) }
    let faults = exchange.faults(on: .sinaHistory, at: moment, symbols: symbol.map { [$0] })
    if let refused = faults?.refusal { return refused }
    let rows = symbol.flatMap { KlineQuery($0, target: target) }.flatMap { query in
      exchange.timeline.history.klineRows(
        of: query.symbol, timeframe: query.timeframe, count: query.count, at: moment)
    }
    let texts = rows.map { rows in
      rows.enumerated().flatMap { number, row in
        faults?.texts(of: row, number: number) ?? [row.text]
      }
    }
    return SimulatedResponse(script: KlineRow.script(texts)).suffering(faults)
  }
}

/// What a K-line question asks for; nil if it is one that is answered `null`.
struct KlineQuery {
  let symbol: Symbol
  let timeframe: Timeframe
  let count: Int

  init?(_ symbol: Symbol, target: RequestTarget) {
    let scale = target["scale"].flatMap { Int16($0) } ?? 0
    guard let timeframe = Timeframe(rawValue: scale), timeframe != .afterHours,
      scale <= Timeframe.day1.rawValue
    else { return nil }
    let count = target["datalen"].map { Int($0) } ?? SinaKlineProtocol.barsDefault
    guard let count, (1...SinaKlineProtocol.barsMax).contains(count) else { return nil }
    self.symbol = symbol
    self.timeframe = timeframe
    self.count = count
  }
}

extension SimulatedResponse {
  package init(script: String) {
    self.init(body: Array(script.utf8), contentType: "text/javascript; charset=gbk")
  }
}
