/// What is traded on paper at all: the one rule of the broker, and of APIs that show it beforehand.

import Market

extension Instrument {
  /// Whether orders of it are taken: of shares, funds and convertible bonds at the mainland's
  /// exchanges.
  package var isTradedOnPaper: Bool {
    Self.tradedKinds.contains(kind) && Self.tradedExchanges.contains(exchange)
  }

  private static let tradedKinds: Set = [InstrumentKind.stock, .fund, .convertibleBond]
  private static let tradedExchanges: Set = [Exchange.shanghai, .shenzhen, .beijing]
}
