import ExchangeSimulator
import Market

/// `hq.sinajs.cn`: `/list=…`, `/rn=<ms>&list=…`, `/?list=…` (docs/sources/sina.md).
///
/// It behaves as the real one was seen to: no Referer, no quotes; one malformed token voids the
/// whole batch; an unknown symbol is an empty line.
struct SinaQuoteProtocol: UpstreamProtocol {
  private static let referers = ["finance.sina.com.cn"]

  func response(_ request: SimulatedRequest, from exchange: inout SimulatedExchange)
    -> SimulatedResponse?
  {
    guard let query = SinaQuoteQuery(target: request.target) else { return nil }
    let moment = exchange.moment(requested: query.milliseconds)
    let referer = request.headers["referer"] ?? ""
    guard SinaQuoteProtocol.referers.contains(where: referer.contains) else {
      return .text(403, "Kinsoku jikou desu!")
    }
    let faults = exchange.faults(on: .sinaQuotes, at: moment, symbols: query.symbols)
    if let refused = faults?.refusal { return refused }
    guard let symbols = query.symbols, !symbols.isEmpty else { return .batchFailed }
    let shown = faults?.shown(at: moment) ?? moment
    let observers = exchange.observers
    return exchange.timeline.show(at: shown, watchedBy: observers) { market in
      let observer = observers.observer(of: market)
      var batch = LineBatch(faults: faults, observer: observer)
      for symbol in symbols { batch.append(symbol, of: &market) }
      let response = batch.response(of: market)
      if let ticket = response.ticket { observer?.asked(ticket, at: moment) }
      return response
    }
  }
}

extension LineBatch {
  /// Appends the line of an instrument, or of what else quotes are asked for.
  package mutating func append(_ symbol: Symbol, of market: inout SimulatedMarket) {
    guard let place = market.place(of: symbol) else {
      return market.appendOverviewLine(symbol, to: &body)
    }
    let start = body.count
    market.appendLine(at: place, to: &body)
    if let number = observer?.replaceLine(at: place, of: &market, in: &body, from: start) {
      finishReplacedLine(of: place, number: number)
    } else {
      finishLine(of: place, from: start, state: market.states[Int(place)], in: market)
    }
  }
}

extension SimulatedResponse {
  package static var batchFailed: SimulatedResponse {
    SimulatedResponse(body: Array("var hq_str_sys_auth=\"FAILED\";\n".utf8))
  }
}

/// What a Sina path asks for.
struct SinaQuoteQuery {
  var milliseconds: Int64?
  /// nil if a token is malformed.
  var symbols: [Symbol]?

  /// nil if the path is none of Sina's quote paths.
  init?(target: String) {
    var rest = target.utf8.dropFirst()
    for prefix in ["etag.php?", "?"] where rest.starts(with: prefix.utf8) {
      rest = rest.dropFirst(prefix.utf8.count)
    }
    var list: Substring.UTF8View?
    for pair in rest.split(separator: UInt8(ascii: "&")) {
      if pair.starts(with: "list=".utf8) { list = pair.dropFirst(5) }
      if pair.starts(with: "rn=".utf8) { milliseconds = Int64(Substring(pair.dropFirst(3))) }
      if pair.starts(with: "_=".utf8) { milliseconds = Int64(Substring(pair.dropFirst(2))) }
    }
    guard let list else { return nil }
    symbols = SinaQuoteQuery.symbols(in: list)
  }

  /// A trailing comma is tolerated; anything that is no symbol of a known family is not.
  private static func symbols(in list: Substring.UTF8View) -> [Symbol]? {
    var symbols: [Symbol] = []
    for token in list.split(separator: UInt8(ascii: ",")) {
      guard isWellFormed(token), let symbol = Symbol(Substring(token)) else { return nil }
      symbols.append(symbol)
    }
    return symbols
  }

  private static let families = ["gb_", "usr_", "rt_hk", "hk", "int_", "znb_", "b_"]

  private static func isWellFormed(_ token: Substring.UTF8View) -> Bool {
    var share = token
    if share.starts(with: "s_".utf8) { share = share.dropFirst(2) }
    for prefix in ["sh", "sz", "bj"] where share.starts(with: prefix.utf8) {
      let code = share.dropFirst(2)
      return code.count == 6 && code.allSatisfy { (48...57).contains($0) }
    }
    return families.contains { token.starts(with: $0.utf8) && token.count > $0.utf8.count }
  }
}
