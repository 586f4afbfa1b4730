import ExchangeSimulator
import Market

/// Sina's files of `realstock/company` (docs/sources/sina.md): `<symbol>/qfq.js` and `hfq.js`, the
/// factors of adjusted prices. A symbol nobody knows is not found.
struct SinaFileProtocol: UpstreamProtocol {
  private static let folder = "/realstock/company/"

  func response(_ request: SimulatedRequest, from exchange: inout SimulatedExchange)
    -> SimulatedResponse?
  {
    let target = RequestTarget(request.target)
    guard target.path.hasPrefix(SinaFileProtocol.folder) else { return nil }
    let parts = target.path.dropFirst(SinaFileProtocol.folder.count).split(separator: "/")
    let moment = exchange.moment(requested: target.milliseconds)
    let symbol = parts.count == 2 ? Symbol(parts[0]) : nil
    let faults = exchange.faults(on: .sinaHistory, at: moment, symbols: symbol.map { [$0] })
    if let refused = faults?.refusal { return refused }
    let kind = AdjustmentFactor.Kind.allCases.first { parts.last == "\($0.name).js" }
    guard let symbol, let kind,
      let factors = exchange.timeline.history.factors(of: symbol, kind: kind, at: moment)
    else { return .text(404, "Not Found") }
    return SimulatedResponse(script: AdjustmentFactor.script(factors, of: symbol, kind: kind))
      .suffering(faults)
  }
}
