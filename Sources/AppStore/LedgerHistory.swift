import Market
import PaperTrading
import Postgres

/// A posting as it is stored, with what it says it follows from.
package struct HistoryPosting: Sendable {
  package var sequence: Int64
  package var kind: String
  package var day: TradingDay
  package var orderID: Int64?
  package var refersTo: Int64?
  /// The text of the command that it executes.
  package var body: String?
  package var actionID: Int64?
  package var cost: ExactDecimal?
  package var fill: HistoryFill?
  package var entries: [LedgerEntry] = []

  /// Whether it takes back what a corporate action gave.
  package var isActionReversal: Bool { kind == "reversal" && orderID == nil }
}

package struct HistoryFill: Sendable {
  package var evidence: String
  package var quantity: ExactDecimal
  package var price: ExactDecimal
  package var amount: ExactDecimal
  package var fees: Fees
}

package struct HistoryOrder: Sendable {
  package var ledger: LedgerOrder
  package var state: OrderState
  /// Under which code.
  package var orderedAs: Symbol
  /// The text of its command; nil for an order of a queue purchase.
  package var body: String?
}

/// Everything that is stored of accounts, for who derives it again.
package struct LedgerHistory: AppTable {
  let connection: AppConnection
  static let context = "verify"

  package init(_ connection: AppConnection) { self.connection = connection }

  private static let readAccounts = Statement(
    name: "history_accounts", sql: "select id from account order by id")

  package func accounts() throws(AppStoreError) -> [Int64] {
    try numbers(Self.readAccounts)
  }

  private static let readPostings = Statement(
    name: "history_postings",
    sql: """
      select
        p.sequence, p.kind, p.trading_day, p.order_id, p.refers_to, c.body, p.corporate_action_id,
        p.cost,
        f.evidence, f.quantity, f.price, f.amount, f.commission, f.stamp_duty, f.transfer_fee
      from posting p
      left join command c on c.id = p.command_id
      left join fill f on f.account_id = p.account_id
        and f.posting_sequence = p.sequence
      where p.account_id = $1::bigint
      order by p.sequence
      """)

  private static let readEntries = Statement(
    name: "history_entries",
    sql: """
      select posting_sequence, unit, kind, amount, balance_after
      from entry
      where account_id = $1::bigint
      order by posting_sequence, line
      """)

  /// Of one moment: a broker may run meanwhile.
  package func history(
    of account: Int64
  ) throws(AppStoreError) -> (orders: [HistoryOrder], postings: [HistoryPosting]) {
    try connection.inSnapshot { () throws(AppStoreError) in
      (try orders(of: account), try postings(of: account))
    }
  }

  private func postings(of account: Int64) throws(AppStoreError) -> [HistoryPosting] {
    let entries = try read(Self.readEntries, with: [.int64(account)]) { (row) throws(StoreError) in
      (
        try row.int64(),
        LedgerEntry(
          book: try row.ledgerBook(), amount: try row.numeric(), balanceAfter: try row.numeric())
      )
    }
    let ofPosting = Dictionary(grouping: entries, by: \.0)
    var postings = try read(Self.readPostings, with: [.int64(account)]) {
      (row) throws(StoreError) in try row.historyPosting()
    }
    for index in postings.indices {
      postings[index].entries = ofPosting[postings[index].sequence]?.map(\.1) ?? []
    }
    return postings
  }

  private static let readOrders = Statement(
    name: "history_orders",
    sql: """
      select
        \(LedgerTable.orderColumns), state, symbol,
        (select body from command where id = command_id)
      from paper_order
      where account_id = $1::bigint
      order by id
      """)

  private func orders(of account: Int64) throws(AppStoreError) -> [HistoryOrder] {
    try read(Self.readOrders, with: [.int64(account)]) { (row) throws(StoreError) in
      HistoryOrder(
        ledger: try row.ledgerOrder(), state: try row.named(\OrderState.name),
        orderedAs: try row.symbol(), body: try row.optionalText())
    }
  }
}

extension PostgresRow {
  fileprivate mutating func historyPosting() throws(StoreError) -> HistoryPosting {
    var posting = HistoryPosting(
      sequence: try int64(), kind: try text(), day: try day(), orderID: try optionalInt64(),
      refersTo: try optionalInt64(), body: try optionalText(),
      actionID: try optionalInt64(), cost: try optionalNumeric())
    guard let evidence = try optionalText() else { return posting }
    posting.fill = HistoryFill(
      evidence: evidence, quantity: try numeric(), price: try numeric(), amount: try numeric(),
      fees: Fees(commission: try numeric(), stampDuty: try numeric(), transferFee: try numeric()))
    return posting
  }
}
