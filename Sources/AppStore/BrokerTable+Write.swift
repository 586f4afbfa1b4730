import Market
import PaperTrading
import Postgres

/// A step in the database: each table by one statement.
extension BrokerTable {
  /// Inside of `step`, once.
  package func write(_ step: BrokerStep) throws(AppStoreError) {
    if step.day != nil { try connection.execute(Self.emptyPlaces, context: Self.context) }
    try write(purchases: step.purchases)
    try write(orders: step.orders)
    try write(postings: step.postings)
    try write(actions: step.actions)
    try write(closed: step.closed)
    try write(fills: step.fills)
    try write(places: step.places)
    try write(progress: step.progress)
    for action in step.successions { try follow(action) }
    // They lock the outbox, for which alerts wait: nothing but the commit comes behind them.
    try write(events: step.events)
    try write(notices: step.notices)
    try write(outcomes: step.outcomes)
  }

  private static let emptyPlaces = "delete from order_place"

  private static let placeRows = Statement(
    name: "upsert_order_places",
    sql: """
      insert into order_place (symbol, account_id, body)
      select symbol, account_id, body
      from unnest($1::text[], $2::bigint[], $3::bytea[]) as added (symbol, account_id, body)
      on conflict (symbol, account_id) do update set body = excluded.body
      """)

  private func write(places: [PlaceRow]) throws(AppStoreError) {
    if places.isEmpty { return }
    try write(
      Self.placeRows,
      with: [
        .texts(places.map { "\($0.symbol)" }), .int64s(places.map(\.accountID)),
        .array(places, type: .bytea) { $0.bytes($1.body) },
      ])
  }

  private static let progressRows = RowInsertion(
    "upsert_order_progress", into: "order_progress", "order_id bigint, body text",
    key: "order_id", updating: ["body"])

  private func write(progress: [Int64: OrderProgress]) throws(AppStoreError) {
    try insert(Self.progressRows, progress) { ["\($0.key)", $0.value.text] }
  }

  private static let purchaseRows = RowInsertion(
    "upsert_queue_purchases", into: "queue_purchase",
    """
    id bigint, account_id bigint, command_id bigint, symbol text, quantity numeric, trigger text,
    state text, reason text?, changed_at moment
    """, key: "id", updating: ["symbol", "state", "reason", "changed_at"])

  private func write(purchases: [Int64: PurchaseRow]) throws(AppStoreError) {
    try insert(Self.purchaseRows, purchases.values) { row in
      let purchase = row.purchase
      return [
        "\(purchase.id)", "\(purchase.account)", "\(row.commandID)", "\(purchase.symbol)",
        "\(purchase.quantity)", purchase.terms.text, row.state.rawValue, row.reason.text,
        "\(row.changedAt.microseconds)",
      ]
    }
  }

  private static let orderRows = RowInsertion(
    "upsert_paper_orders", into: "paper_order",
    """
    id bigint, account_id bigint, command_id bigint?, queue_purchase_id bigint?, symbol text,
    side text, kind text, time_in_force text, quantity numeric, limit_price numeric?,
    stop_price numeric?, worst_price numeric?, settles_same_day boolean, trading_day date,
    accepted_at moment, state text, filled numeric, turnover numeric, commission numeric,
    stamp_duty numeric, transfer_fee numeric, frozen numeric, commission_rate numeric,
    commission_min numeric, code text?
    """, key: "id",
    updating: [
      "code", "trading_day", "state", "filled", "turnover", "commission", "stamp_duty",
      "transfer_fee", "frozen",
    ])

  private func write(orders: [Int64: OrderRow]) throws(AppStoreError) {
    let sorted = orders.values.sorted { $0.ledger.id < $1.ledger.id }
    try insert(Self.orderRows, sorted) { row in
      let (order, placed) = (row.ledger, row.ledger.placed)
      return [
        "\(order.id)", "\(placed.account)", row.commandID.text, row.queuePurchaseID.text,
        "\(row.orderedAs)", placed.side.name, placed.kind.name, placed.timeInForce.name,
        "\(placed.quantity)", placed.limit.text, placed.stop.text, order.worstPrice.text,
        "\(order.settlesSameDay)", "\(order.terms.day)", "\(row.acceptedAt.microseconds)",
        row.state.name, "\(order.filled)", "\(order.turnover)", "\(order.paid.commission)",
        "\(order.paid.stampDuty)", "\(order.paid.transferFee)", "\(order.frozen)",
        "\(order.schedule.commissionRate)", "\(order.schedule.commissionMin)",
        placed.symbol == row.orderedAs ? "" : "\(placed.symbol)",
      ]
    }
  }

  private static let postingRows = RowInsertion(
    "insert_postings", into: "posting",
    """
    account_id bigint, sequence bigint, kind text, at moment, trading_day date, command_id bigint?,
    order_id bigint?, corporate_action_id bigint?, refers_to bigint?, deposit_type text?,
    description text, cost numeric?
    """)

  private static let entryRows = RowInsertion(
    "insert_entries", into: "entry",
    """
    account_id bigint, posting_sequence bigint, line smallint, unit text, kind text,
    amount numeric, balance_after numeric
    """)

  private func write(postings: [PostingRow]) throws(AppStoreError) {
    var rows = TextColumns(Self.postingRows.columns)
    var entries = TextColumns(Self.entryRows.columns)
    for row in postings {
      let (account, posting) = ("\(row.accountID)", row.posting)
      rows.append(
        [
          account, "\(posting.sequence)", posting.event.kind.rawValue, "\(row.at.microseconds)",
          "\(posting.tradingDay)", row.commandID.text,
          posting.event.orderID.text, row.corporateActionID.text, posting.event.refersTo.text,
          posting.event.depositType?.rawValue ?? "", row.description, row.cost.text,
        ])
      for (line, entry) in posting.entries.enumerated() {
        entries.append(
          [
            account, "\(posting.sequence)", "\(line + 1)", entry.book.unit.text,
            entry.book.kind.rawValue, "\(entry.amount)", "\(entry.balanceAfter)",
          ])
      }
    }
    try run(Self.postingRows.statement, rows)
    try run(Self.entryRows.statement, entries)
  }

  private static let fillRows = RowInsertion(
    "insert_fills", into: "fill",
    """
    order_id bigint, sequence integer, account_id bigint, posting_sequence bigint, price numeric,
    quantity numeric, amount numeric, commission numeric, stamp_duty numeric,
    transfer_fee numeric, filled_at moment, trading_day date, evidence text,
    filled_so_far numeric, possible_so_far numeric?
    """)

  private func write(fills: [FillRow]) throws(AppStoreError) {
    var rows = TextColumns(Self.fillRows.columns)
    for row in fills {
      let (posting, fees, order) = (row.posting.posting, row.posting.fees, row.posting.order)
      guard let quantity = posting.event.quantity, let price = posting.event.price else { continue }
      rows.append(
        [
          "\(order.id)", "\(row.sequence)", "\(order.placed.account)", "\(posting.sequence)",
          "\(price)", "\(quantity)", "\(row.posting.amount)", "\(fees.commission)",
          "\(fees.stampDuty)", "\(fees.transferFee)", "\(row.filledAt.microseconds)",
          "\(posting.tradingDay)", row.evidence, "\(order.filled)", row.possibleSoFar.text,
        ])
    }
    try run(Self.fillRows.statement, rows)
  }

  private static let eventRows = RowInsertion(
    "insert_order_events", into: "order_event",
    "order_id bigint, sequence integer, kind text, at moment, posting_sequence bigint?")

  private func write(events: [OrderEventRow]) throws(AppStoreError) {
    try insert(Self.eventRows, events) { row in
      [
        "\(row.orderID)", "\(row.sequence)", row.kind.rawValue, "\(row.at.microseconds)",
        row.postingSequence.text,
      ]
    }
  }

  private static let answer = Statement(
    name: "answer_commands",
    sql: """
      update command c
      set
        sequence = a.sequence::bigint,
        outcome = a.outcome,
        answer = a.answer,
        answered_at = clock_timestamp()
      from \(TextColumns.unnest(4)) as a (id, sequence, outcome, answer)
      where c.id = a.id::bigint
      """)

  private func write(
    outcomes: [(commandID: Int64, outcome: CommandOutcome)]
  ) throws(AppStoreError) {
    var rows = TextColumns(4)
    for row in outcomes {
      rows.append(
        [
          "\(row.commandID)", "\(row.outcome.sequence)", row.outcome.isDone ? "done" : "refused",
          row.outcome.answer,
        ])
    }
    try run(Self.answer, rows)
  }

  func insert<Rows: Sequence>(
    _ insertion: RowInsertion, _ rows: Rows, values: (Rows.Element) -> [String]
  ) throws(AppStoreError) {
    var columns = TextColumns(insertion.columns)
    for row in rows { columns.append(values(row)) }
    try run(insertion.statement, columns)
  }

  func run(_ statement: Statement, _ rows: TextColumns) throws(AppStoreError) {
    if rows.count == 0 { return }
    let written = try write(statement, with: rows.parameters)
    guard written == rows.count else {
      throw .store(
        StoreError(
          .refused, message: "\(written) rows were written of \(rows.count)",
          context: Self.context))
    }
  }
}
