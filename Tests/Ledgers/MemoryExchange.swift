import ExchangeSimulator
import Market
import TestExchange

/// The simulated exchange without a socket: the same answers, asked for directly, at a moment the
/// caller names. For days run in memory.
///
/// Not safe for several threads at once.
package struct MemoryExchange {
  private var upstreams: SimulatedUpstreams

  /// An answer; a connection that breaks or stays silent gives none.
  package struct Response: Sendable {
    package var status: Int
    package var body: [UInt8]
    package var retryAfterSeconds: Int?
    /// To withdraw it where nothing is made of it.
    package var ticket: ResponseTicket?
  }

  /// - Parameters:
  ///   - from: the day of `history` that is lived through first; its first day if nil.
  ///   - laterDays: what the calendar file gains.
  ///   - recordsEveryDay: note what was served on each day, for `recorder(of:)`.
  package init(
    history: SimulatedHistory, from day: TradingDay? = nil, faults: FaultPlan = FaultPlan(),
    recordsEveryDay: Bool = false, mairui: MairuiOptions = MairuiOptions(),
    alpaca: AlpacaOptions = AlpacaOptions(), laterDays: LaterDays? = nil
  ) {
    let exchange = SimulatedExchange(
      history, from: day, clock: .request, faults: faults,
      observing: DayRecorder.everyDay(recordsEveryDay))
    upstreams = SimulatedUpstreams(
      exchange, protocols: allProtocols(mairui, alpaca, laterDays: laterDays))
  }

  /// Answers `GET target` at `moment`, whatever time the target names. Header names are in lower
  /// case. nil where the client would hear nothing: a reset, a silence, a body that is cut short.
  package mutating func response(
    _ target: String, headers: [String: String] = [:], at moment: Timestamp
  ) -> Response? {
    upstreams.exchange.clock = .function { moment }
    let response = upstreams.response(SimulatedRequest(target: target, headers: headers))
    let whole = Response(
      status: response.status, body: response.body, retryAfterSeconds: response.retryAfterSeconds,
      ticket: response.ticket)
    guard let delivery = response.delivery as? FaultyDelivery, !delivery.deliversBody else {
      return whole
    }
    if let ticket = response.ticket { upstreams.exchange.observers.withdraw(ticket) }
    return nil
  }

  /// Orders a fault from now on.
  package mutating func order(_ fault: Fault) { upstreams.exchange.order(fault) }

  /// What was served on a day; nil if nobody recorded it.
  package func recorder(of day: TradingDay) -> DayRecorder? {
    upstreams.exchange.observers.byDay[day] as? DayRecorder
  }

  package var mairuiLedger: MairuiLedger {
    upstreams.spoken(LicensedMairui.self)?.ledger ?? MairuiLedger()
  }
  package var alpacaRequests: AlpacaRequests {
    upstreams.spoken(KeyedAlpaca.self)?.requests ?? AlpacaRequests()
  }

  /// What really traded on a day of the history, as `SimulatedHistory.trueLedger` says.
  package mutating func trueLedger(on day: TradingDay, until moment: Timestamp? = nil)
    -> TrueLedger
  {
    upstreams.exchange.timeline.history.trueLedger(on: day, until: moment)
  }
}
