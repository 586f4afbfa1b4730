import Market

/// What a corporate action gives for each share that was held when its ex-day began.
package struct CorporateActionTerms: Sendable, Hashable {
  package enum Kind: String, Sendable, CaseIterable {
    /// Cash.
    case dividend
    /// Shares: 0.3 for 3 per 10, 1 for a split in two, -0.9 where ten become one.
    case bonus
  }

  package let kind: Kind
  package let perShare: ExactDecimal

  package static let placesMax: UInt8 = 9
  private static let perShareMax = ExactDecimal(10_000)

  /// nil where it would give nothing, take all, or has more digits than any announcement.
  package init?(_ kind: Kind, perShare: ExactDecimal) {
    let isSome =
      kind == .dividend
      ? perShare.isPositive : !perShare.isZero && perShare > ExactDecimal(-1)
    guard isSome, perShare <= Self.perShareMax, perShare.normalized.scale <= Self.placesMax else {
      return nil
    }
    self.kind = kind
    self.perShare = perShare
  }

  /// Cash to the cent, or whole shares: a part of a share is lost.
  /// - Returns: nil where nothing is due.
  package func amount(for held: ExactDecimal) -> ExactDecimal? {
    guard held.isPositive, let product = try? held * perShare else { return nil }
    let amount: ExactDecimal?
    switch kind {
    case .dividend: amount = product.rounded(places: LedgerOrder.cashPlaces)
    case .bonus: amount = try? ExactDecimal((held + product).wholeShares) - held
    }
    return amount.flatMap { $0.isZero ? nil : $0 }
  }
}
