import Market

/// Factors that the exchange's previous close contradicts, of the last days: what is older has been
/// looked at, or never will be.
package struct ContradictedFactors: Sendable, Hashable {
  package var instruments = 0
  /// The newest day from which one would hold; nil where there is none.
  package var lastDay: TradingDay?

  package static let daysKept = 30

  package init() {}
}
