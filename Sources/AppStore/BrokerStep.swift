import Market
import PaperTrading

/// What one step of the broker writes, all of it or nothing.
package struct BrokerStep: Sendable {
  package var outcomes: [Outcome] = []
  /// As they are after the step, each once.
  package var orders: [Int64: OrderRow] = [:]
  package var postings: [PostingRow] = []
  package var fills: [FillRow] = []
  package var events: [OrderEventRow] = []
  /// Up to which change of the feed quotes were looked at; nil: as before.
  package var quoteSequence: Int64?

  package init() {}

  /// In the order of execution.
  package struct Outcome: Sendable {
    package var commandID: Int64
    package var outcome: CommandOutcome

    package init(commandID: Int64, outcome: CommandOutcome) {
      self.commandID = commandID
      self.outcome = outcome
    }
  }
}

package struct PostingRow: Sendable {
  package var accountID: Int64
  package var posting: Posting
  package var at: Timestamp
  package var feedSequence: Int64?
  /// Of a deposit or a withdrawal.
  package var commandID: Int64?
  /// Of a dividend or a bonus.
  package var corporateActionID: Int64?
  package var description = ""

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
  /// What the fill model keeps, as it writes it.
  package var progress: String?

  package init(ledger: LedgerOrder, commandID: Int64?, acceptedAt: Timestamp, state: OrderState) {
    self.ledger = ledger
    self.commandID = commandID
    self.acceptedAt = acceptedAt
    self.state = state
  }
}

package struct FillRow: Sendable {
  package var orderID: Int64
  /// Of the order's fills, from 1.
  package var sequence: Int32
  package var accountID: Int64
  package var posting: OrderPosting
  package var filledAt: Timestamp
  package var feedSequence: Int64
  /// `FillEvidence.text`.
  package var evidence: String
  package var possibleSoFar: ExactDecimal?

  package init(
    sequence: Int32, posting: OrderPosting, filledAt: Timestamp, feedSequence: Int64,
    evidence: String
  ) {
    orderID = posting.order.id
    accountID = posting.order.placed.account
    self.sequence = sequence
    self.posting = posting
    self.filledAt = filledAt
    self.feedSequence = feedSequence
    self.evidence = evidence
  }
}

package struct OrderEventRow: Sendable {
  package var orderID: Int64
  /// Of the order's events, from 1.
  package var sequence: Int32
  package var kind: Kind
  package var at: Timestamp
  package var feedSequence: Int64?
  package var postingSequence: Int64?

  package enum Kind: String, Sendable, CaseIterable {
    case accepted, fill, cancelled, expired, replaced, reversed
    case pendingCancel = "pending_cancel"
  }

  package init(orderID: Int64, sequence: Int32, kind: Kind, at: Timestamp) {
    self.orderID = orderID
    self.sequence = sequence
    self.kind = kind
    self.at = at
  }
}
