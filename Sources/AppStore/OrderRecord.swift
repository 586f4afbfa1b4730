import Market
import PaperTrading

/// An order, and what became of it, as its user sees it.
package struct OrderRecord: Sendable, Hashable {
  package var order: Order
  package var state: OrderState
  /// The key under which it was sent; of a queue purchase's, a name made of that.
  package var key: String
  package var queuePurchaseID: Int64?
  package var tradingDay: TradingDay
  package var acceptedAt: Timestamp
  package var updatedAt: Timestamp
  package var filled: ExactDecimal
  /// All fills that stand; nil where there is none.
  package var execution: OrderExecution?
  /// What some flow of orders would have given it so far; nil before it has met a book.
  package var possible: ExactDecimal?
  /// In the queue at the price limit: at most so many shares stand before it.
  package var ahead: Int64?
  /// The order that this one took the place of, and the one that took this one's.
  package var replaces: Int64?
  package var replacedBy: Int64?
}

/// The fills of an order, together.
package struct OrderExecution: Sendable, Hashable {
  package var quantity: ExactDecimal
  /// The money that its fills moved, to the cent.
  package var amount: ExactDecimal
  /// Price × quantity, exact.
  package var turnover: ExactDecimal
  package var fees: ExactDecimal
  package var lastAt: Timestamp
  /// What some flow of orders would have given so far; nil: not computed.
  package var possible: ExactDecimal?
  /// `FillEvidence.text` of the last one.
  package var evidence: String

  private static let pricePlaces: UInt8 = 6

  /// nil where it has more digits than a decimal.
  package var averagePrice: ExactDecimal? {
    (try? turnover.divided(by: quantity, scale: Self.pricePlaces))?.normalized
  }
}

/// A part of an order that was executed.
package struct FillRecord: Sendable, Hashable {
  package var sequence: Int32
  package var price: ExactDecimal
  package var quantity: ExactDecimal
  package var amount: ExactDecimal
  package var fees: Fees
  package var at: Timestamp
  package var evidence: String
  /// Its snapshots were taken back.
  package var isReversed: Bool
}

package struct OrderEventRecord: Sendable, Hashable {
  package var sequence: Int32
  package var kind: String
  package var at: Timestamp
}

/// Which orders of an account.
package struct OrderFilter: Sendable, Hashable {
  /// Any where nil.
  package var states: [OrderState]?
  package var symbols: [Symbol]?
  package var side: Side?
  /// Accepted later, or earlier, than then.
  package var after: Timestamp?
  package var until: Timestamp?
  package var isOldestFirst = false

  package init(states: [OrderState]? = nil) { self.states = states }

  package static let open = OrderFilter(states: OrderState.allCases.filter { !$0.isTerminal })
}

/// A queue purchase, and the order that it became.
package struct QueuePurchaseRecord: Sendable, Hashable {
  package var id: Int64
  package var accountID: Int64
  package var symbol: Symbol
  package var quantity: ExactDecimal
  package var terms: PurchaseTerms
  /// `armed`, `ordered`, `filled`, `rejected`, `cancelled`, `expired`.
  package var state: String
  package var reason: String?
  package var changedAt: Timestamp
  package var orderID: Int64?
}
