import ExchangeSimulator
import Market

/// Lines of a market, without an exchange around it.
extension SimulatedMarket {
  /// The lines of `symbols`, in that order; an unknown symbol's is empty.
  package mutating func body(for symbols: [Symbol]) -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(symbols.count * LineTable.lineBytesTypical)
    for symbol in symbols {
      if let place = place(of: symbol) {
        appendLine(at: place, to: &body)
      } else {
        LineTable.appendEmptyLine(symbol.bytes, to: &body)
      }
    }
    return body
  }

  /// The lines of `symbols` as a server would send them, shown to `observer`.
  package mutating func body(for symbols: [Symbol], shownTo observer: any DayObserver) -> [UInt8] {
    var batch = LineBatch(faults: nil, observer: observer)
    for symbol in symbols { batch.append(symbol, of: &self) }
    return batch.response(of: self).body
  }

  /// The lines of all `symbols`, in their order: as `body(for: market.symbols)`, without a look-up.
  package mutating func bodyOfAll() -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(symbols.count * LineTable.lineBytesTypical)
    for place in symbols.indices { appendLine(at: Int32(place), to: &body) }
    return body
  }

  /// Appends a line of the instrument at `place` with the name, traits and numbers of `source`,
  /// as `state` has them.
  package func appendFalseLine(
    at place: Int32, source: Int32, state: InstrumentState, to body: inout [UInt8]
  ) {
    lineTable.append(
      state, traits: traits[Int(source)], symbol: symbols[Int(place)].bytes,
      name: listings[Int(source)].name, to: &body)
  }
}
