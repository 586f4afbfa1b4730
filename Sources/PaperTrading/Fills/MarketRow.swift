import Market

/// A row of the feed, with the legal prices of its day.
package struct MarketRow: Sendable, Hashable {
  package var snapshot: Snapshot
  /// nil where no limit applies, or it is not known.
  package var band: PriceBand?

  package init(_ snapshot: Snapshot, band: PriceBand?) {
    self.snapshot = snapshot
    self.band = band
  }

  package func traded(_ instrument: Instrument) -> TradedInstrument {
    let isKnown = PriceLimit.isKnown(for: instrument, on: snapshot.stamp.day)
    return TradedInstrument(
      instrument, statedLimits: band.map { .band($0) } ?? (isKnown ? .none : .unstated))
  }
}
