import Market

/// One answer of Sina's quotes in the making.
package struct SinaBatch {
  private var lines: LineBatch

  package init(faults: (any ResponseFaults)?, observer: (any DayObserver)?) {
    lines = LineBatch(faults: faults, observer: observer)
  }

  package mutating func append(_ symbol: Symbol, of market: inout SimulatedMarket) {
    guard let place = market.place(of: symbol) else {
      return SinaOverview.appendLine(symbol, of: market, to: &lines.body)
    }
    let start = lines.body.count
    market.appendLine(at: place, to: &lines.body)
    let number = lines.observer?.replaceLine(
      at: place, of: &market, in: &lines.body, from: start)
    if let number {
      lines.finishReplacedLine(of: place, number: number)
    } else {
      lines.finishLine(of: place, from: start, state: market.states[Int(place)], in: market)
    }
  }

  /// The finished answer, shown to the observer.
  package mutating func response(of market: SimulatedMarket) -> SimulatedResponse {
    lines.response(of: market)
  }
}
