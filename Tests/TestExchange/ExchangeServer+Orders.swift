import ExchangeSimulator
import Market

/// What a test orders of a running exchange, and reads of it. Nobody is answered meanwhile.
extension ExchangeServer {
  package func order(_ fault: Fault) { withUpstreams { $0.exchange.order(fault) } }

  /// Ends all faults on order.
  package func cancelFaults() { withUpstreams { $0.exchange.cancelFaults() } }

  package var requestsAnswered: Int { withUpstreams { $0.exchange.requestsAnswered } }

  /// Reads who watched a day so far, the first one that was lived through if nil; nil if nobody
  /// did.
  package func withObserver<Result>(
    of day: TradingDay? = nil, _ body: (any DayObserver) throws -> Result
  ) rethrows -> Result? {
    try withUpstreams { upstreams in
      let byDay = upstreams.exchange.observers.byDay
      return try (day ?? byDay.keys.min()).flatMap { byDay[$0] }.map(body)
    }
  }

  /// A protocol with what it counted so far; nil if it is not spoken here.
  package func spoken<Protocol: UpstreamProtocol>(_ type: Protocol.Type) -> Protocol? {
    withUpstreams { $0.spoken(type) }
  }

  /// What really traded on a day of the history, as `SimulatedHistory.trueLedger` says.
  package func trueLedger(on day: TradingDay, until moment: Timestamp? = nil) -> TrueLedger {
    withUpstreams { $0.exchange.timeline.history.trueLedger(on: day, until: moment) }
  }

  /// The furthest the day has come.
  package var now: Timestamp { withUpstreams { $0.exchange.timeline.front.now } }
}
