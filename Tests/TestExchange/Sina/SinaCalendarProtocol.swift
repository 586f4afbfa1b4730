import ExchangeSimulator
import Market

/// Sina's `klc_td_sh.txt`, the packed calendar (docs/sources/sina.md). It lacks 1992-05-04 as the
/// real file does.
package struct SinaCalendarProtocol: UpstreamProtocol {
  private static let path = "/realstock/company/klc_td_sh.txt"
  private static let dayMissing = TradingDay(year: 1992, month: 5, day: 4)

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
    let known = TradingCalendar.shanghai
    let days = (known.firstDay...known.lastDay).filter {
      known.isTradingDay($0) == true && $0 != Self.dayMissing
    }
    let packed = PackedCalendar.text(days + (later?.days(at: moment) ?? []))
    return SimulatedResponse(script: "var datelist=\"\(packed)\";var KLC_TD_SH=datelist;")
      .suffering(faults)
  }
}
