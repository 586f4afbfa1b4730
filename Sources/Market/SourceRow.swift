/// A series of a source as the table `source` has it, with the market it is of.
package struct SourceRow: Sendable, Hashable {
  package var source: Source
  /// `alpaca_iex`.
  package var name: String
  package var market: MarketDefinition
  /// Whose instruments it speaks of.
  package var instruments: Source
  /// Of the series of one symbol the lowest is meant where none is named.
  package var priority: Int16
  /// Whether it has live quotes; else it has bars.
  package var hasQuotes: Bool
  /// Of which instruments its live quotes are booked; nil: of all.
  package var quotedKinds: [InstrumentKind: Set<Exchange>]?

  package init(
    source: Source, name: String, market: MarketDefinition, instruments: Source, priority: Int16,
    hasQuotes: Bool, quotedKinds: [InstrumentKind: Set<Exchange>]? = nil
  ) {
    self.source = source
    self.name = name
    self.market = market
    self.instruments = instruments
    self.priority = priority
    self.hasQuotes = hasQuotes
    self.quotedKinds = quotedKinds
  }
}
