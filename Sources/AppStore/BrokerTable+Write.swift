import Market
import PaperTrading
import Postgres

/// A step in the database: each table by one statement.
extension BrokerTable {
  /// Inside of `step`, once.
  package func write(_ step: BrokerStep) throws(AppStoreError) {
    if step.day != nil { try connection.execute(Self.emptyInputs, context: Self.context) }
    try write(purchases: step.purchases)
    try write(orders: step.orders)
    try write(postings: step.postings)
    try write(bookings: step.actions.booked)
    try write(failures: step.actions.failed)
    try write(closed: step.closed)
    try write(fills: step.fills)
    try write(events: step.events)
    try write(notices: step.notices)
    try write(outcomes: step.outcomes)
    try write(inputs: step.inputs)
    try write(checkpoints: step.checkpoints)
    try write(progress: step.progress)
    try moveCursor(step)
  }

  private static let emptyInputs = "delete from fill_input; delete from fill_checkpoint"

  private static let upsertCheckpoints = Statement(
    name: "upsert_fill_checkpoints",
    sql: """
      insert into fill_checkpoint (symbol, place, body)
      select symbol, place::bigint, body
      from \(TextColumns.unnest(3)) as added (symbol, place, body)
      on conflict (symbol) do update
      set
        place = excluded.place,
        body = excluded.body
      """)

  private func write(checkpoints: [CheckpointRow]) throws(AppStoreError) {
    var rows = TextColumns(3)
    for row in checkpoints { rows.append(["\(row.symbol)", "\(row.place)", row.body]) }
    try run(Self.upsertCheckpoints, rows)
  }

  private static let insertInputs = Statement(
    name: "insert_fill_inputs",
    sql: """
      insert into fill_input (place, symbol, trading_day, body)
      select place::bigint, symbol, day::date, body
      from \(TextColumns.unnest(4)) as added (place, symbol, day, body)
      """)

  private func write(inputs: [FillInputRow]) throws(AppStoreError) {
    var rows = TextColumns(4)
    for row in inputs {
      rows.append(["\(row.place)", "\(row.symbol)", "\(row.day)", row.input.text])
    }
    try run(Self.insertInputs, rows)
  }

  private static let upsertProgress = Statement(
    name: "upsert_order_progress",
    sql: """
      insert into order_progress (order_id, body)
      select ordered::bigint, body
      from \(TextColumns.unnest(2)) as changed (ordered, body)
      on conflict (order_id) do update
      set body = excluded.body
      """)

  private func write(progress: [Int64: OrderProgress]) throws(AppStoreError) {
    var rows = TextColumns(2)
    for (id, progress) in progress { rows.append(["\(id)", progress.text]) }
    try run(Self.upsertProgress, rows)
  }

  private static let upsertPurchases = Statement(
    name: "upsert_queue_purchases",
    sql: """
      insert into queue_purchase (
        id, account_id, command_id, symbol, quantity, trigger, state, reason, changed_at)
      select
        id::bigint, account::bigint, command::bigint, symbol, quantity::numeric, terms, state,
        nullif(reason, ''), \(TextColumns.moment("changed"))
      from \(TextColumns.unnest(9)) as changed (
        id, account, command, symbol, quantity, terms, state, reason, changed)
      on conflict (id) do update
      set
        state = excluded.state,
        reason = excluded.reason,
        changed_at = excluded.changed_at
      """)

  private func write(purchases: [Int64: PurchaseRow]) throws(AppStoreError) {
    var rows = TextColumns(9)
    for row in purchases.values {
      let purchase = row.purchase
      rows.append(
        [
          "\(purchase.id)", "\(purchase.account)", "\(row.commandID)", "\(purchase.symbol)",
          "\(purchase.quantity)", purchase.terms.text, row.state.rawValue, row.reason.text,
          "\(row.changedAt.microseconds)",
        ])
    }
    try run(Self.upsertPurchases, rows)
  }

  private static let upsertOrders = Statement(
    name: "upsert_paper_orders",
    sql: """
      insert into paper_order (
        id, account_id, command_id, queue_purchase_id, symbol, side, kind, time_in_force, quantity,
        limit_price, stop_price, worst_price, settles_same_day, trading_day, accepted_at, state,
        filled, turnover, commission, stamp_duty, transfer_fee, frozen, commission_rate,
        commission_min)
      select
        id::bigint, account::bigint, nullif(command, '')::bigint, nullif(queued, '')::bigint,
        symbol, side, kind, force, quantity::numeric, nullif(limits, '')::numeric,
        nullif(stop, '')::numeric, nullif(worst, '')::numeric, same_day::boolean, day::date,
        \(TextColumns.moment("accepted")), state, filled::numeric, turnover::numeric,
        commission::numeric, stamp_duty::numeric, transfer_fee::numeric, frozen::numeric,
        rate::numeric, least::numeric
      from \(TextColumns.unnest(24)) as changed (
        id, account, command, queued, symbol, side, kind, force, quantity, limits, stop, worst,
        same_day, day, accepted, state, filled, turnover, commission, stamp_duty, transfer_fee,
        frozen, rate, least)
      on conflict (id) do update
      set
        trading_day = excluded.trading_day,
        state = excluded.state,
        filled = excluded.filled,
        turnover = excluded.turnover,
        commission = excluded.commission,
        stamp_duty = excluded.stamp_duty,
        transfer_fee = excluded.transfer_fee,
        frozen = excluded.frozen
      """)

  private func write(orders: [Int64: OrderRow]) throws(AppStoreError) {
    var rows = TextColumns(24)
    for row in orders.values.sorted(by: { $0.ledger.id < $1.ledger.id }) {
      let (order, placed) = (row.ledger, row.ledger.placed)
      rows.append(
        [
          "\(order.id)", "\(placed.account)", row.commandID.text, row.queuePurchaseID.text,
          "\(placed.symbol)", placed.side.name, placed.kind.name, placed.timeInForce.name,
          "\(placed.quantity)", placed.limit.text, placed.stop.text, order.worstPrice.text,
          "\(order.settlesSameDay)", "\(order.terms.day)", "\(row.acceptedAt.microseconds)",
          row.state.name, "\(order.filled)", "\(order.turnover)", "\(order.paid.commission)",
          "\(order.paid.stampDuty)", "\(order.paid.transferFee)", "\(order.frozen)",
          "\(order.schedule.commissionRate)", "\(order.schedule.commissionMin)",
        ])
    }
    try run(Self.upsertOrders, rows)
  }

  private static let insertPostings = Statement(
    name: "insert_postings",
    sql: """
      insert into posting (
        account_id, sequence, kind, at, trading_day, feed_sequence, command_id, order_id,
        corporate_action_id, refers_to, deposit_type, description)
      select
        account::bigint, sequence::bigint, kind, \(TextColumns.moment("at")), day::date,
        nullif(feed, '')::bigint, nullif(command, '')::bigint, nullif(ordered, '')::bigint,
        nullif(action, '')::bigint, nullif(refers, '')::bigint, nullif(deposit, ''), description
      from \(TextColumns.unnest(12)) as added (
        account, sequence, kind, at, day, feed, command, ordered, action, refers, deposit,
        description)
      """)

  private static let insertEntries = Statement(
    name: "insert_entries",
    sql: """
      insert into entry (
        account_id, posting_sequence, line, unit, kind, amount, balance_after)
      select
        account::bigint, posting::bigint, line::smallint, unit, kind, amount::numeric,
        after::numeric
      from \(TextColumns.unnest(7)) as added (account, posting, line, unit, kind, amount, after)
      """)

  private func write(postings: [PostingRow]) throws(AppStoreError) {
    var rows = TextColumns(12)
    var entries = TextColumns(7)
    for row in postings {
      let (account, posting) = ("\(row.accountID)", row.posting)
      rows.append(
        [
          account, "\(posting.sequence)", posting.event.kind, "\(row.at.microseconds)",
          "\(posting.tradingDay)", row.feedSequence.text, row.commandID.text,
          posting.event.orderID.text, row.corporateActionID.text, posting.event.refersTo.text,
          posting.event.depositType?.rawValue ?? "", row.description,
        ])
      for (line, entry) in posting.entries.enumerated() {
        entries.append(
          [
            account, "\(posting.sequence)", "\(line + 1)", entry.book.unit.text,
            entry.book.kind.rawValue, "\(entry.amount)", "\(entry.balanceAfter)",
          ])
      }
    }
    try run(Self.insertPostings, rows)
    try run(Self.insertEntries, entries)
  }

  private static let insertFills = Statement(
    name: "insert_fills",
    sql: """
      insert into fill (
        order_id, sequence, account_id, posting_sequence, price, quantity, amount, commission,
        stamp_duty, transfer_fee, filled_at, trading_day, feed_sequence, evidence, filled_so_far,
        possible_so_far)
      select
        ordered::bigint, sequence::integer, account::bigint, posting::bigint, price::numeric,
        quantity::numeric, amount::numeric, commission::numeric, stamp_duty::numeric,
        transfer_fee::numeric, \(TextColumns.moment("at")), day::date, feed::bigint, evidence,
        filled::numeric, nullif(possible, '')::numeric
      from \(TextColumns.unnest(16)) as added (
        ordered, sequence, account, posting, price, quantity, amount, commission, stamp_duty,
        transfer_fee, at, day, feed, evidence, filled, possible)
      """)

  private func write(fills: [FillRow]) throws(AppStoreError) {
    var rows = TextColumns(16)
    for row in fills {
      let (posting, fees) = (row.posting.posting, row.posting.fees)
      guard case .fill(_, let quantity, let price) = posting.event else { continue }
      rows.append(
        [
          "\(row.orderID)", "\(row.sequence)", "\(row.accountID)", "\(posting.sequence)",
          "\(price)", "\(quantity)", "\(row.posting.amount)", "\(fees.commission)",
          "\(fees.stampDuty)", "\(fees.transferFee)", "\(row.filledAt.microseconds)",
          "\(posting.tradingDay)", "\(row.feedSequence)", row.evidence,
          "\(row.posting.order.filled)", row.possibleSoFar.text,
        ])
    }
    try run(Self.insertFills, rows)
  }

  private static let insertEvents = Statement(
    name: "insert_order_events",
    sql: """
      insert into order_event (order_id, sequence, kind, at, feed_sequence, posting_sequence)
      select
        ordered::bigint, sequence::integer, kind, \(TextColumns.moment("at")),
        nullif(feed, '')::bigint, nullif(posting, '')::bigint
      from \(TextColumns.unnest(6)) as added (ordered, sequence, kind, at, feed, posting)
      """)

  private func write(events: [OrderEventRow]) throws(AppStoreError) {
    var rows = TextColumns(6)
    for row in events {
      rows.append(
        [
          "\(row.orderID)", "\(row.sequence)", row.kind.rawValue, "\(row.at.microseconds)",
          row.feedSequence.text, row.postingSequence.text,
        ])
    }
    try run(Self.insertEvents, rows)
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

  private func write(outcomes: [BrokerStep.Outcome]) throws(AppStoreError) {
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

  private static let move = Statement(
    name: "move_broker_cursor",
    sql: """
      update broker_cursor
      set
        command_sequence = coalesce($1::bigint, command_sequence),
        quote_sequence = coalesce($2::bigint, quote_sequence),
        trading_day = coalesce($3::date, trading_day),
        input_place = coalesce($4::bigint, input_place)
      """)

  private func moveCursor(_ step: BrokerStep) throws(AppStoreError) {
    let command = step.outcomes.last?.outcome.sequence
    if command == nil, step.quoteSequence == nil, step.day == nil, step.inputPlace == nil { return }
    try connection.write(
      Self.move,
      with: [
        .int64(command), .int64(step.quoteSequence), .day(step.day), .int64(step.inputPlace),
      ], context: Self.context)
  }

  func run(_ statement: Statement, _ rows: TextColumns) throws(AppStoreError) {
    if rows.count == 0 { return }
    let written = try connection.write(statement, with: rows.parameters, context: Self.context)
    guard written == rows.count else {
      throw .store(
        StoreError(
          .refused, message: "\(written) rows were written of \(rows.count)",
          context: Self.context))
    }
  }
}
