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
      exchange.timeline.history.klineRows(query, at: moment)
    }
    let text = rows.map { rows in
      let texts = rows.enumerated().flatMap { number, row in
        faults?.texts(of: row, number: number) ?? [row.text]
      }
      return "[" + texts.joined(separator: ",") + "]"
    }
    let script = "/*<script>location.href='//sina.com';</script>*/\n=(\(text ?? "null"));"
    return SimulatedResponse(script: script).suffering(faults)
  }
}

/// What a K-line question asks for; nil if it is one that is answered `null`.
struct KlineQuery {
  let symbol: Symbol
  let timeframe: Timeframe
  let count: Int
  let hasAmounts: Bool

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
    hasAmounts = timeframe.rawValue < Timeframe.day1.rawValue
  }
}

/// One row, its numbers as text.
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
  mutating func klineRows(_ query: KlineQuery, at moment: Timestamp) -> [KlineRow]? {
    guard let place = morning(0).place(of: query.symbol).map(Int.init) else { return nil }
    let scale = morning(0).traits[place].scale
    return bars(of: place, timeframe: query.timeframe, at: moment, count: query.count).map {
      KlineRow($0, scale: scale, hasAmount: query.hasAmounts)
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

  package static func price(_ units: Int64, scale: UInt8) -> String {
    let price = ExactDecimal(units: units, scale: scale)
    return ((try? price.rescaled(places: places)) ?? price).description
  }
}

extension SimulatedResponse {
  package init(script: String) {
    self.init(body: Array(script.utf8), contentType: "text/javascript; charset=gbk")
  }
}
