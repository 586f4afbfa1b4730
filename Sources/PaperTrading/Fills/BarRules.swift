import Market

/// One minute of a market without a published book, whole: of a minute that is missing or partial
/// there is none.
package struct MinuteBar: Sendable, Hashable {
  /// Its opening, and its row in the feed.
  package let stamp: SnapshotStamp
  package let open: ExactDecimal
  package let high: ExactDecimal
  package let low: ExactDecimal
  /// Of one exchange, a few percent of the market's.
  package let volume: ExactDecimal

  package init(
    stamp: SnapshotStamp, open: ExactDecimal, high: ExactDecimal, low: ExactDecimal,
    volume: ExactDecimal
  ) {
    self.stamp = stamp
    self.open = open
    self.high = high
    self.low = low
    self.volume = volume
  }
}

/// Fills by bars: an assumption, named as one on every fill, since nothing shows who stood where.
/// An order sees only bars that open after its acceptance.
package enum BarRules {
  /// What `order` gets of a bar: a market order at the bar's worst price, a limit order at its
  /// limit if the bar traded beyond it; no more than one share in a hundred.
  /// - Parameters:
  ///   - filled: of the order, before.
  ///   - taken: of this bar, by other orders of the account.
  package static func fill(
    _ order: Order, filled: ExactDecimal, taken: Int64 = 0, in bar: MinuteBar
  ) -> FillEvidence? {
    guard let price = price(of: order, in: bar) else { return nil }
    let evidence = FillEvidence(
      basis: .bar, side: order.side, after: bar.stamp,
      numbers: [
        .limit: order.limit ?? price, .price: price, .own: order.quantity, .filled: filled,
        .offered: bar.volume, .taken: ExactDecimal(taken), .high: bar.high, .low: bar.low,
      ])
    return FillRules.derive(evidence) == nil ? nil : evidence
  }

  /// Whether the bar releases a stop order, which then sees the bars behind it.
  package static func releases(_ order: Order, by bar: MinuteBar) -> Bool {
    guard order.kind.isStop, let stop = order.stop else { return false }
    return order.side == .buy ? bar.high >= stop : bar.low <= stop
  }

  /// Of a stop order: once it is released.
  private static func price(of order: Order, in bar: MinuteBar) -> ExactDecimal? {
    switch order.kind {
    case .market, .stop: return order.side == .buy ? bar.high : bar.low
    case .limit, .stopLimit:
      guard let limit = order.limit else { return nil }
      return (order.side == .buy ? bar.low < limit : bar.high > limit) ? limit : nil
    default: return nil
    }
  }
}
