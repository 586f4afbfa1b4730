import Market

/// Why an order is not accepted: the field, what it was and what it could be.
package struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable, CaseIterable {
    case instrument, kind
    case timeInForce = "time_in_force"
    case session, halted, quantity, lot, remainder, size, sellable, price, tick, band, cage
  }

  package let code: Code
  /// The field of the order that is wrong.
  package let field: String
  package let message: String

  package var description: String { "\(field): \(message)" }

  init(_ code: Code, field: String, _ message: String) {
    self.code = code
    self.field = field
    self.message = message
  }
}

/// What an accepted order may do.
package struct Acceptance: Sendable, Hashable {
  /// When the exchange takes it: now, or when its next phase that takes orders begins.
  package let entersAt: Int
  /// The worst price it can be filled at: its limit or, of a market order, the price limit. Cash
  /// for a purchase is frozen at this price.
  package let worstPrice: ExactDecimal?

  package init(entersAt: Int, worstPrice: ExactDecimal?) {
    self.entersAt = entersAt
    self.worstPrice = worstPrice
  }
}
