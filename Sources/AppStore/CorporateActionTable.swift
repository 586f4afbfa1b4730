import Market
import PaperTrading
import Postgres

/// What an operator posted of a symbol, a dividend or a bonus; or what became of it: a rename, a
/// merger, a conversion.
package struct CorporateAction: Sendable, Hashable {
  package var id: Int64
  package var symbol: Symbol
  /// Who held the shares before that day gets it; from that day on the successor is traded.
  package var exDay: TradingDay
  package var terms: CorporateActionTerms
  package var postedAt: Timestamp
  /// nil of one that an operator did not take back.
  package var withdrawnAt: Timestamp?
  /// nil until the broker has booked it, or taken back what was booked.
  package var bookedOn: TradingDay?
  package var reversedOn: TradingDay?
  /// That have it now.
  package var accounts = 0
  /// In which it, or its reversal, could not be booked so far.
  package var failed: Set<Int64> = []

  /// Whether it, or its reversal, was booked where that could be.
  package var isBooked: Bool { (withdrawnAt == nil ? bookedOn : reversedOn) != nil }
}

/// What an action gave an account.
package struct CorporateActionPosting: Sendable, Hashable {
  package var accountID: Int64
  package var sequence: Int64
  package var cash: ExactDecimal
  /// Of the symbol: fewer than none where they became others.
  package var shares: ExactDecimal
  /// Of the successor.
  package var successors: ExactDecimal
}

/// Corporate actions. The broker books each once its ex-day has begun, and takes back what was
/// booked of one that an operator withdrew.
package struct CorporateActionTable: AppTable {
  let connection: AppConnection
  static let context = "corporate actions"

  package init(_ connection: AppConnection) { self.connection = connection }

  private static let insert = Statement(
    name: "insert_corporate_action",
    sql: """
      insert into corporate_action (symbol, ex_day, kind, per_share)
      select $1::text, $2::date, $3::text, $4::numeric
      where $5::boolean
        or not exists (
          select
          from corporate_action
          where symbol = $1::text
            and ex_day = $2::date
            and kind = $3::text
            and withdrawn_at is null)
      returning id
      """)

  /// Posts one.
  /// - Parameter isAnother: beside others of the kind for that symbol and day.
  /// - Returns: its number.
  /// - Throws: `invalid` where there is one and this is none beside it, `store`.
  package func add(
    _ terms: CorporateActionTerms, of symbol: Symbol, exDay: TradingDay, isAnother: Bool = false
  ) throws(AppStoreError) -> Int64 {
    let ids = try numbers(
      Self.insert,
      with: [
        .text(symbol.description), .day(exDay), .text(terms.kind.rawValue),
        .numeric(terms.perShare), .bool(isAnother),
      ])
    guard let id = ids.first else {
      throw .invalid(
        field: "ex-day", expected: "one without a \(terms.kind.rawValue) of \(symbol) so far")
    }
    return id
  }

  private static let withdraw = Statement(
    name: "withdraw_corporate_action",
    sql: """
      update corporate_action
      set withdrawn_at = now()
      where id = $1::bigint
        and withdrawn_at is null
        and successor is null
      """)

  /// Takes one back: it is not booked any more, and what was booked is reversed by the broker.
  /// - Throws: `invalid` where there is none of the number, it was taken back, or it follows from a
  ///   link of instruments; `store`.
  package func withdraw(_ id: Int64) throws(AppStoreError) {
    let rows = try write(Self.withdraw, with: [.int64(id)])
    if rows == 0 {
      throw .invalid(
        field: "id",
        expected: "the number of an action that is not withdrawn, and is of no link: those are "
          + "taken back by candled instrument unlink")
    }
  }

  static let readAll = Statement(
    name: "read_corporate_actions",
    sql: """
      select
        a.id, a.symbol, a.ex_day, a.kind, a.per_share, a.posted_at, a.withdrawn_at, a.booked_on,
        a.reversed_on,
        (
          select count(*)
          from posting p
          where p.corporate_action_id = a.id
            and not \(LedgerTable.reversal(of: "p"))),
        array_to_string(a.failed_in, ' '), a.successor, a.cash
      from corporate_action a
      where not $1::boolean
        or a.failed_in <> '{}'
        or case
          when a.withdrawn_at is null then a.booked_on is null
          else a.booked_on is not null and a.reversed_on is null
        end
      order by
        case when $1::boolean and a.successor is not null then a.ex_day else '-infinity' end, a.id
      """)

  /// In the order in which they were posted; unfinished ones that have a successor come last, in
  /// that of their days.
  /// - Parameter isUnfinished: only those of which something is left to do.
  package func all(isUnfinished: Bool = false) throws(AppStoreError) -> [CorporateAction] {
    return try read(Self.readAll, with: [.bool(isUnfinished)]) { (row) throws(StoreError) in
      try row.corporateAction()
    }
  }
}

// MARK: - The broker's

extension BrokerTable {
  /// Of which something is left to do, whether or not their ex-day has begun.
  package func unfinishedActions() throws(AppStoreError) -> [CorporateAction] {
    try CorporateActionTable(connection).all(isUnfinished: true)
  }

  private static let readPostings = Statement(
    name: "read_corporate_action_postings",
    sql: """
      select
        p.account_id, p.sequence,
        coalesce(sum(e.amount) filter (where e.kind = 'available'), 0),
        coalesce(sum(-e.amount) filter (where e.kind = 'market' and e.unit = a.symbol), 0),
        coalesce(sum(-e.amount) filter (where e.kind = 'market' and e.unit = a.successor), 0)
      from posting p
      join corporate_action a on a.id = p.corporate_action_id
      join entry e on e.account_id = p.account_id
        and e.posting_sequence = p.sequence
      where p.corporate_action_id = $1::bigint
        and not \(LedgerTable.reversal(of: "p"))
      group by p.account_id, p.sequence
      order by p.account_id
      """)

  /// What an action gave, and was not taken back.
  package func postings(
    ofAction id: Int64
  ) throws(AppStoreError) -> [CorporateActionPosting] {
    return try read(Self.readPostings, with: [.int64(id)]) { (row) throws(StoreError) in
      CorporateActionPosting(
        accountID: try row.int64(), sequence: try row.int64(), cash: try row.numeric(),
        shares: try row.numeric(), successors: try row.numeric())
    }
  }

  private static let readHolders = Statement(
    name: "read_holders_before",
    sql: """
      select b.account_id, sum(-e.amount)
      from book b
      join entry e on e.account_id = b.account_id
        and e.unit = b.unit
        and e.kind = b.kind
      join posting p on p.account_id = e.account_id
        and p.sequence = e.posting_sequence
      where b.unit = $1::text
        and b.kind = 'market'
        -- Whose code was renamed on that day, held the shares before it.
        and p.trading_day - (p.cost is not null)::integer < $2::date
      group by b.account_id
      having sum(-e.amount) > 0
      """)

  /// What accounts held of a symbol when a day began.
  package func holders(
    of symbol: Symbol, before day: TradingDay
  ) throws(AppStoreError) -> [Int64: ExactDecimal] {
    let rows = try read(Self.readHolders, with: [.text(symbol.description), .day(day)]) {
      (row) throws(StoreError) in (try row.int64(), try row.numeric())
    }
    return Dictionary(uniqueKeysWithValues: rows)
  }
}

extension BrokerTable {
  private static let readCosts = Statement(
    name: "read_costs_of_holders",
    sql: """
      select b.account_id, f.quantity, f.bought, f.paid
      from book b
      cross join lateral (
        \(HoldingTable.basis(account: "b.account_id", unit: "$1::text", day: "'infinity'::date"))
      ) f
      where b.unit = $1::text
        and b.kind = 'market'
        and b.balance < 0
      """)

  /// What accounts hold of a symbol, and what they paid for it.
  package func costs(
    of symbol: Symbol
  ) throws(AppStoreError) -> [Int64: (held: ExactDecimal, cost: ExactDecimal)] {
    let rows = try read(Self.readCosts, with: [.text(symbol.description)]) {
      (row) throws(StoreError) in
      let (account, held) = (try row.int64(), try row.numeric())
      guard
        let cost = try? HoldingRecord.cost(
          of: held, bought: try row.numeric(), paid: try row.numeric())
      else { throw row.malformed() }
      return (account, (held: held, cost: cost))
    }
    return Dictionary(uniqueKeysWithValues: rows)
  }
}

extension PostgresRow {
  /// The columns of `CorporateActionTable.readAll`.
  fileprivate mutating func corporateAction() throws(StoreError) -> CorporateAction {
    let (id, symbol, day) = (try int64(), try symbol(), try day())
    let (kind, perShare) = (
      try named(\CorporateActionTerms.Kind.rawValue), try numeric()
    )
    guard let terms = CorporateActionTerms(kind, perShare: perShare) else { throw malformed() }
    var action = CorporateAction(
      id: id, symbol: symbol, exDay: day, terms: terms, postedAt: try timestamp())
    action.withdrawnAt = try optionalTimestamp()
    (action.bookedOn, action.reversedOn) = (try optionalDay(), try optionalDay())
    action.accounts = Int(try int64())
    action.failed = Set(try text().split(separator: " ").compactMap { Int64($0) })
    guard let successor = try optionalText() else { return action }
    guard let successor = Symbol(successor),
      let terms = CorporateActionTerms(
        kind, into: successor, perShare: perShare, cash: try optionalNumeric())
    else { throw malformed() }
    action.terms = terms
    return action
  }
}
