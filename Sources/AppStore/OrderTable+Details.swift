import Market
import PaperTrading
import Postgres

/// What belongs to orders: fills, events, queue purchases.
extension OrderTable {
  private static let readFills = Statement(
    name: "read_fills_of_order",
    sql: """
      select
        f.sequence, f.price, f.quantity, f.amount, f.commission, f.stamp_duty, f.transfer_fee,
        f.filled_at, f.evidence, \(LedgerTable.reversal(of: "f", by: "posting_sequence"))
      from fill f
      join account a on a.id = f.account_id
      where f.order_id = $2::bigint
        and a.user_id = $1::bigint
      order by f.sequence
      limit \(fillsMax)
      """)

  /// Of an order, oldest first.
  package func fills(of order: Int64) throws(AppStoreError) -> [FillRecord] {
    return try read(Self.readFills, with: [.int64(userID), .int64(order)]) {
      (row) throws(StoreError) in
      FillRecord(
        sequence: try row.int32(), price: try row.numeric(), quantity: try row.numeric(),
        amount: try row.numeric(),
        fees: Fees(
          commission: try row.numeric(), stampDuty: try row.numeric(),
          transferFee: try row.numeric()),
        at: try row.timestamp(), evidence: try row.text(), isReversed: try row.bool())
    }
  }

  private static let readEvents = Statement(
    name: "read_events_of_order",
    sql: """
      select e.sequence, e.kind, e.at
      from order_event e
      join paper_order o on o.id = e.order_id
      join account a on a.id = o.account_id
      where e.order_id = $2::bigint
        and a.user_id = $1::bigint
      order by e.sequence
      limit \(fillsMax)
      """)

  /// What happened to an order, oldest first.
  package func events(of order: Int64) throws(AppStoreError) -> [OrderEventRecord] {
    return try read(Self.readEvents, with: [.int64(userID), .int64(order)]) {
      (row) throws(StoreError) in
      OrderEventRecord(sequence: try row.int32(), kind: try row.text(), at: try row.timestamp())
    }
  }

  // MARK: Queue purchases

  private static func readPurchases(_ name: String, page: String) -> Statement {
    Statement(
      name: name,
      sql: """
        with page as (
          select q.*
          from queue_purchase q
          join account a on a.id = q.account_id
          where a.user_id = $1::bigint
            and \(page)
        )
        select
          q.id, q.account_id, q.symbol, q.quantity, q.trigger, q.state, q.reason, q.changed_at, (
            select max(o.id)
            from paper_order o
            where o.queue_purchase_id = q.id)
        from page q
        order by q.id desc
        """)
  }

  private static let readPurchase = readPurchases(
    "read_queue_purchase", page: "q.id = $2::bigint")
  private static let readPurchasesOfAccount = readPurchases(
    "read_queue_purchases",
    page: """
      q.account_id = $2::bigint
            and ($3::boolean is false or q.state in ('armed', 'ordered'))
          order by q.id desc
          limit $4::bigint
          offset $5::bigint
      """)

  package func purchase(_ id: Int64) throws(AppStoreError) -> QueuePurchaseRecord? {
    return try purchases(Self.readPurchase, [.int64(userID), .int64(id)]).first
  }

  /// A page of an account's, newest first.
  /// - Parameter isOpen: only those that wait for their trigger or in the queue.
  package func purchases(
    of account: Int64, isOpen: Bool, limit: Int, offset: Int
  ) throws(AppStoreError) -> [QueuePurchaseRecord] {
    return try purchases(
      Self.readPurchasesOfAccount,
      [
        .int64(userID), .int64(account), .bool(isOpen), .int64(Int64(min(limit, Self.ordersMax))),
        .int64(Int64(offset)),
      ])
  }

  private func purchases(
    _ statement: Statement, _ parameters: [WireParameter]
  ) throws(AppStoreError) -> [QueuePurchaseRecord] {
    try read(statement, with: parameters) { (row) throws(StoreError) in
      let (id, account, symbol) = (try row.int64(), try row.int64(), try row.symbol())
      let (quantity, trigger) = (try row.numeric(), try row.text())
      guard let terms = PurchaseTerms(text: trigger) else { throw row.malformed() }
      return QueuePurchaseRecord(
        id: id, accountID: account, symbol: symbol, quantity: quantity, terms: terms,
        state: try row.text(), reason: try row.optionalText(), changedAt: try row.timestamp(),
        orderID: try row.optionalInt64())
    }
  }
}
