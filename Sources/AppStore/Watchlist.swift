import Market

/// Instruments that a user follows, in the user's order.
package struct Watchlist: Sendable, Hashable {
  package var id: Int64
  package var name: String
  /// When it was made, and when its name or its symbols changed.
  package var createdAt: Timestamp
  package var updatedAt: Timestamp
  package var items: [WatchlistItem] = []

  func contains(_ symbol: Symbol) -> Bool { items.contains { $0.symbol == symbol } }
}

package struct WatchlistItem: Sendable, Hashable {
  package var symbol: Symbol
  package var triggers: PriceTriggers

  package init(symbol: Symbol, triggers: PriceTriggers = PriceTriggers()) {
    self.symbol = symbol
    self.triggers = triggers
  }
}

/// At or beyond which prices an instrument is highlighted.
package struct PriceTriggers: Sendable, Hashable {
  package var low: ExactDecimal?
  package var high: ExactDecimal?

  package init(low: ExactDecimal? = nil, high: ExactDecimal? = nil) {
    self.low = low
    self.high = high
  }

  /// What is wrong with them; nil if nothing is.
  package var fault: (field: String, expected: String)? {
    for (field, price) in [("low", low), ("high", high)] {
      if let price, !price.isPositive { return (field, "a price above 0") }
    }
    if let low, let high, low > high { return ("low", "a price that is not above high") }
    return nil
  }

  /// - Throws: `invalid`.
  func validate() throws(AppStoreError) {
    if let fault { throw .invalid(field: fault.field, expected: fault.expected) }
  }
}

/// One place of an order that replaces another.
package struct WatchlistEntry: Sendable, Hashable {
  package var symbol: Symbol
  /// nil keeps those that the symbol has.
  package var triggers: PriceTriggers?

  package init(symbol: Symbol, triggers: PriceTriggers? = nil) {
    self.symbol = symbol
    self.triggers = triggers
  }
}
