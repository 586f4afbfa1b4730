import Market

/// What happens to an account, as the database has it.
package struct LedgerEvent: Sendable, Hashable {
  package enum Kind: String, Sendable {
    case deposit, withdrawal, acceptance, fill
    /// Cancelled, expired or replaced: what is frozen for the rest is free again.
    case end
    /// A trading day begins: what was bought before may be sold.
    case settlement
    /// Cash, or shares, for all shares held; shares are negative where they are merged.
    case dividend, bonus
    /// Shares that become others: the same under another code, or those of a successor.
    case rename, merger, conversion
    /// A fill whose snapshots were taken back; without an order, a corporate action that was.
    case reversal
  }

  package let kind: Kind
  package var orderID: Int64?
  /// Of a fill.
  package var quantity: ExactDecimal?
  package var price: ExactDecimal?
  package var depositType: DepositType?
  /// The posting that a reversal takes back.
  package var refersTo: Int64?

  package static func fill(order: Int64, quantity: ExactDecimal, price: ExactDecimal) -> Self {
    Self(kind: .fill, orderID: order, quantity: quantity, price: price)
  }

  package static func reversal(order: Int64?, of posting: Int64) -> Self {
    Self(kind: .reversal, orderID: order, refersTo: posting)
  }
}

/// How money is paid in.
package enum DepositType: String, Sendable, CaseIterable {
  case applePay = "ApplePay"
  case linePay = "LinePay"
  case bank = "Bank"
}

/// Why something is not booked.
package enum LedgerRefusal: Error, Sendable, Hashable {
  /// A book of the account's own would fall below 0.
  case overdrawn(Book, balance: ExactDecimal, change: ExactDecimal)
  case unknownOrder(Int64)
  case duplicateOrder(Int64)
  /// More than the order has left, or at a price worse than its limit.
  case beyondOrder(Int64)
  /// The posting is a fill of an earlier day.
  case final(Int64)
  /// Not positive, or finer than the unit.
  case invalidAmount(ExactDecimal)
  case overflow

  /// For programs.
  package var code: String {
    switch self {
    case .overdrawn(let book, _, _): book.unit == .cash ? "funds" : "shares"
    case .unknownOrder: "unknown_order"
    case .duplicateOrder: "duplicate_order"
    case .beyondOrder: "beyond_order"
    case .final: "final"
    case .invalidAmount: "amount"
    case .overflow: "overflow"
    }
  }
}

extension LedgerRefusal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .overdrawn(let book, let balance, let change):
      "\(book.unit.text) \(book.kind.rawValue) is \(balance), too little for \(change)"
    case .unknownOrder(let id): "there is no open order \(id)"
    case .duplicateOrder(let id): "there is an order \(id) already"
    case .beyondOrder(let id): "more or worse than order \(id) allows"
    case .final(let posting): "posting \(posting) is of an earlier day: its fill is final"
    case .invalidAmount(let amount): "\(amount) is no amount: expected one above 0, to the cent"
    case .overflow: "an amount has more than 18 digits"
    }
  }
}
