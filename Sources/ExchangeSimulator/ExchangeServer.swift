import Glibc
import Market
import Platform

/// The simulated exchange on a loopback port, speaking the upstreams' real protocols.
///
/// A thread a connection and blocking sockets: it has a handful of clients, and a fault such as
/// "one byte a second" is then a plain loop. Everything that decides lives in `SimulatedExchange`;
/// this shell only moves bytes, and must never invent any.
package final class ExchangeServer: Sendable {
  package let port: UInt16
  private let shared: Locked<Shared>
  private let listener: Int32

  // `@unchecked Sendable`: the recorders are the only objects in it, and they are touched under the
  // lock alone.
  struct Shared: @unchecked Sendable {
    var exchange: SimulatedExchange
    var connections: Set<Int32> = []
    var isStopped = false
  }

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
    let timeline = MarketTimeline(SimulatedHistory(market), beginning: market)
    try self.init(
      SimulatedExchange(
        timeline, clock: clock, faults: faults,
        recorders: DayRecorders(recorder, recordsEveryDay: false), mairui: mairui,
        alpaca: alpaca),
      port: port)
  }

  /// Serves the trading days of `history` on 127.0.0.1, one after the other, and what lies behind
  /// each moment.
  /// - Parameters:
  ///   - from: the day of `history` that is lived through first, those before it being past; its
  ///     first day if nil.
  ///   - recordsEveryDay: note what was served on each day; read it with `withRecorder(of:)`.
  ///   - falseRows: those to mix among the quotes of the days that are recorded; none if nil.
  ///   - port: 0 for any free one.
  /// - Throws: `cannotListen`, `cannotServe`.
  package convenience init(
    history: SimulatedHistory, from day: TradingDay? = nil, clock: MarketClock = .request,
    faults: FaultPlan = FaultPlan(), recordsEveryDay: Bool = false,
    falseRows: FalseRowPlan? = nil, mairui: MairuiOptions = MairuiOptions(),
    alpaca: AlpacaOptions = AlpacaOptions(), port: UInt16 = 0
  ) throws(SimulatorError) {
    var history = history
    let market = history.market(on: day ?? history.days[0])
    let recorders = DayRecorders(nil, recordsEveryDay: recordsEveryDay, falseRows: falseRows)
    recorders.begin(market)
    try self.init(
      SimulatedExchange(
        MarketTimeline(history, beginning: market), clock: clock, faults: faults,
        recorders: recorders, mairui: mairui, alpaca: alpaca),
      port: port)
  }

  private init(_ exchange: SimulatedExchange, port: UInt16) throws(SimulatorError) {
    shared = Locked(Shared(exchange: exchange))
    (listener, self.port) = try Socket.listen(port: port)
    let (listener, shared) = (listener, shared)
    do throws(ThreadError) {
      try DetachedThread.start { ExchangeServer.acceptConnections(listener, shared) }
    } catch {
      throw SimulatorError(.cannotServe, "no thread to listen on")
    }
  }

  deinit { stop() }

  /// `http://127.0.0.1:<port>`
  package var url: String { "http://127.0.0.1:\(port)" }

  /// Stops listening and ends every connection. A second call does nothing.
  package func stop() {
    shared.withLock { shared in
      if shared.isStopped { return }
      shared.isStopped = true
      // The accepting thread closes the listener, each connection's thread its own socket: nobody
      // else may, or a number could be reused under a thread that still waits on it.
      Socket.shutdown(listener)
      for connection in shared.connections { Socket.shutdown(connection) }
    }
  }

  /// Orders a fault while serving.
  package func order(_ fault: Fault) {
    shared.withLock { $0.exchange.faults.add(fault) }
  }

  /// Ends all faults on order.
  package func cancelFaults() {
    shared.withLock { $0.exchange.faults.removeAll() }
  }

  package var requestsAnswered: Int { shared.withLock { $0.exchange.requestsAnswered } }

  /// Reads what was recorded of a day so far, of the one lived through first if nil; nil if nobody
  /// recorded it. Nobody is answered meanwhile.
  package func withRecorder<Result>(
    of day: TradingDay? = nil, _ body: (DayRecorder) throws -> Result
  ) rethrows -> Result? {
    try shared.withLock { shared in
      let byDay = shared.exchange.recorders.byDay
      return try (day ?? byDay.keys.min()).flatMap { byDay[$0] }.map(body)
    }
  }

  /// Who asked Mairui how often, so far.
  package var mairuiLedger: MairuiLedger { shared.withLock { $0.exchange.mairui.ledger } }

  /// Who asked Alpaca how often, so far.
  package var alpacaRequests: AlpacaRequests { shared.withLock { $0.exchange.alpaca.requests } }

  /// What really traded on a day of the history, as `SimulatedHistory.trueLedger` says.
  package func trueLedger(on day: TradingDay, until moment: Timestamp? = nil) -> TrueLedger {
    shared.withLock { $0.exchange.timeline.history.trueLedger(on: day, until: moment) }
  }

  /// The furthest the day has come.
  package var now: Timestamp { shared.withLock { $0.exchange.timeline.front.now } }
}

extension ExchangeServer {
  private static func acceptConnections(_ listener: Int32, _ shared: Locked<Shared>) {
    while let socket = Socket.accept(listener) {
      let isWanted = shared.withLock { shared in
        if !shared.isStopped { shared.connections.insert(socket) }
        return !shared.isStopped
      }
      let serve: @Sendable () -> Void = {
        Connection(socket: socket) { request in
          shared.withLock { $0.exchange.response(request) }
        } undelivered: { ticket in
          shared.withLock { $0.exchange.recorders.withdraw(ticket) }
        }.serve()
        shared.withLock { _ = $0.connections.remove(socket) }
        Socket.close(socket)
      }
      if !isWanted || (try? DetachedThread.start(serve)) == nil {
        shared.withLock { _ = $0.connections.remove(socket) }
        Socket.close(socket)
      }
    }
    Socket.close(listener)
  }
}
