import Market

/// Shares that an order certainly got in one interval between two snapshots, at one price.
///
/// It is *pending* until the instrument's next accepted row confirms the interval, then *booked*. A
/// row that is taken out later reverses what was booked by it.
package struct Fill: Sendable, Hashable {
  package let order: Int64
  package let symbol: Symbol
  package let side: Side
  package let quantity: ExactDecimal
  package let price: ExactDecimal
  package let evidence: FillEvidence

  /// nil where nothing follows from the evidence.
  init?(order: Int64, symbol: Symbol, evidence: FillEvidence) {
    guard let fill = FillRules.derive(evidence) else { return nil }
    (self.order, self.symbol, side) = (order, symbol, evidence.side)
    (quantity, price, self.evidence) = (fill.quantity, fill.price, evidence)
  }

  /// The exchange's stamp of the snapshot that showed it.
  package var at: SnapshotStamp { evidence.after }
}

/// What the ledger is to do, in the order in which it happened.
package enum FillEvent: Sendable, Hashable {
  /// Shown and not booked: the next accepted row decides.
  case pending(Fill)
  /// A pending fill whose interval the next accepted row did not confirm.
  case dropped(Fill)
  case booked(Fill)
  /// A booked fill, of a row that was taken out since.
  case reversed(Fill)
  /// What is left of an order that meets the book once, or one that the exchange voids as it comes
  /// to it: then with the reason.
  case cancelled(order: Int64, reason: String? = nil)
  /// A stop order whose price was reached.
  case released(order: Int64)
  /// One that was released by a row that was taken out since.
  case heldAgain(order: Int64)

  package var order: Int64 {
    switch self {
    case .pending(let fill), .dropped(let fill), .booked(let fill), .reversed(let fill): fill.order
    case .cancelled(let order, _), .released(let order), .heldAgain(let order): order
    }
  }
}

/// The name of the rules that made a fill, stored with it.
package enum FillModel {
  package static let name = "certain"
  /// Raised whenever another fill could follow from the same evidence.
  package static let version: Int16 = 2
}

/// Which part of the model made a fill.
package enum FillBasis: String, Sendable, CaseIterable {
  /// Levels of the book that it met.
  case book
  /// Offers at its limit or better in a book in which none can stand beside it.
  case passive
  /// Volume that passed through its place in the queue of the limit price, where none stands before
  /// it at a better one.
  case limitQueue = "limit_queue"
  /// Offers that were left by an auction in which it took part, at one price.
  case auction
  /// A share of an auction that the order would have passed at a better price: assumed of an order
  /// that is small beside it.
  case smallOrder = "assumed:small_order"

  package var name: String { rawValue }
}
