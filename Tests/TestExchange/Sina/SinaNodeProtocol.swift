import ExchangeSimulator
import Market

/// Sina's lists of instruments (docs/sources/sina.md#lists):
/// `Market_Center.getHQNodeStockCount?node=…`, a JSON string, and
/// `Market_Center.getHQNodeData?page=…&num=…&node=…`, rows with escaped names.
///
/// A page beyond the end is `[]`; an unknown node has none. Beijing sorts first. A demo asks for
/// no list.
package struct SinaNodeProtocol: UpstreamProtocol {
  private static let service = "/quotes_service/api/json_v2.php/Market_Center."
  private static let rowsDefault = 40
  /// More than 100 a page were not seen to work.
  private static let rowsMax = 100
  /// What a Sina service says to a question it cannot read.
  private static let inputError = #"{"__ERROR":1,"__ERRORMSG":"Input error"}"#

  package init() {}

  package func response(
    _ request: SimulatedRequest, from exchange: inout SimulatedExchange
  ) -> SimulatedResponse? {
    let target = RequestTarget(request.target)
    guard target.path.hasPrefix(SinaNodeProtocol.service) else { return nil }
    let method = target.path.dropFirst(SinaNodeProtocol.service.count)
    let moment = exchange.moment(requested: target.milliseconds)
    let faults = exchange.faults(on: .sinaHistory, at: moment, symbols: [])
    if let refused = faults?.refusal { return refused }
    let node = target["node"] ?? ""
    let observers = exchange.observers
    let text = exchange.timeline.show(at: moment, watchedBy: observers) { market -> String? in
      let places = market.places(inNode: node)
      switch method {
      case "getHQNodeStockCount": return "\"\(places.count)\""
      case "getHQNodeData":
        let page = SinaNodeProtocol.page(of: places, target: target)
        return SinaNodeProtocol.list(page, of: market, faults: faults as? ActiveFaults)
      default: return nil
      }
    }
    return SimulatedResponse(
      body: Array((text ?? SinaNodeProtocol.inputError).utf8), contentType: "application/json"
    ).suffering(faults)
  }

  private static func page(of places: [Int], target: RequestTarget) -> ArraySlice<Int> {
    let count = min(max(target["num"].flatMap { Int($0) } ?? rowsDefault, 1), rowsMax)
    let page = max(target["page"].flatMap { Int($0) } ?? 1, 1)
    let (start, overflow) = (page - 1).multipliedReportingOverflow(by: count)
    return overflow ? [] : places.dropFirst(start).prefix(count)
  }

  private static func list(
    _ places: ArraySlice<Int>, of market: SimulatedMarket, faults: ActiveFaults?
  ) -> String {
    let rows = places.prefix(faults?.rowsMax ?? .max).flatMap { place in
      let row = NodeRow(market, place: place)
      return faults?.texts(of: row, number: place) ?? [row.text]
    }
    return "[" + rows.joined(separator: ",") + "]"
  }
}

extension SimulatedMarket {
  /// The instruments a node lists, by symbol.
  fileprivate func places(inNode node: String) -> [Int] {
    let places = traits.indices.filter { place in
      traits[place].behaviour != .delisted && traits[place].behaviour != .notListed
        && SimulatedMarket.node(node, holds: traits[place])
    }
    return places.sorted { symbols[$0] < symbols[$1] }
  }

  private static func node(_ node: String, holds traits: Traits) -> Bool {
    if traits.kind == .fund { return node == "etf_hq_fund" }
    guard traits.kind == .stock else { return false }
    switch node {
    case "hs_a": return true
    case "sh_a": return traits.exchange == .shanghai
    case "sz_a": return traits.exchange == .shenzhen
    case "hs_bjs": return traits.exchange == .beijing
    case "kcb": return traits.board == .star
    case "cyb": return traits.board == .chiNext
    default: return false
    }
  }
}

/// One row of a list, the first fields apart from what stands behind them.
struct NodeRow {
  let symbol: String
  var code: String
  /// ASCII with the rest as escapes.
  var name: String
  let numbers: String

  var text: String {
    "{\"symbol\":\"\(symbol)\",\"code\":\"\(code)\",\"name\":\"\(name)\"," + numbers
  }

  init(_ market: SimulatedMarket, place: Int) {
    let state = market.states[place]
    let scale = market.traits[place].scale
    func price(_ units: Int64) -> String { KlineRow.price(units, scale: scale) }
    let change = state.last > 0 ? state.last - state.reference : 0
    symbol = market.symbols[place].description
    code = String(symbol.dropFirst(2))
    name = NodeRow.escaped(market.listings[place].name)
    numbers =
      "\"trade\":\"\(price(state.last))\",\"pricechange\":\(price(change)),"
      + "\"buy\":\"\(price(state.book.bid))\",\"sell\":\"\(price(state.book.ask))\","
      + "\"settlement\":\"\(price(state.reference))\",\"open\":\"\(price(state.open))\","
      + "\"high\":\"\(price(state.high))\",\"low\":\"\(price(state.low))\","
      + "\"volume\":\(state.volume),\"amount\":\(state.turnover / 1000),"
      + "\"ticktime\":\"\(clockText(Int(state.stamp)))\",\"per\":21.077,\"pb\":2.46,"
      + "\"mktcap\":6106074.169,\"nmc\":5106074.169,\"turnoverratio\":0.76738}"
  }

  /// ASCII with the rest as hexadecimal escapes, UTF-16 halves each on its own.
  private static func escaped(_ name: [UInt8]) -> String {
    let text = String(decoding: GB18030.decodedToUTF8(name) ?? [], as: UTF8.self)
    return text.utf16.map { unit in
      unit < 0x80
        ? String(UnicodeScalar(UInt8(unit)))
        : "\\u" + String(String(Int(unit) + 0x10000, radix: 16).dropFirst())
    }.joined()
  }
}
