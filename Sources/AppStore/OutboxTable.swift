import Market
import PaperTrading
import Postgres

/// A row of the outbox: that something of a user happened.
package struct OutboxRow: Sendable, Hashable {
  /// The number among the rows of all users, in the order of commits.
  package var id: Int64
  package var userID: Int64
  /// The number among the user's rows, from 1 without a gap.
  package var number: Int64
  /// The newest one: after a restored backup the same numbers are given again.
  package var epoch: Int64
  package var content: Content

  package enum Content: Sendable, Hashable {
    case order(Int64, event: Int32)
    /// A command that was refused.
    case refusal(command: Int64)
    case notification(Int64)
  }
}

/// What happened to an order, and the order as it is now.
package struct OrderUpdate: Sendable, Hashable {
  package var order: OrderRecord
  /// `accepted`, `fill` and so on.
  package var kind: String
  package var at: Timestamp
  package var fill: Fill?
  /// Whether its account is the one of APIs that know only one: `AccountTable.main`.
  package var isOfMainAccount: Bool

  package struct Fill: Sendable, Hashable {
    package var price: ExactDecimal
    package var quantity: ExactDecimal
    /// What the order has filled, with this one.
    package var filledSoFar: ExactDecimal
    /// What the account holds of the symbol now.
    package var held: ExactDecimal
  }
}

/// An order that the broker refused.
package struct RefusedOrder: Sendable, Hashable {
  package var commandID: Int64
  /// As of an order that was rejected; its number is 0, for it never was one.
  package var record: OrderRecord
  package var refusal: CommandRefusal
  package var isOfMainAccount: Bool
}

/// The outbox: what streams of a user pass on, for those who read it in order.
package struct OutboxTable: AppTable {
  let connection: AppConnection
  static let context = "outbox"

  package init(_ connection: AppConnection) { self.connection = connection }

  // MARK: Rows

  private static let newestEpoch = "(select max(e.epoch) from epoch e)"
  private static let columns = "id, user_id, number, \(newestEpoch), kind, refers_to, part"

  private static let readLast = Statement(
    name: "read_outbox_cursor",
    sql: """
      select last_id
      from outbox_cursor
      """)

  /// The newest id; 0: there is none.
  package func last() throws(AppStoreError) -> Int64 {
    try numbers(Self.readLast).first ?? 0
  }

  private static let readNew = Statement(
    name: "read_outbox",
    sql: """
      select \(columns)
      from outbox
      where id > $1::bigint
      order by id
      limit $2::integer
      """)

  /// Rows of all users, oldest first.
  package func rows(after id: Int64, limit: Int32) throws(AppStoreError) -> [OutboxRow] {
    return try rows(Self.readNew, [.int64(id), .int32(limit)])
  }

  private static let readOfUser = Statement(
    name: "read_outbox_of_user",
    sql: """
      select \(columns)
      from outbox
      where user_id = $1::bigint
        and number > $2::bigint
      order by number
      limit $3::integer
      """)

  /// Rows of one user, oldest first.
  package func rows(
    of userID: Int64, after number: Int64, limit: Int32
  ) throws(AppStoreError) -> [OutboxRow] {
    return try rows(Self.readOfUser, [.int64(userID), .int64(number), .int32(limit)])
  }

  private static let readLastOfUser = Statement(
    name: "read_last_of_outbox",
    sql: """
      select coalesce(max(number), 0), \(newestEpoch)
      from outbox
      where user_id = $1::bigint
      """)

  /// The newest number of a user, 0: there is none; and the epoch.
  package func end(
    of userID: Int64
  ) throws(AppStoreError) -> (number: Int64, epoch: Int64) {
    return try read(Self.readLastOfUser, with: [.int64(userID)]) { (row) throws(StoreError) in
      (try row.int64(), try row.int64())
    }.first ?? (0, 0)
  }

  private func rows(
    _ statement: Statement, _ parameters: [WireParameter]
  ) throws(AppStoreError) -> [OutboxRow] {
    try read(statement, with: parameters) { (row) throws(StoreError) in
      let (id, userID, number) = (try row.int64(), try row.int64(), try row.int64())
      let epoch = try row.int64()
      let (kind, thing, part) = (try row.text(), try row.int64(), try row.optionalInt32())
      let content: OutboxRow.Content
      switch (kind, part) {
      case ("order", let part?): content = .order(thing, event: part)
      case ("refusal", nil): content = .refusal(command: thing)
      case ("notification", nil): content = .notification(thing)
      default: throw row.malformed()
      }
      return OutboxRow(
        id: id, userID: userID, number: number, epoch: epoch, content: content)
    }
  }

  // MARK: Contents

  private static let readEvents = Statement(
    name: "read_outbox_events",
    sql: """
      select
        b.id, e.kind, e.at, o.account_id = \(AccountTable.main(ofUser: "b.user_id")),
        f.price, f.quantity, f.filled_so_far, (
          select coalesce(sum(balance), 0)
          from book
          where account_id = o.account_id
            and unit = coalesce(o.code, o.symbol)
            and kind in ('sellable', 'today', 'frozen'))
      from outbox b
      join order_event e on e.order_id = b.refers_to
        and e.sequence = b.part
      join paper_order o on o.id = e.order_id
      left join fill f on f.order_id = e.order_id
        and f.posting_sequence = e.posting_sequence
      where b.id = any ($1::bigint[])
        and b.kind = 'order'
      """)

  /// What happened to orders, by the id of the row.
  package func updates(_ rows: [OutboxRow]) throws(AppStoreError) -> [Int64: OrderUpdate] {
    var orderOfRow: [Int64: Int64] = [:]
    for row in rows {
      if case .order(let order, _) = row.content { orderOfRow[row.id] = order }
    }
    if orderOfRow.isEmpty { return [:] }
    let records = try OrderTable.orders(Set(orderOfRow.values).sorted(), over: connection)
    let orders = Dictionary(uniqueKeysWithValues: records.map { ($0.order.id, $0) })
    var updates: [Int64: OrderUpdate] = [:]
    let found = try read(Self.readEvents, with: [.int64s(orderOfRow.keys.sorted())]) {
      (row) throws(StoreError) in
      (
        id: try row.int64(), kind: try row.text(), at: try row.timestamp(),
        isMain: try row.bool(), fill: try row.updateFill()
      )
    }
    for event in found {
      guard let order = orderOfRow[event.id].flatMap({ orders[$0] }) else { continue }
      updates[event.id] = OrderUpdate(
        order: order, kind: event.kind, at: event.at, fill: event.fill,
        isOfMainAccount: event.isMain)
    }
    return updates
  }

  private static let readRefusals = Statement(
    name: "read_outbox_refusals",
    sql: """
      select
        b.id, c.id, c.account_id, c.idempotency_key, c.body, c.sent_at, c.answered_at, c.answer,
        c.account_id = \(AccountTable.main(ofUser: "b.user_id"))
      from outbox b
      join command c on c.id = b.refers_to
      where b.id = any ($1::bigint[])
        and b.kind = 'refusal'
      """)

  /// By id of the row: orders that were refused, but for those that a later version asked for.
  package func refusals(_ rows: [OutboxRow]) throws(AppStoreError) -> [Int64: RefusedOrder] {
    let ids = rows.filter { if case .refusal = $0.content { true } else { false } }.map(\.id)
    if ids.isEmpty { return [:] }
    let found = try read(Self.readRefusals, with: [.int64s(ids)]) { (row) throws(StoreError) in
      (try row.int64(), try row.refusedOrder())
    }
    return Dictionary(uniqueKeysWithValues: found).compactMapValues { $0 }
  }

  /// Notifications of the inbox, by their number.
  package func notifications(
    _ rows: [OutboxRow]
  ) throws(AppStoreError) -> [Int64: InboxItem] {
    let ids: [Int64] = rows.compactMap { row in
      guard case .notification(let id) = row.content else { return nil }
      return id
    }
    if ids.isEmpty { return [:] }
    let found = try NotificationTable(connection).notifications(ids)
    return Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0) })
  }
}

extension PostgresRow {
  fileprivate mutating func updateFill() throws(StoreError) -> OrderUpdate.Fill? {
    let (price, quantity, filled) = (
      try optionalNumeric(), try optionalNumeric(), try optionalNumeric()
    )
    let held = try numeric()
    guard let price, let quantity, let filled else { return nil }
    return OrderUpdate.Fill(price: price, quantity: quantity, filledSoFar: filled, held: held)
  }

  fileprivate mutating func refusedOrder() throws(StoreError) -> RefusedOrder? {
    let (id, account, key, body) = (try int64(), try int64(), try text(), try text())
    guard case .order(let request)? = CommandRequest(text: body) else { return nil }
    let (sentAt, answeredAt) = (try timestamp(), try timestamp())
    let order = Order(
      id: 0, account: account, symbol: request.symbol, side: request.side, kind: request.kind,
      timeInForce: request.timeInForce, quantity: request.quantity, limit: request.limit,
      stop: request.stop)
    let record = OrderRecord(
      order: order, state: .rejected, key: key, tradingDay: sentAt.shanghaiDay,
      acceptedAt: sentAt, updatedAt: answeredAt, filled: .zero)
    return RefusedOrder(
      commandID: id, record: record, refusal: CommandRefusal(text: try text()),
      isOfMainAccount: try bool())
  }
}
