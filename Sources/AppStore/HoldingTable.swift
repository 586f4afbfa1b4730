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
  /// Of the day that was asked about: how many more are held than before, what was spent on them
  /// less dividends, and whether a corporate action of the symbol was booked.
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

/// What an account had of a unit when a trading day ended on which that changed.
package struct DayBalance: Sendable, Hashable {
  package var day: TradingDay
  package var unit: LedgerUnit
  package var balance: ExactDecimal
  /// All that was paid in until then, less what was paid out.
  package var paidIn: ExactDecimal
}

/// What an account had when a trading day began.
package struct AccountOpening: Sendable, Hashable {
  package var day: TradingDay
  /// Oldest first.
  package var balances: [DayBalance]
  /// Of which a corporate action was booked on the day.
  package var booked: Set<Symbol>
}

/// Holdings of accounts, read from the ledger: every share that an account has came out of its
/// book `market` of the symbol, so that book's entries are all that ever changed the holding.
package struct HoldingTable: AppTable {
  let connection: AppConnection
  static let context = "holdings"

  /// Two years of an account that changes 200 holdings a day.
  package static let balancesMax = 100_000

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
        ) filter (where p.trading_day >= h.day and f.amount is not null), 0) - action.income,
        action.is_booked, t.low, t.high
      from unnest($2::text[], $3::date[]) as h (unit, day)
      cross join lateral (
        select coalesce(max(posting_sequence), 0) as sequence
        from entry
        where account_id = $1::bigint
          and unit = h.unit
          and kind = 'market'
          and balance_after = 0
          and not \(LedgerTable.reversal(of: "entry", by: "posting_sequence"))
      ) flat
      cross join lateral (
        select
          coalesce(bool_or(a.ex_day >= h.day or a.kind = 'bonus'), false) as is_booked,
          coalesce(sum(i.amount) filter (where b.trading_day >= h.day), 0) as income
        from corporate_action a
        join posting b on b.account_id = $1::bigint
          and b.corporate_action_id = a.id
        left join entry i on i.account_id = b.account_id
          and i.posting_sequence = b.sequence
          and i.kind = 'available'
        where a.symbol = h.unit
          and (a.ex_day >= h.day or b.trading_day >= h.day)
          and not \(LedgerTable.reversal(of: "b"))
      ) action
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
      group by h.unit, h.day, action.income, action.is_booked, t.low, t.high
      having sum(e.amount) <> 0
      order by h.unit
      """)

  /// What is held of these symbols.
  /// - Parameter days: for each, which trading day is today.
  package func holdings(
    of account: Int64, days: [Symbol: TradingDay]
  ) throws(AppStoreError) -> [HoldingRecord] {
    if days.isEmpty { return [] }
    let asked = days.sorted { $0.key < $1.key }
    return try read(
      Self.readHoldings,
      with: [.int64(account), .texts(asked.map(\.key.description)), .days(asked.map(\.value))]
    ) { (row) throws(StoreError) in
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
    try write(
      Self.putTriggers,
      with: [
        .int64(account), .text(symbol.description), .numeric(triggers.low), .numeric(triggers.high),
      ])
  }

  // MARK: Days

  private static let readOpening = Statement(
    name: "read_opening_balances",
    sql: """
      select d.trading_day, b.unit, d.balance, d.paid_in
      from (
        select distinct unit
        from book
        where account_id = $1::bigint
      ) b
      cross join lateral (
        select trading_day, balance, paid_in
        from day_balance
        where account_id = $1::bigint
          and unit = b.unit
          and trading_day < $2::date
        order by trading_day desc
        limit 1
      ) d
      where d.balance <> 0
        or d.paid_in <> 0
      order by d.trading_day, b.unit
      """)

  private static let readBooked = Statement(
    name: "read_booked_actions",
    sql: """
      select distinct a.symbol
      from posting b
      join corporate_action a on a.id = b.corporate_action_id
      where b.account_id = $1::bigint
        and (a.ex_day >= $2::date or a.kind = 'bonus' and b.trading_day >= $2::date)
        and not \(LedgerTable.reversal(of: "b"))
      """)

  package func opening(
    of account: Int64, on day: TradingDay
  ) throws(AppStoreError) -> AccountOpening {
    let symbols = try read(Self.readBooked, with: [.int64(account), .day(day)]) {
      (row) throws(StoreError) in try row.symbol()
    }
    return AccountOpening(
      day: day, balances: try balances(Self.readOpening, of: account, on: [day]),
      booked: Set(symbols))
  }

  private static let readFirstDay = Statement(
    name: "read_first_day",
    sql: """
      select trading_day
      from posting
      where account_id = $1::bigint
        and sequence = 1
      """)

  /// Of an account's first posting; nil: there is none.
  package func firstDay(of account: Int64) throws(AppStoreError) -> TradingDay? {
    try read(Self.readFirstDay, with: [.int64(account)]) { (row) throws(StoreError) in
      try row.day()
    }.first
  }

  private static let readDays = Statement(
    name: "read_day_balances",
    sql: """
      select trading_day, unit, balance, paid_in
      from day_balance
      where account_id = $1::bigint
        and trading_day between $2::date and $3::date
      order by trading_day, unit
      limit \(balancesMax + 1)
      """)

  /// What an account had when the first of these days began, and how that changed on each.
  /// - Throws: `invalid` of an account with more than `balancesMax` changes.
  package func days(
    of account: Int64, from first: TradingDay, through last: TradingDay
  ) throws(AppStoreError) -> [DayBalance] {
    try connection.inSnapshot { () throws(AppStoreError) in
      let days = try balances(Self.readDays, of: account, on: [first, last])
      if days.count > Self.balancesMax {
        throw .invalid(field: "period", expected: "a shorter one: the account traded much in it")
      }
      return try balances(Self.readOpening, of: account, on: [first]) + days
    }
  }

  private func balances(
    _ statement: Statement, of account: Int64, on days: [TradingDay]
  ) throws(AppStoreError) -> [DayBalance] {
    try read(statement, with: [.int64(account)] + days.map(WireParameter.day)) {
      (row) throws(StoreError) in
      let (day, unit) = (try row.day(), try row.text())
      guard let unit = LedgerUnit(text: unit) else { throw row.malformed() }
      return DayBalance(
        day: day, unit: unit, balance: try row.numeric(), paidIn: try row.numeric())
    }
  }
}
