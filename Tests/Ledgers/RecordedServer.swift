import ExchangeSimulator
import Market
import TestExchange

/// The simulated exchange as the tests want it: with all protocols, and ledgers of what it served.
extension ExchangeServer {
  /// Serves one trading day on 127.0.0.1.
  /// - Parameters:
  ///   - recorder: notes what was served; read it with `withRecorder`.
  ///   - port: 0 for any free one.
  /// - Throws: `cannotListen`, `cannotServe`.
  package convenience init(
    market: SimulatedMarket, clock: MarketClock = .request, faults: FaultPlan = FaultPlan(),
    recorder: DayRecorder? = nil, mairui: MairuiOptions = MairuiOptions(),
    alpaca: AlpacaOptions = AlpacaOptions(), port: UInt16 = 0
  ) throws(SimulatorError) {
    try self.init(
      history: SimulatedHistory(market), protocols: allProtocols(mairui, alpaca), clock: clock,
      faults: faults, observing: { $0.day == recorder?.day ? recorder : nil }, port: port)
  }

  /// Serves the trading days of `history` on 127.0.0.1, one after the other.
  /// - Parameters:
  ///   - from: the day of `history` that is lived through first; its first day if nil.
  ///   - recordsEveryDay: note what was served on each day; read it with `withRecorder(of:)`.
  ///   - falseRows: those to mix among the quotes of the days that are recorded; none if nil.
  /// - Throws: `cannotListen`, `cannotServe`.
  package convenience init(
    history: SimulatedHistory, from day: TradingDay? = nil, clock: MarketClock = .request,
    faults: FaultPlan = FaultPlan(), recordsEveryDay: Bool = false,
    falseRows: FalseRowPlan? = nil, mairui: MairuiOptions = MairuiOptions(),
    alpaca: AlpacaOptions = AlpacaOptions()
  ) throws(SimulatorError) {
    try self.init(
      history: history, protocols: allProtocols(mairui, alpaca), from: day, clock: clock,
      faults: faults, observing: DayRecorder.everyDay(recordsEveryDay, falseRows: falseRows))
  }

  /// Reads what was recorded of a day so far, of the one lived through first if nil; nil if nobody
  /// recorded it. Nobody is answered meanwhile.
  package func withRecorder<Result>(
    of day: TradingDay? = nil, _ body: (DayRecorder) throws -> Result
  ) rethrows -> Result? {
    try withObserver(of: day) { try ($0 as? DayRecorder).map(body) } ?? nil
  }

  /// Who asked Mairui how often, so far.
  package var mairuiLedger: MairuiLedger { spoken(LicensedMairui.self)?.ledger ?? MairuiLedger() }

  /// Who asked Alpaca how often, so far.
  package var alpacaRequests: AlpacaRequests {
    spoken(KeyedAlpaca.self)?.requests ?? AlpacaRequests()
  }
}

extension DayRecorder {
  /// A recorder for each day that begins, or none for any.
  package static func everyDay(
    _ isWanted: Bool, falseRows: FalseRowPlan? = nil
  ) -> DayObservers.Choice {
    { market in isWanted ? DayRecorder(market, falseRows: falseRows) : nil }
  }
}

extension Fault.Upstream {
  package static let all: [Fault.Upstream] = [
    .sinaQuotes, .sinaHistory, .mairui, .alpaca, .tencentQuotes,
  ]
}

/// Every protocol there is.
func allProtocols(
  _ mairui: MairuiOptions, _ alpaca: AlpacaOptions, laterDays: LaterDays? = nil
) -> [any UpstreamProtocol] {
  [SinaCalendarProtocol(laterDays)] + SinaProtocols.all + [
    SinaNodeProtocol(), LicensedMairui(mairui), KeyedAlpaca(alpaca), TencentProtocol(),
  ]
}
