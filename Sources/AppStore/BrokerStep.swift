import Market
import PaperTrading

/// What one step of the broker writes, all of it or nothing.
package struct BrokerStep: Sendable {
  /// In the order of execution.
  package var outcomes: [(commandID: Int64, outcome: CommandOutcome)] = []
  /// As they are after the step, each once.
  package var orders: [Int64: OrderRow] = [:]
  package var postings: [PostingRow] = []
  /// Corporate actions that were booked, taken back or tried, as they are after the step.
  package var actions: [Int64: CorporateAction] = [:]
  /// Of them: what became of instruments, for what else refers to these.
  package var successions: [CorporateAction] = []
  /// Accounts that are closed.
  package var closed: [Int64] = []
  package var fills: [FillRow] = []
  package var events: [OrderEventRow] = []
  /// The notices that users get, in order.
  package var notices: [TradingNotice] = []
  /// As they are after the step, each once.
  package var purchases: [Int64: PurchaseRow] = [:]
  /// Where open orders stand, for who goes on with them: behind `day`.
  package var places: [PlaceRow] = []
  /// Where open orders stand, for who looks at them.
  package var progress: [Int64: OrderProgress] = [:]
  /// A day that begins: places of earlier ones are of no use any more.
  package var day: TradingDay?

  /// Whether there is nothing to store: that quotes were looked at is none.
  package var isEmpty: Bool { places.isEmpty && progress.isEmpty && booksNothing }

  /// Whether all of it follows again from rows of the feed.
  package var booksNothing: Bool {
    outcomes.isEmpty && orders.isEmpty && postings.isEmpty && events.isEmpty && purchases.isEmpty
      && actions.isEmpty && closed.isEmpty && day == nil
  }

  package init() {}

  /// The sequence is given when the step is written.
  package mutating func finish(_ command: PendingCommand, _ result: CommandResult) {
    outcomes.append((command.id, CommandOutcome(sequence: 0, result: result)))
  }
}

package struct PostingRow: Sendable {
  package var accountID: Int64
  package var posting: Posting
  package var at: Timestamp
  /// The command of a deposit or a withdrawal.
  package var commandID: Int64?
  /// The corporate action of what is given by one.
  package var corporateActionID: Int64?
  package var description = ""
  /// Of shares that become others: what was paid for them.
  package var cost: ExactDecimal?

  package init(accountID: Int64, posting: Posting, at: Timestamp) {
    self.accountID = accountID
    self.posting = posting
    self.at = at
  }
}

package struct OrderRow: Sendable {
  package var ledger: LedgerOrder
  package var commandID: Int64?
  package var queuePurchaseID: Int64?
  package var acceptedAt: Timestamp
  package var state: OrderState
  /// The code under which it was ordered: a rename changes that of `ledger.placed`.
  package var orderedAs: Symbol
  /// What the fill model knows beside the fills, as it is shown.
  package var progress: OrderProgress?

  package init(ledger: LedgerOrder, commandID: Int64?, acceptedAt: Timestamp, state: OrderState) {
    self.ledger = ledger
    self.commandID = commandID
    self.acceptedAt = acceptedAt
    self.state = state
    orderedAs = ledger.placed.symbol
  }
}

/// Where the open orders of an account in an instrument stand.
package struct PlaceRow: Sendable {
  package var symbol: Symbol
  package var accountID: Int64
  /// `InstrumentTrading.takePlaces`.
  package var body: [UInt8]

  package init(symbol: Symbol, accountID: Int64, body: [UInt8]) {
    self.symbol = symbol
    self.accountID = accountID
    self.body = body
  }
}

package struct PurchaseRow: Sendable {
  package var purchase: QueuePurchase
  package var commandID: Int64
  package var state: State
  package var reason: String?
  package var changedAt: Timestamp
  /// The code for which it was armed: a rename changes that of `purchase`.
  package var armedAs: Symbol

  package enum State: String, Sendable, CaseIterable {
    case armed, ordered, filled, rejected, cancelled, expired

    package var isOpen: Bool { self == .armed || self == .ordered }
  }

  package init(
    purchase: QueuePurchase, commandID: Int64, state: State, reason: String? = nil,
    changedAt: Timestamp
  ) {
    self.purchase = purchase
    self.commandID = commandID
    self.state = state
    self.reason = reason
    self.changedAt = changedAt
    armedAs = purchase.symbol
  }
}

package struct FillRow: Sendable {
  /// The number among the order's fills, from 1.
  package var sequence: Int32
  package var posting: OrderPosting
  package var filledAt: Timestamp
  /// `FillEvidence.text`.
  package var evidence: String
  package var possibleSoFar: ExactDecimal?

  package init(
    sequence: Int32, posting: OrderPosting, filledAt: Timestamp, evidence: String
  ) {
    self.sequence = sequence
    self.posting = posting
    self.filledAt = filledAt
    self.evidence = evidence
  }
}

package struct OrderEventRow: Sendable {
  package var orderID: Int64
  /// The number among the order's events, from 1.
  package var sequence: Int32
  package var kind: Kind
  package var at: Timestamp
  package var postingSequence: Int64?

  package enum Kind: String, Sendable, CaseIterable {
    case accepted, released, fill, cancelled, expired, replaced, reversed, kept
    case pendingCancel = "pending_cancel"
    case heldAgain = "held_again"
  }

  package init(orderID: Int64, sequence: Int32, kind: Kind, at: Timestamp) {
    self.orderID = orderID
    self.sequence = sequence
    self.kind = kind
    self.at = at
  }
}
