import Market
import PaperTrading
import Postgres

/// How far the broker had come when it wrote last.
package struct BrokerCursor: Sendable, Hashable {
  package var quoteSequence: Int64
  /// nil before the first day.
  package var day: TradingDay?
  package var newestOrder: Int64
  package var newestPurchase: Int64
}

/// Whose an account is, and what is traded with it.
package struct BrokerAccount: Sendable, Hashable {
  package var id: Int64
  package var userID: Int64
  package var market: String
  package var isClosed: Bool
}

/// What a broker goes on from: all of it is in the database.
extension BrokerTable {
  private static let readState = Statement(
    name: "read_broker_state",
    sql: """
      select
        quote_sequence, trading_day, coalesce((select max(id) from paper_order), 0),
        coalesce((select max(id) from queue_purchase), 0)
      from broker_cursor
      """)

  package func cursor() throws(AppStoreError) -> BrokerCursor {
    let rows = try read(Self.readState) { (row) throws(StoreError) in
      BrokerCursor(
        quoteSequence: try row.int64(), day: try row.optionalDay(), newestOrder: try row.int64(),
        newestPurchase: try row.int64())
    }
    return rows.first
      ?? BrokerCursor(quoteSequence: 0, day: nil, newestOrder: 0, newestPurchase: 0)
  }

  /// Open orders, and those that ended on the day.
  private static let readOrders = Statement(
    name: "read_broker_orders",
    sql: """
      select
        \(LedgerTable.orderColumns), command_id, queue_purchase_id, accepted_at, state, symbol,
        coalesce((select max(sequence) from fill where order_id = id), 0),
        coalesce((select max(sequence) from order_event where order_id = id), 0)
      from paper_order
      where state in ('held', 'accepted', 'partially_filled', 'pending_cancel')
        or trading_day = $1::date
      order by id
      """)

  /// - Returns: each with the newest number of its fills, and of its events.
  package func orders(
    on day: TradingDay
  ) throws(AppStoreError) -> [(row: OrderRow, fills: Int32, events: Int32)] {
    return try read(Self.readOrders, with: [.day(day)]) { (row) throws(StoreError) in
      let ledger = try row.ledgerOrder()
      let (command, purchase) = (try row.optionalInt64(), try row.optionalInt64())
      var order = OrderRow(
        ledger: ledger, commandID: command, acceptedAt: try row.timestamp(),
        state: try row.named(\OrderState.name))
      order.queuePurchaseID = purchase
      order.orderedAs = try row.symbol()
      return (order, try row.int32(), try row.int32())
    }
  }

  private static let readFills = Statement(
    name: "read_broker_fills",
    sql: """
      select f.order_id, f.evidence, f.posting_sequence, f.quantity, f.price, f.trading_day
      from fill f
      join paper_order o on o.id = f.order_id
      where o.trading_day = $1::date
        and f.trading_day = $1::date
        and not \(LedgerTable.reversal(of: "f", by: "posting_sequence"))
      """)

  /// The fills of the day that were not taken back.
  package func fills(
    on day: TradingDay
  ) throws(AppStoreError) -> [(orderID: Int64, evidence: String, posting: Posting)] {
    return try read(Self.readFills, with: [.day(day)]) { (row) throws(StoreError) in
      let (order, evidence, sequence) = (try row.int64(), try row.text(), try row.int64())
      let event = LedgerEvent.fill(
        order: order, quantity: try row.numeric(), price: try row.numeric())
      let posting = Posting(
        sequence: sequence, event: event, tradingDay: try row.day(), entries: [])
      return (order, evidence, posting)
    }
  }

  private static let readPurchases = Statement(
    name: "read_broker_purchases",
    sql: """
      select
        id, account_id, command_id, symbol, quantity, trigger, state, reason, changed_at,
        (select body from command where id = command_id)
      from queue_purchase
      where state in ('armed', 'ordered')
      order by id
      """)

  /// Purchases that are armed, or whose order is open.
  package func purchases() throws(AppStoreError) -> [PurchaseRow] {
    try read(Self.readPurchases) { (row) throws(StoreError) in
      let (id, account, command) = (try row.int64(), try row.int64(), try row.int64())
      let (symbol, quantity, text) = (try row.symbol(), try row.numeric(), try row.text())
      guard let terms = PurchaseTerms(text: text) else { throw row.malformed() }
      var purchase = PurchaseRow(
        purchase: QueuePurchase(
          id: id, account: account, symbol: symbol, quantity: quantity, terms: terms),
        commandID: command, state: try row.named(\PurchaseRow.State.rawValue),
        reason: try row.optionalText(), changedAt: try row.timestamp())
      if case .arm(let request)? = CommandRequest(text: try row.text()) {
        purchase.armedAs = request.symbol
      }
      return purchase
    }
  }

  private static let readPlaces = Statement(
    name: "read_order_places",
    sql: """
      select symbol, account_id, body
      from order_place
      order by symbol
      """)

  /// Of the broker's day.
  package func places() throws(AppStoreError) -> [PlaceRow] {
    try read(Self.readPlaces) { (row) throws(StoreError) in
      PlaceRow(symbol: try row.symbol(), accountID: try row.int64(), body: try row.bytes())
    }
  }

  private static let readAccounts = Statement(
    name: "read_broker_accounts",
    sql: """
      select id, user_id, market, closed_at is not null
      from account
      where id = any ($1::bigint[])
        or id in (select account_id from book where kind = 'today' and balance > 0)
          and cardinality($1::bigint[]) = 0
      """)

  /// - Parameter ids: empty for those that bought shares they may not sell yet.
  package func accounts(_ ids: [Int64]) throws(AppStoreError) -> [BrokerAccount] {
    return try read(Self.readAccounts, with: [.int64s(ids)]) { (row) throws(StoreError) in
      BrokerAccount(
        id: try row.int64(), userID: try row.int64(), market: try row.text(),
        isClosed: try row.bool())
    }
  }

  // MARK: Time

  private static let readTime = Statement(
    name: "read_server_time",
    sql: "select clock_timestamp(), current_setting('transaction_read_only')::boolean")

  /// The time that the server's clock shows.
  /// - Throws: also where the server has turned read-only under this session: whoever leads there
  ///   would never see the commands that are written elsewhere.
  package func serverTime() throws(AppStoreError) -> Timestamp {
    let times = try read(Self.readTime) { (row) throws(StoreError) -> Timestamp in
      let time = try row.timestamp()
      if try row.bool() { throw .turnedReadOnly(context: Self.context) }
      return time
    }
    guard let time = times.first else {
      throw .store(StoreError(.malformed, message: "the server has no time", context: Self.context))
    }
    return time
  }

  /// After a restored backup numbers are given again: of another epoch.
  package func beginEpoch() throws(AppStoreError) { try connection.beginEpoch() }

  /// From now on commands are notified to this connection.
  package func listen() throws(AppStoreError) {
    try connection.execute("listen candled_app_command", context: Self.context)
  }
}
