import Market

/// One upstream's way of speaking, one file each: it looks at a request and answers it, or says
/// that the request is none of its business so that the next protocol may look.
///
/// Everything it may use or change is in the `SimulatedExchange` handed to it; it never does I/O.
protocol UpstreamProtocol: Sendable {
  /// nil if this request belongs to another protocol.
  func response(_ request: HTTPRequest, from exchange: inout SimulatedExchange)
    -> SimulatedResponse?
}

/// Everything behind the protocols: the markets, the faults on order and the record of what was
/// served.
struct SimulatedExchange {
  var timeline: MarketTimeline
  var faults: FaultPlan
  let recorders: DayRecorders
  var mairui: MairuiState
  var alpaca: AlpacaState
  var clock: MarketClock
  let protocols: [any UpstreamProtocol]
  /// Latest moment asked for; the answer to a request that names none.
  var latest: Timestamp
  var requestsAnswered = 0

  init(
    _ timeline: MarketTimeline, clock: MarketClock, faults: FaultPlan, recorders: DayRecorders,
    mairui: MairuiOptions = MairuiOptions(), alpaca: AlpacaOptions = AlpacaOptions()
  ) {
    self.timeline = timeline
    self.mairui = MairuiState(mairui)
    self.alpaca = AlpacaState(alpaca)
    self.clock = clock
    self.faults = faults
    self.recorders = recorders
    protocols = [
      SinaQuoteProtocol(), SinaKlineProtocol(), SinaFileProtocol(), SinaNodeProtocol(),
      MairuiProtocol(),
      AlpacaProtocol(),
    ]
    latest = timeline.front.now
  }

  mutating func response(_ request: HTTPRequest) -> SimulatedResponse {
    requestsAnswered += 1
    for candidate in protocols {
      if let response = candidate.response(request, from: &self) { return response }
    }
    return .text(404, "Not Found")
  }

  /// 1970 to 2200: a cache buster beyond is no time.
  private static let millisecondsKnown: ClosedRange<Int64> = 0...7_258_118_400_000

  /// What time it is for a request that says `milliseconds` since 1970, or nothing.
  mutating func moment(requested milliseconds: Int64?) -> Timestamp {
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
}

/// Where the simulated exchange takes its time from.
package enum MarketClock: Sendable {
  /// From the request: the cache buster `rn=<milliseconds since 1970>`. The exchange is then a
  /// pure function of the question, earlier moments included.
  case request
  case function(@Sendable () -> Timestamp)
}
