import Market

/// An order on paper, as it was placed. It never changes but for its instrument's code: an exchange
/// without amendments has cancellations and new orders, and so has this.
package struct Order: Sendable, Hashable {
  /// Ascending in the order of acceptance, over all accounts.
  package let id: Int64
  package let account: Int64
  package private(set) var symbol: Symbol
  package let side: Side
  package let kind: OrderKind
  package let timeInForce: TimeInForce
  /// Shares or units.
  package let quantity: ExactDecimal
  /// The worst price it may be filled at. Of a market order its protection, which may be left out.
  package let limit: ExactDecimal?
  /// The last price that releases a stop order.
  package let stop: ExactDecimal?
  package let origin: Origin

  /// Who placed it: the transaction log distinguishes them.
  package enum Origin: String, Sendable, CaseIterable {
    case person
    case queuePurchase = "queue_purchase"
  }

  package init(
    id: Int64, account: Int64, symbol: Symbol, side: Side, kind: OrderKind,
    timeInForce: TimeInForce = .day, quantity: ExactDecimal, limit: ExactDecimal? = nil,
    stop: ExactDecimal? = nil, origin: Origin = .person
  ) {
    self.id = id
    self.account = account
    self.symbol = symbol
    self.side = side
    self.kind = kind
    self.timeInForce = timeInForce
    self.quantity = quantity
    self.limit = limit
    self.stop = stop
    self.origin = origin
  }

  package func renamed(to symbol: Symbol) -> Order {
    var order = self
    order.symbol = symbol
    return order
  }
}

/// Raw values of this one and of those below are names in the database and in APIs.
package enum Side: String, Sendable, CaseIterable {
  case buy, sell

  package var name: String { rawValue }

  /// Whether an order with that limit would trade at `price`.
  func reaches(_ price: ExactDecimal, from limit: ExactDecimal) -> Bool {
    self == .buy ? price <= limit : price >= limit
  }
}

/// What an order asks of the book. Which exchange accepts which is a table of `Rules`.
package enum OrderKind: String, Sendable, CaseIterable {
  case limit
  /// Meets the best five levels; the rest is cancelled.
  case fiveBestThenCancel = "five_best_then_cancel"
  /// Meets the best five levels; the rest stays, at the price of the last fill.
  case fiveBestThenLimit = "five_best_then_limit"
  /// A limit order at the best price of its own side.
  case ownBest = "own_best"
  /// A limit order at the best price of the other side.
  case oppositeBest = "opposite_best"
  /// Meets what stands there; the rest is cancelled.
  case immediateOrCancel = "immediate_or_cancel"
  /// Whole and at once, or cancelled.
  case allOrCancel = "all_or_cancel"
  /// A market order from when the last price reaches `stop`.
  case stop
  /// A limit order from when the last price reaches `stop`.
  case stopLimit = "stop_limit"

  package var name: String { rawValue }

  /// Whether it is priced by the book that it meets.
  package var isMarket: Bool {
    switch self {
    case .limit, .stop, .stopLimit: false
    case .fiveBestThenCancel, .fiveBestThenLimit, .ownBest, .oppositeBest, .immediateOrCancel,
      .allOrCancel:
      true
    }
  }

  package var isStop: Bool { self == .stop || self == .stopLimit }
}

package enum TimeInForce: String, Sendable, CaseIterable {
  /// Until the close of its trading day.
  case day
  /// Enters the book again on every trading day until it is cancelled.
  case goodTillCancelled = "gtc"
  case immediateOrCancel = "ioc"
  case fillOrKill = "fok"

  package var name: String { rawValue }

  /// Whether what is left after the first look at the book is cancelled.
  package var isImmediate: Bool { self == .immediateOrCancel || self == .fillOrKill }
}

/// How far an order has come. A terminal state never changes.
package enum OrderState: String, Sendable, CaseIterable {
  /// Stored, not judged yet.
  case received
  /// A queue purchase that is armed, or a stop that was not reached.
  case held
  case accepted
  case partiallyFilled = "partially_filled"
  /// A cancellation waits for the end of the minutes that allow none.
  case pendingCancel = "pending_cancel"
  case filled, cancelled, expired, rejected
  /// A new order took its place.
  case replaced

  package var name: String { rawValue }

  /// A partly filled order becomes an accepted one again when its fills are reversed. One that was
  /// filled stays so: the reversal is of its account, and what it lacks is not ordered again.
  package var isTerminal: Bool {
    switch self {
    case .received, .held, .accepted, .partiallyFilled, .pendingCancel: false
    case .filled, .cancelled, .expired, .rejected, .replaced: true
    }
  }

  /// The three states of the app's documents.
  package var status: OrderStatus {
    isTerminal ? self == .filled ? .executed : .canceled : .open
  }
}

package enum OrderStatus: String, Sendable, CaseIterable {
  case open = "OPEN"
  case executed = "EXECUTED"
  case canceled = "CANCELED"
}
