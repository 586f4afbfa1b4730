import AppStore
import Market
import Postgres
import TestSupport

/// Each invariant of the ledger, broken once on purpose: what the schema must refuse, what the
/// audit must find in rows that came by another way, and what the model must find of a faulty
/// broker.
package struct LedgerCanaries: Sendable {
  package var seed: UInt64

  package init(seed: UInt64) { self.seed = seed }

  /// - Returns: how many were caught, and which were not.
  package func run() throws -> ChaosVerdict {
    var verdict = ChaosVerdict()
    let database = try LedgerDatabase()
    var trial = LedgerTrial(commands: 4_000, clients: 4, seed: seed)
    // Some days, for shares to be sold.
    (trial.accounts, trial.sharedKeys, trial.stepsPerDay) = (8, 0, 2)
    // A verdict of its own; its connections are closed when it is left.
    let sound = try trial.run(on: database)
    verdict.complaints += sound.complaints
    if sound.fills == 0 { verdict.complaints.append("nothing was filled") }
    for canary in Self.refused {
      if let complaint = try refusal(of: canary, in: database) {
        verdict.complaints.append(complaint)
      }
    }
    for canary in Self.found {
      if let complaint = try finding(of: canary, in: database) {
        verdict.complaints.append(complaint)
      }
    }
    for fault in PaperBroker.Fault.allCases {
      var faulty = trial
      faulty.fault = fault
      if try faulty.run(on: LedgerDatabase()).complaints.isEmpty {
        verdict.complaints.append("a broker with the fault \(fault.rawValue) was not caught")
      }
    }
    verdict.figures.append(
      "broken on purpose and caught: \(Self.refused.count) by the schema, \(Self.found.count) by "
        + "the audit, \(PaperBroker.Fault.allCases.count) faulty brokers by the model")
    return verdict
  }

  // MARK: Refused by the schema

  struct Refusal: Sendable {
    let name: String
    let sql: String
    /// What the server's message names.
    let names: String
    var isOwners = false
  }

  private func refusal(of canary: Refusal, in database: LedgerDatabase) throws -> String? {
    let url = canary.isOwners ? database.store.url : database.url
    do {
      try SQLProbe.run("set search_path = candled_app; begin; \(canary.sql); commit", url: url)
      return "\(canary.name): was not refused"
    } catch {
      return error.message.contains(canary.names)
        ? nil : "\(canary.name): was refused by \(error.message)"
    }
  }

  private static let posting = """
    insert into posting (account_id, sequence, kind, at, trading_day)
    select 1, max(sequence) + 1, 'settlement', now(), max(trading_day)
    from posting
    where account_id = 1
    """

  /// Lines of that posting: of cash, from one kind to another.
  private static func lines(_ lines: [(kind: String, amount: String, after: String)]) -> String {
    let values = lines.enumerated().map { place, line in
      """
      (\(place + 1)::smallint, '\(line.kind)', \(line.amount), (
        select balance from book
        where account_id = 1 and unit = 'cash' and kind = '\(line.kind)') + \(line.after))
      """
    }
    return """
      insert into entry (account_id, posting_sequence, line, unit, kind, amount, balance_after)
      select 1, (select max(sequence) from posting where account_id = 1), l.line, 'cash', l.kind,
        l.amount, l.after
      from (values \(values.joined(separator: ", "))) as l (line, kind, amount, after)
      """
  }

  static let refused: [Refusal] = [
    Refusal(
      name: "I1 a cent that came from nowhere",
      sql: posting + "; " + lines([("available", "0.01", "0.01"), ("world", "-0.02", "-0.02")]),
      names: "posting_is_balanced"),
    Refusal(name: "I1 a posting without entries", sql: posting, names: "posting_is_balanced"),
    Refusal(
      name: "I1 an entry for an old posting",
      sql: lines([("available", "0.01", "0.01")]).replacing("line, 'cash'", "line + 50, 'cash'"),
      names: "entry_posting_is_new"),
    Refusal(
      name: "I2 a balance that is not chained",
      sql: posting + "; " + lines([("available", "0.01", "0.02"), ("world", "-0.01", "-0.01")]),
      names: "entry_balance_is_chained"),
    Refusal(
      name: "I2 a balance changed by hand", sql: "update book set balance = balance + 1",
      names: "permission denied for table book"),
    Refusal(
      name: "I2 an entry changed by its owner", sql: "update entry set amount = amount + 1",
      names: "this row of \"entry\" is not", isOwners: true),
    Refusal(
      name: "I2 a posting deleted by its owner", sql: "delete from posting",
      names: "this row of \"posting\" is not", isOwners: true),
    Refusal(
      name: "I3 an overdraw",
      sql: posting + "; "
        + lines([
          ("available", "-1000000000", "-1000000000"), ("world", "1000000000", "1000000000"),
        ]),
      names: "overdrawn"),
    Refusal(
      name: "I7 more than was ordered", sql: "update paper_order set filled = quantity + 1",
      names: "paper_order_filled_is_part"),
    Refusal(
      name: "I7 a fill beyond the limit",
      sql: fill.replacing("f.price,", "o.worst_price + 0.01,"), names: "fill_is_within_limit"),
    Refusal(
      name: "I7 an order that ended goes on",
      sql: "update paper_order set state = 'accepted' where state = 'filled'",
      names: "paper_order_is_constant"),
    Refusal(
      name: "I9 more certain than possible",
      sql: fill.replacing("f.possible_so_far", "f.filled_so_far - 1"), names: "fill_is_certain"),
    Refusal(
      name: "I10 a key twice",
      sql: """
        insert into command (account_id, idempotency_key, fingerprint, kind, body)
        select account_id, idempotency_key, fingerprint, kind, body from command limit 1
        """, names: "command_key_is_new"),
    Refusal(
      name: "I10 an outcome that changes",
      sql: "update command set outcome = 'refused' where outcome = 'done'",
      names: "command_is_answered_once"),
    Refusal(
      name: "I10 a command that is two orders",
      sql: """
        insert into paper_order
        select (json_populate_record(o, json_build_object('id', 1000000000))).*
        from paper_order o limit 1
        """, names: "paper_order_command"),
    Refusal(
      name: "I10 a command that is paid in twice",
      sql: """
        insert into posting (
          account_id, sequence, kind, at, trading_day, command_id, deposit_type)
        select p.account_id, p.sequence + 1000000, kind, at, trading_day, command_id, deposit_type
        from posting p where kind = 'deposit' limit 1
        """, names: "posting_of_command"),
    Refusal(
      name: "a fill taken back twice",
      sql: """
        insert into posting (account_id, sequence, kind, at, trading_day, order_id, refers_to)
        select account_id, sequence + 1000000, kind, at, trading_day, order_id, refers_to
        from posting p where kind = 'reversal' limit 1
        """, names: "posting_is_reversed_once"),
    Refusal(
      name: "a merger without what was paid",
      sql: """
        insert into posting (account_id, sequence, kind, at, trading_day, corporate_action_id)
        select account_id, sequence + 1000000, 'merger', at, trading_day, corporate_action_id
        from posting p where corporate_action_id is not null limit 1
        """, names: "posting_cost_moves"),
    Refusal(
      name: "a deposit without a type",
      sql: """
        insert into posting (account_id, sequence, kind, at, trading_day, command_id)
        select account_id, sequence + 1000000, kind, at, trading_day, command_id
        from posting p where kind = 'deposit' limit 1
        """, names: "posting_deposit_has_type"),
  ]

  /// One more fill of an order, for another posting.
  private static let fill = """
    insert into fill (
      order_id, sequence, account_id, posting_sequence, price, quantity, amount, commission,
      stamp_duty, transfer_fee, filled_at, trading_day, evidence, filled_so_far, possible_so_far)
    select
      f.order_id, f.sequence + 1000, f.account_id, 1, f.price, f.quantity, f.amount, f.commission,
      f.stamp_duty, f.transfer_fee, f.filled_at, f.trading_day, f.evidence, f.filled_so_far,
      f.possible_so_far
    from fill f
    join paper_order o on o.id = f.order_id
    where o.side = 'buy'
    limit 1
    """

  // MARK: Found by the audit

  struct Found: Sendable {
    let invariant: LedgerAudit.Invariant
    let sql: String
  }

  private func finding(of canary: Found, in database: LedgerDatabase) throws -> String? {
    let copy = try database.store.copied()
    try SQLProbe.run(
      """
      set search_path = candled_app;
      set session_replication_role = replica;
      \(canary.sql)
      """, url: copy)
    let connection = try AppConnection(
      url: "\(copy) user=\(DatabaseRole.app)", application: "ledger audit")
    let found = try LedgerAudit(connection).findings()
    return found.contains { $0.invariant == canary.invariant }
      ? nil : "\(canary.invariant.rawValue): was broken, and the audit found \(found)"
  }

  static let found: [Found] = [
    Found(
      invariant: .booked,
      sql: "update book set balance = balance + 1 where account_id = 1 and kind = 'world'"),
    Found(
      invariant: .daily,
      sql: "update day_balance set balance = balance + 1 where account_id = 1 and unit = 'cash'"),
    Found(
      invariant: .position,
      sql: "delete from fill where (order_id, sequence) = (select min(order_id), 1 from fill f "
        + "where not exists (select from posting r where r.account_id = f.account_id "
        + "and r.refers_to = f.posting_sequence))"),
    Found(
      invariant: .settled,
      // Fills alone: a bonus of the same day may be sold on it.
      sql: """
        update posting p
        set trading_day = (
          select min(o.trading_day) from posting o where o.account_id = p.account_id)
        where kind = 'fill'
        """),
    Found(
      invariant: .cash,
      sql: "update fill set commission = commission + 0.01 "
        + "where (order_id, sequence) = (select min(order_id), 1 from fill)"),
    Found(
      invariant: .answered,
      sql: "update command set body = body || ' ' where id = (select min(id) from command)"),
    Found(
      invariant: .sequence,
      sql: "update posting set sequence = sequence + 1 where account_id = 1 and sequence = "
        + "(select max(sequence) from posting where account_id = 1)"),
  ]
}

extension String {
  fileprivate func replacing(_ part: String, _ other: String) -> String {
    replacing(part, with: other)
  }
}
