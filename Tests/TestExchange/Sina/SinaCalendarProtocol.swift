import ExchangeSimulator
import Market

/// Sina's `klc_td_sh.txt`, the packed calendar (docs/sources/sina.md).
package struct SinaCalendarProtocol: UpstreamProtocol {
  private static let path = "/realstock/company/klc_td_sh.txt"

  private let later: LaterDays?

  /// - Parameter later: what the file gains at a moment.
  package init(_ later: LaterDays? = nil) { self.later = later }

  package func response(_ request: SimulatedRequest, from exchange: inout SimulatedExchange)
    -> SimulatedResponse?
  {
    let target = RequestTarget(request.target)
    guard target.path == Self.path else { return nil }
    let moment = exchange.moment(requested: target.milliseconds)
    let faults = exchange.faults(on: .sinaHistory, at: moment, symbols: nil)
    if let refused = faults?.refusal { return refused }
    return SimulatedResponse(
      script: PackedCalendar.script(later: later?.days(at: moment) ?? [])
    ).suffering(faults)
  }
}
