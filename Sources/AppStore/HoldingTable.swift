import Market
import PaperTrading
import Postgres

/// What an account holds of one symbol, and what was paid for it.
package struct HoldingRecord: Sendable, Hashable {
  package var symbol: Symbol
  /// All of it: to be sold today or later, or frozen for orders.
  package var quantity: ExactDecimal
  /// Since there was none of it the last time, but for a sale that was taken back: shares that came
  /// otherwise than by taking one back, and what was paid for them, without fees.
  package var bought: ExactDecimal
  package var paid: ExactDecimal
  /// Of the day that was asked about: how many more are held than before, what was spent on them,
  /// and whether a corporate action of the symbol was booked.
  package var gainedToday: ExactDecimal
  package var spentToday: ExactDecimal
  package var isActionBooked: Bool
  package var triggers = PriceTriggers()

  private static let pricePlaces: UInt8 = 6

  package var averagePrice: ExactDecimal? {
    guard bought.isPositive else { return nil }
    return (try? paid.divided(by: bought, scale: Self.pricePlaces))?.normalized
  }
}

/// What an account had at the end of a trading day.
package struct DayBalance: Sendable, Hashable {
  package var day: TradingDay
  package var unit: LedgerUnit
  /// By how much the account's own books of the unit changed on the day.
  package var change: ExactDecimal
  /// Of it, what was paid in, less what was paid out.
  package var deposited: ExactDecimal
}

/// Holdings of accounts, read from the ledger: every share that an account has came out of its
/// book `market` of the symbol, so that book's entries are all that ever changed the holding.
package struct HoldingTable {
  private let connection: AppConnection
  private static let context = "holdings"

  package static let daysMax = 20_000

  package init(_ connection: AppConnection) { self.connection = connection }

  private static let readHoldings = Statement(
    name: "read_holdings",
    sql: """
      select
        h.unit, sum(-e.amount),
        coalesce(sum(-e.amount) filter (where o.side is distinct from 'sell'), 0),
        coalesce(sum(
          case when p.kind = 'reversal' then -f.amount else f.amount end
        ) filter (where o.side = 'buy'), 0),
        coalesce(sum(-e.amount) filter (where p.trading_day >= h.day), 0),
        coalesce(sum(
          case when (p.kind = 'reversal') = (o.side = 'buy') then -f.amount else f.amount end
        ) filter (where p.trading_day >= h.day and f.amount is not null), 0),
        bool_or(p.kind = 'bonus' and p.trading_day >= h.day) or exists (
          select
          from posting b
          join corporate_action a on a.id = b.corporate_action_id
          where b.account_id = $1::bigint
            and a.symbol = h.unit
            and a.ex_day >= h.day),
        t.low, t.high
      from unnest($2::text[], $3::date[]) as h (unit, day)
      cross join lateral (
        select coalesce(max(posting_sequence), 0) as sequence
        from entry
        where account_id = $1::bigint
          and unit = h.unit
          and kind = 'market'
          and balance_after = 0
          and not exists (
            select
            from posting r
            where r.account_id = entry.account_id
              and r.refers_to = entry.posting_sequence)
      ) flat
      join entry e on e.account_id = $1::bigint
        and e.unit = h.unit
        and e.kind = 'market'
        and e.posting_sequence > flat.sequence
      join posting p on p.account_id = e.account_id
        and p.sequence = e.posting_sequence
      left join paper_order o on o.id = p.order_id
      left join fill f on f.account_id = e.account_id
        and f.posting_sequence = coalesce(p.refers_to, p.sequence)
      left join holding_trigger t on t.account_id = e.account_id
        and t.symbol = h.unit
      group by h.unit, h.day, t.low, t.high
      having sum(e.amount) <> 0
      order by h.unit
      """)

  /// What is held of these symbols.
  /// - Parameter days: for each, which trading day is today.
  package func holdings(
    of account: Int64, days: [Symbol: TradingDay]
  ) throws(AppStoreError) -> [HoldingRecord] {
    if days.isEmpty { return [] }
    var parameters = WireParameters()
    parameters.add { $0.int64(account) }
    let asked = days.sorted { $0.key < $1.key }
    parameters.add { buffer in
      buffer.array(asked.map(\.key.description), type: .text) { $0.text($1) }
    }
    parameters.add { buffer in
      buffer.array(asked.map(\.value), type: .date) { $0.date($1) }
    }
    return try connection.read(Self.readHoldings, with: parameters, context: Self.context) {
      (row) throws(StoreError) in
      HoldingRecord(
        symbol: try row.symbol(), quantity: try row.numeric(), bought: try row.numeric(),
        paid: try row.numeric(), gainedToday: try row.numeric(), spentToday: try row.numeric(),
        isActionBooked: try row.bool(),
        triggers: PriceTriggers(low: try row.optionalNumeric(), high: try row.optionalNumeric()))
    }
  }

  private static let putTriggers = Statement(
    name: "put_holding_triggers",
    sql: """
      insert into holding_trigger (account_id, symbol, low, high)
      values ($1::bigint, $2::text, $3::numeric, $4::numeric)
      on conflict (account_id, symbol) do update
      set
        low = excluded.low,
        high = excluded.high
      """)

  /// Whether or not anything is held of the symbol.
  /// - Throws: `invalid`, `store`.
  package func put(
    _ triggers: PriceTriggers, of symbol: Symbol, in account: Int64
  ) throws(AppStoreError) {
    try triggers.validate()
    var parameters = WireParameters()
    parameters.add { $0.int64(account) }
    parameters.add { $0.text(symbol.description) }
    parameters.add { $0.optionalNumeric(triggers.low) }
    parameters.add { $0.optionalNumeric(triggers.high) }
    try connection.write(Self.putTriggers, with: parameters, context: Self.context)
  }

  // MARK: Days

  private static let readDays = Statement(
    name: "read_day_balances",
    sql: """
      select
        p.trading_day, e.unit,
        coalesce(sum(e.amount) filter (
          where e.kind in ('available', 'frozen', 'sellable', 'today')), 0),
        coalesce(sum(-e.amount) filter (where e.kind = 'world'), 0)
      from posting p
      join entry e on e.account_id = p.account_id
        and e.posting_sequence = p.sequence
      where p.account_id = $1::bigint
      group by p.trading_day, e.unit
      order by p.trading_day desc, e.unit
      limit \(daysMax + 1)
      """)

  /// By how much each unit changed on each day, oldest first. All of the account's own postings are
  /// read, and no other's.
  /// - Throws: `invalid` of an account with more than `daysMax` of them.
  package func days(of account: Int64) throws(AppStoreError) -> [DayBalance] {
    var parameters = WireParameters()
    parameters.add { $0.int64(account) }
    let rows = try connection.read(Self.readDays, with: parameters, context: Self.context) {
      (row) throws(StoreError) in
      let (day, unit) = (try row.day(), try row.text())
      guard let unit = LedgerUnit(text: unit) else { throw row.malformed() }
      return DayBalance(
        day: day, unit: unit, change: try row.numeric(), deposited: try row.numeric())
    }
    if rows.count > Self.daysMax {
      throw .invalid(field: "account", expected: "one with a shorter history")
    }
    return rows.reversed()
  }
}
