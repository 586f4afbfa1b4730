import ExchangeSimulator
import Market

/// One upstream's way of speaking, one file each: it looks at a request and answers it, or says
/// that the request is none of its business so that the next protocol may look.
///
/// Everything it may use or change is its own or in the `SimulatedExchange` handed to it; it never
/// does I/O.
package protocol UpstreamProtocol: Sendable {
  /// nil if this request belongs to another protocol.
  mutating func response(_ request: SimulatedRequest, from exchange: inout SimulatedExchange)
    -> SimulatedResponse?
}

/// A simulated exchange and the protocols it is asked by, the first that knows a request first.
package struct SimulatedUpstreams {
  package var exchange: SimulatedExchange
  private var protocols: [any UpstreamProtocol]

  package init(_ exchange: SimulatedExchange, protocols: [any UpstreamProtocol]) {
    self.exchange = exchange
    self.protocols = protocols
  }

  package mutating func response(_ request: SimulatedRequest) -> SimulatedResponse {
    exchange.requestsAnswered += 1
    for place in protocols.indices {
      if let response = protocols[place].response(request, from: &exchange) { return response }
    }
    return .text(404, "Not Found")
  }

  /// A protocol with what it counted; nil if it is not spoken here.
  package func spoken<Protocol: UpstreamProtocol>(_ type: Protocol.Type) -> Protocol? {
    protocols.lazy.compactMap { $0 as? Protocol }.first
  }
}

/// Everything behind the protocols: the markets, and who watches and disturbs what is served.
package struct SimulatedExchange {
  package var timeline: MarketTimeline
  package var faultSource: (any FaultSource)?
  package let observers: DayObservers
  package var clock: MarketClock
  /// Latest moment asked for; the answer to a request that names none.
  private var latest: Timestamp
  package fileprivate(set) var requestsAnswered = 0

  /// - Parameters:
  ///   - from: the day of `history` that is lived through first, those before it being past; its
  ///     first day if nil.
  ///   - observing: who watches a day that is about to begin.
  package init(
    _ history: SimulatedHistory, from day: TradingDay? = nil, clock: MarketClock,
    faults: (any FaultSource)? = nil, observing: @escaping DayObservers.Choice = { _ in nil }
  ) {
    var history = history
    let market = history.market(on: day ?? history.days[0])
    observers = DayObservers(observing)
    observers.begin(market)
    timeline = MarketTimeline(history, beginning: market)
    self.clock = clock
    faultSource = faults
    latest = timeline.front.now
  }

  /// 1970 to 2200: a cache buster beyond is no time.
  private static let millisecondsKnown: ClosedRange<Int64> = 0...7_258_118_400_000

  /// What time it is for a request that says `milliseconds` since 1970, or nothing.
  package mutating func moment(requested milliseconds: Int64?) -> Timestamp {
    let moment: Timestamp
    switch clock {
    case .function(let now): moment = now()
    case .request:
      guard let milliseconds, SimulatedExchange.millisecondsKnown.contains(milliseconds) else {
        return latest
      }
      moment = Timestamp(microseconds: milliseconds * 1000)
    }
    latest = max(latest, moment)
    return moment
  }

  /// As `FaultSource` says.
  package mutating func faults(on upstream: UpstreamName, at moment: Timestamp, symbols: [Symbol]?)
    -> (any ResponseFaults)?
  {
    faultSource?.faults(on: upstream, at: moment, symbols: symbols)
  }
}

/// Where the simulated exchange takes its time from.
package enum MarketClock: Sendable {
  /// From the request: the cache buster `rn=<milliseconds since 1970>`. The exchange is then a
  /// pure function of the question, earlier moments included.
  case request
  case function(@Sendable () -> Timestamp)
}
