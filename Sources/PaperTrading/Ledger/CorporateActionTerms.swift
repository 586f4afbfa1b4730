import Market

/// What becomes of each share that was held when the ex-day of a corporate action began.
package struct CorporateActionTerms: Sendable, Hashable {
  package enum Kind: String, Sendable, CaseIterable {
    /// Cash.
    case dividend
    /// Shares: 0.3 for 3 per 10, 1 for a split in two, -0.9 where ten become one.
    case bonus
    /// The same share has another code.
    case rename
    /// Shares of another company.
    case merger
    /// Shares of the same company that are traded in another currency.
    case conversion

    package var event: LedgerEvent.Kind {
      switch self {
      case .dividend: .dividend
      case .bonus: .bonus
      case .rename: .rename
      case .merger: .merger
      case .conversion: .conversion
      }
    }
  }

  package let kind: Kind
  /// Cash, or shares: those of the successor where there is one.
  package let perShare: ExactDecimal
  /// What the shares become shares of; nil of a dividend and of a bonus.
  package private(set) var successor: Symbol?
  /// Paid for each share beside those of the successor.
  package private(set) var cash: ExactDecimal?

  package static let placesMax: UInt8 = 9
  private static let perShareMax = ExactDecimal(10_000)

  /// nil where it would give nothing, take all, or has more digits than any announcement.
  package init?(_ kind: Kind, perShare: ExactDecimal) {
    let isSome =
      kind == .bonus
      ? !perShare.isZero && perShare > ExactDecimal(-1) : perShare.isPositive
    guard isSome, perShare <= Self.perShareMax, perShare.normalized.scale <= Self.placesMax else {
      return nil
    }
    self.kind = kind
    self.perShare = perShare
  }

  /// nil where `init(_:perShare:)` is, or the cash is none.
  package init?(
    _ kind: Kind, into successor: Symbol, perShare: ExactDecimal, cash: ExactDecimal?
  ) {
    self.init(kind, perShare: perShare)
    if let cash, !cash.isPositive { return nil }
    self.successor = successor
    self.cash = cash
  }

  /// Cash to the cent, or whole shares: a part of a share is lost.
  /// - Returns: nil where nothing is due, and where the shares become others.
  package func amount(for held: ExactDecimal) -> ExactDecimal? {
    guard successor == nil, held.isPositive, let product = try? held * perShare else { return nil }
    let amount: ExactDecimal?
    if kind == .dividend {
      amount = product.rounded(places: LedgerOrder.cashPlaces)
    } else {
      amount = try? ExactDecimal((held + product).wholeShares) - held
    }
    return amount.flatMap { $0.isZero ? nil : $0 }
  }

  /// [RULE] Where all holders' parts of a share are cut off, shares are left over: the exchanges
  /// give one each to the largest parts until none is left (600150 for 601989, 2025-09). Over many
  /// holders that is one for each part of a half or more, which an account can know by itself.
  /// - Returns: nil where nothing is held, or nothing becomes of it.
  package func succession(of held: ExactDecimal) -> Succession? {
    guard let successor, held.isPositive, let given = try? held * perShare,
      let paid = try? held * (cash ?? .zero)
    else { return nil }
    return Succession(
      successor: successor, taken: held, given: given.rounded(places: 0),
      cash: paid.rounded(places: LedgerOrder.cashPlaces))
  }
}

/// Shares that become shares of another symbol, and the cash beside them.
package struct Succession: Sendable, Hashable {
  package let successor: Symbol
  package let taken: ExactDecimal
  package let given: ExactDecimal
  package let cash: ExactDecimal

  package init(
    successor: Symbol, taken: ExactDecimal, given: ExactDecimal, cash: ExactDecimal
  ) {
    self.successor = successor
    self.taken = taken
    self.given = given
    self.cash = cash
  }
}
