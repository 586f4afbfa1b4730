import Market
import PaperTrading
import Postgres

/// Orders of one user's accounts, to be read. Each statement takes a page by an index first, and
/// joins to that.
package struct OrderTable: AppTable {
  let connection: AppConnection
  let userID: Int64
  static let context = "orders"

  package static let ordersMax = 500
  package static let pagesMax = 1_000
  /// How far orders are counted.
  package static let countMax = 10_000
  package static let fillsMax = 1_000

  package init(_ connection: AppConnection, userID: Int64) {
    self.connection = connection
    self.userID = userID
  }

  /// The number of the order in `CommandRequest.text` of a replacement. An index has it so.
  private static let replaced = "'^replace order=([0-9]+)'"

  private static func query(_ name: String, page: String, order: String = "desc") -> Statement {
    Statement(
      name: name,
      sql: """
        with page as (
          select o.*
          from paper_order o
          \(page)
        )
        select
          o.id, o.account_id, coalesce(o.code, o.symbol), o.side, o.kind, o.time_in_force,
          o.quantity, o.limit_price, o.stop_price, o.queue_purchase_id, o.state,
          coalesce(c.idempotency_key, 'queue-purchase-' || o.queue_purchase_id), o.trading_day,
          o.accepted_at, coalesce(e.at, o.accepted_at), o.filled, f.quantity, f.amount, f.turnover,
          f.fees, f.at, f.possible, f.evidence, r.body,
          substring(c.body from \(replaced))::bigint,
          case
            when o.state = 'replaced' then (
              select n.id
              from command s
              join paper_order n on n.command_id = s.id
              where s.kind = 'replace'
                and s.outcome = 'done'
                and substring(s.body from \(replaced)) = o.id::text)
          end
        from page o
        left join command c on c.id = o.command_id
        left join order_progress r on r.order_id = o.id
        cross join lateral (
          select max(at) as at
          from order_event
          where order_id = o.id
        ) e
        cross join lateral (
          select
            sum(quantity) as quantity, sum(amount) as amount, sum(price * quantity) as turnover,
            sum(commission + stamp_duty + transfer_fee) as fees, max(filled_at) as at,
            (array_agg(possible_so_far order by sequence desc))[1] as possible,
            (array_agg(evidence order by sequence desc))[1] as evidence
          from fill f
          where order_id = o.id
            and not \(LedgerTable.reversal(of: "f", by: "posting_sequence"))
        ) f
        order by o.id \(order)
        """)
  }

  private static let ofUser = "(select id from account where user_id = $1::bigint)"

  private static let readSome = query(
    "read_paper_orders",
    page: """
      where o.id = any ($2::bigint[])
        and o.account_id in \(ofUser)
      """)

  private static let readAny = query(
    "read_paper_orders_of_all", page: "where o.id = any ($1::bigint[])")

  /// Of any users, for who passes on to each what is that user's.
  static func orders(
    _ ids: [Int64], over connection: AppConnection
  ) throws(AppStoreError) -> [OrderRecord] {
    return try connection.read(readAny, with: [.int64s(ids)], context: context) {
      (row) throws(StoreError) in try row.orderRecord()
    }
  }

  private static let readByKey = query(
    "read_paper_order_by_key",
    page: """
      join command c on c.id = o.command_id
      where c.account_id = $2::bigint
        and c.idempotency_key = $3::text
        and o.account_id in \(ofUser)
      """)

  /// - Returns: nil where the user has none of that number.
  package func order(_ id: Int64) throws(AppStoreError) -> OrderRecord? {
    try orders([id]).first
  }

  /// Of these numbers, newest first.
  package func orders(_ ids: [Int64]) throws(AppStoreError) -> [OrderRecord] {
    return try orders(Self.readSome, [.int64(userID), .int64s(ids)])
  }

  package func order(key: String, in account: Int64) throws(AppStoreError) -> OrderRecord? {
    return try orders(Self.readByKey, [.int64(userID), .int64(account), .text(key)]).first
  }

  // MARK: Lists

  private static let filter = """
    where o.account_id in \(ofUser)
      and o.account_id = $2::bigint
      and ($3::text[] is null or o.state = any ($3::text[]))
      and (
        $4::text[] is null
        or coalesce(o.code, o.symbol) = any ($4::text[])
        -- Those that ended under the code of before.
        or o.symbol in (
          select a.symbol
          from corporate_action a
          where a.kind = 'rename'
            and a.booked_on is not null
            and a.withdrawn_at is null
            and a.successor = any ($4::text[])))
      and ($5::text is null or o.side = $5::text)
      and ($6::timestamptz is null or o.accepted_at > $6::timestamptz)
      and ($7::timestamptz is null or o.accepted_at < $7::timestamptz)
    """

  private static let readNewest = list("read_newest_orders", order: "desc")
  private static let readOldest = list("read_oldest_orders", order: "asc")

  private static func list(_ name: String, order: String) -> Statement {
    query(
      name,
      page: """
        \(filter)
        order by o.id \(order)
        limit $8::bigint
        offset $9::bigint
        """, order: order)
  }

  private static let countAll = Statement(
    name: "count_orders",
    sql: """
      select count(*)
      from (
        select
        from paper_order o
        \(filter)
        limit \(countMax)
      ) s
      """)

  /// A page of an account's orders.
  package func orders(
    of account: Int64, filter: OrderFilter, limit: Int, offset: Int = 0
  ) throws(AppStoreError) -> [OrderRecord] {
    let page: [WireParameter] = [
      .int64(Int64(min(limit, Self.ordersMax))), .int64(Int64(offset)),
    ]
    return try orders(
      filter.isOldestFirst ? Self.readOldest : Self.readNewest,
      parameters(account, filter: filter) + page)
  }

  /// How many there are; `countMax` at most.
  package func count(of account: Int64, filter: OrderFilter) throws(AppStoreError) -> Int {
    let counts = try numbers(Self.countAll, with: parameters(account, filter: filter))
    return Int(counts.first ?? 0)
  }

  private func parameters(_ account: Int64, filter: OrderFilter) -> [WireParameter] {
    [
      .int64(userID), .int64(account), .texts(filter.states?.map(\.name)),
      .texts(filter.symbols?.map(\.description)), .text(filter.side?.name),
      .timestamp(filter.after), .timestamp(filter.until),
    ]
  }

  private func orders(
    _ statement: Statement, _ parameters: [WireParameter]
  ) throws(AppStoreError) -> [OrderRecord] {
    try read(statement, with: parameters) { (row) throws(StoreError) in
      try row.orderRecord()
    }
  }
}

extension PostgresRow {
  /// The columns of `OrderTable.query`.
  fileprivate mutating func orderRecord() throws(StoreError) -> OrderRecord {
    let (id, account, symbol) = (try int64(), try int64(), try symbol())
    let (side, kind, force) = (
      try named(\Side.name), try named(\OrderKind.name), try named(\TimeInForce.name)
    )
    let (quantity, limit, stop) = (try numeric(), try optionalNumeric(), try optionalNumeric())
    let purchase = try optionalInt64()
    let order = Order(
      id: id, account: account, symbol: symbol, side: side, kind: kind, timeInForce: force,
      quantity: quantity, limit: limit, stop: stop,
      origin: purchase == nil ? .person : .queuePurchase)
    let (state, key, day) = (try named(\OrderState.name), try text(), try day())
    var record = OrderRecord(
      order: order, state: state, key: key, queuePurchaseID: purchase, tradingDay: day,
      acceptedAt: try timestamp(), updatedAt: try timestamp(), filled: try numeric(),
      execution: try execution())
    // The place is written with every row, a fill's figure once.
    let progress = try optionalText().flatMap { OrderProgress(text: $0) }
    let possible = progress?.possible ?? record.execution?.possible
    record.possible = possible.map { max($0, record.filled) }
    (record.replaces, record.replacedBy) = (try optionalInt64(), try optionalInt64())
    record.ahead = progress?.ahead
    return record
  }

  private mutating func execution() throws(StoreError) -> OrderExecution? {
    let (quantity, amount, turnover, fees) = (
      try optionalNumeric(), try optionalNumeric(), try optionalNumeric(), try optionalNumeric()
    )
    let (at, possible, evidence) = (
      try optionalTimestamp(), try optionalNumeric(), try optionalText()
    )
    guard let quantity, let amount, let turnover, let fees, let at, let evidence else { return nil }
    return OrderExecution(
      quantity: quantity, amount: amount, turnover: turnover, fees: fees, lastAt: at,
      possible: possible, evidence: evidence)
  }
}
