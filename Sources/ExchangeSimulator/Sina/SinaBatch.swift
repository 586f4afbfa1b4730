import Market

/// One answer of Sina's quotes in the making.
struct SinaBatch {
  private var lines: LineBatch

  init(faults: (any ResponseFaults)?, observer: (any DayObserver)?) {
    lines = LineBatch(faults: faults, observer: observer)
  }

  mutating func append(_ symbol: Symbol, of market: inout SimulatedMarket) {
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
  mutating func response(of market: SimulatedMarket) -> SimulatedResponse {
    lines.response(of: market)
  }
}

extension SimulatedMarket {
  /// The lines of `symbols` as a server would send them, shown to `observer`.
  package mutating func body(for symbols: [Symbol], shownTo observer: any DayObserver) -> [UInt8] {
    var batch = SinaBatch(faults: nil, observer: observer)
    for symbol in symbols { batch.append(symbol, of: &self) }
    return batch.response(of: self).body
  }
}
