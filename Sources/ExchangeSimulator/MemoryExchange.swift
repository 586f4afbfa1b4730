import Market

/// The simulated exchange without a socket: the same answers, asked for directly, at a moment the
/// caller names. For days run in memory.
///
/// Not safe for several threads at once.
package struct MemoryExchange {
  private var exchange: SimulatedExchange

  /// An answer; a connection that breaks or stays silent gives none.
  package struct Response: Sendable {
    package var status: Int
    package var body: [UInt8]
    package var retryAfterSeconds: Int?
  }

  /// - Parameters:
  ///   - from: the day of `history` that is lived through first; its first day if nil.
  ///   - recordsEveryDay: note what was served on each day, for `recorder(of:)`.
  package init(
    history: SimulatedHistory, from day: TradingDay? = nil, faults: FaultPlan = FaultPlan(),
    recordsEveryDay: Bool = false, mairui: MairuiOptions = MairuiOptions(),
    alpaca: AlpacaOptions = AlpacaOptions()
  ) {
    var history = history
    let market = history.market(on: day ?? history.days[0])
    let recorders = DayRecorders(nil, recordsEveryDay: recordsEveryDay)
    recorders.begin(market)
    exchange = SimulatedExchange(
      MarketTimeline(history, beginning: market), clock: .request, faults: faults,
      recorders: recorders, mairui: mairui, alpaca: alpaca)
  }

  /// Answers `GET target` at `moment`, whatever time the target names. Header names are in lower
  /// case. nil where the client would hear nothing: a reset, a silence, a body that is cut short.
  package mutating func response(
    _ target: String, headers: [String: String] = [:], at moment: Timestamp
  ) -> Response? {
    exchange.clock = .function { moment }
    let response = exchange.response(HTTPRequest(target: target, headers: headers))
    let whole = Response(
      status: response.status, body: response.body, retryAfterSeconds: response.retryAfterSeconds)
    switch response.delivery {
    case .whole, .slow: return whole
    case .wire(let script) where script.deliversBody: return whole
    case .cut, .reset, .never, .wire:
      if let ticket = response.ticket { exchange.recorders.withdraw(ticket) }
      return nil
    }
  }

  /// Orders a fault from now on.
  package mutating func order(_ fault: Fault) { exchange.faults.add(fault) }

  /// What was served on a day; nil if nobody recorded it.
  package func recorder(of day: TradingDay) -> DayRecorder? { exchange.recorders.byDay[day] }

  package var mairuiLedger: MairuiLedger { exchange.mairui.ledger }
  package var alpacaRequests: AlpacaRequests { exchange.alpaca.requests }

  /// What really traded on a day of the history, as `SimulatedHistory.trueLedger` says.
  package mutating func trueLedger(on day: TradingDay, until moment: Timestamp? = nil)
    -> TrueLedger
  {
    exchange.timeline.history.trueLedger(on: day, until: moment)
  }
}
