import ExchangeSimulator
import Market

/// One answer of quote lines in the making, and which of its lines still count.
package struct LineBatch {
  package let observer: (any DayObserver)?
  private let faults: (any ResponseFaults)?
  package var body: [UInt8] = []
  private var lines = ServedLines(places: [])
  /// The bytes of the body that end the lines.
  private var ends: [Int] = []

  package init(faults: (any ResponseFaults)?, observer: (any DayObserver)?) {
    self.observer = observer
    self.faults = faults
  }

  /// The line of an instrument stands in the body from `start` to the end.
  package mutating func finishLine(
    of place: Int32, from start: Int, state: InstrumentState, in market: SimulatedMarket
  ) {
    if let faults {
      let counts = faults.damageLine(
        at: place, showing: state, of: market,
        served: observer?.lastServedStamp(at: place) ?? Int32.max, in: &body, from: start)
      if !counts { lines.invalid.insert(place) }
    }
    finish(place)
  }

  /// Others' bytes stand there.
  mutating func finishReplacedLine(of place: Int32, number: Int) {
    lines.invalid.insert(place)
    lines.replaced.append(number)
    finish(place)
  }

  private mutating func finish(_ place: Int32) {
    lines.places.append(place)
    ends.append(body.count)
  }

  /// The finished answer, shown to the observer.
  /// - Parameter refreshed: how the lines were written, if not from the market's last state.
  package mutating func response(
    of market: SimulatedMarket, refreshed: (any Sendable)? = nil
  ) -> SimulatedResponse {
    lines.refreshed = refreshed
    var response = SimulatedResponse(body: body)
    let isServed = faults?.damage(&response, lines: &lines, ends: ends) ?? true
    if isServed { response.ticket = observer?.observed(lines, of: market) }
    return response
  }
}

/// The lines of one answer, for who observes the day.
package struct ServedLines {
  /// Instruments in the order of the answer.
  package var places: [Int32]
  /// Those whose lines are damaged beyond belief, replaced or missing.
  package var invalid: Set<Int32> = []
  /// The numbers of the lines that stand in the place of others.
  package var replaced: [Int] = []
  /// How the lines were written, as their source knows it; nil if they are those of the market's
  /// last state, with its stamps.
  package var refreshed: (any Sendable)?

  package init(
    places: [Int32], invalid: Set<Int32> = [], replaced: [Int] = [],
    refreshed: (any Sendable)? = nil
  ) {
    self.places = places
    self.invalid = invalid
    self.replaced = replaced
    self.refreshed = refreshed
  }
}
