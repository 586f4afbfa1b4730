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
  /// It is traded no more under its code, and what became of it is not known, or not booked yet.
  package var hasNoMarket = false
  package var triggers = PriceTriggers()

  private static let pricePlaces: UInt8 = 6

  package var averagePrice: ExactDecimal? { Self.averagePrice(paid: paid, bought: bought) }

  private static func averagePrice(paid: ExactDecimal, bought: ExactDecimal) -> ExactDecimal? {
    guard bought.isPositive else { return nil }
    return (try? max(paid, .zero).divided(by: bought, scale: pricePlaces))?.normalized
  }

  /// What was paid for a part of what was bought, at the average price. Never less than nothing:
  /// what is taken back may have cost more than the shares that go for it.
  package static func cost(
    of quantity: ExactDecimal, bought: ExactDecimal, paid: ExactDecimal
  ) throws(ExactDecimalError) -> ExactDecimal {
    if bought == quantity { return max(paid, .zero) }
    let average = averagePrice(paid: paid, bought: bought) ?? .zero
    return try (average * quantity).rescaled(places: LedgerOrder.cashPlaces)
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
  package var balances: [DayBalance]
  /// Of which a corporate action was booked on the day.
  package var booked: Set<Symbol>
}

/// What the database has of the price of a symbol.
package struct StoredPrice: Sendable, Hashable {
  /// Of the newest quote; without one of the newest minute.
  package var day: TradingDay
  /// Where memory has no price of that day: the day's reference price; without a quote the close of
  /// the newest minute.
  package var last: ExactDecimal?
  /// The exchange's reference price of the day; without a quote the close before it.
  package var previousClose: ExactDecimal?
  /// As the day before ended.
  package var yesterdayClose: ExactDecimal?
  /// Newer prices may exist that cannot be had now.
  package var isStale = true
}

/// What an account has at one moment.
package struct HeldAccount: Sendable {
  /// Its own, and what its cash came from.
  package var books: [Book: ExactDecimal] = [:]
  /// By symbol.
  package var holdings: [HoldingRecord] = []
  package var opening: AccountOpening
  /// Of all that is in `holdings` and `opening`.
  package var prices: [Symbol: StoredPrice] = [:]

  /// A row of `readHeld`.
  fileprivate mutating func add(_ row: inout PostgresRow) throws(StoreError) {
    guard let unit = LedgerUnit(text: try row.text()) else { throw row.malformed() }
    for kind in [BookKind.available, .frozen, .sellable, .today, .world] {
      books[Book(unit, kind)] = try row.numeric()
    }
    let day = try row.optionalDay()
    let (balance, paidIn) = (try row.optionalNumeric(), try row.optionalNumeric())
    if let day, let balance, let paidIn {
      opening.balances.append(DayBalance(day: day, unit: unit, balance: balance, paidIn: paidIn))
    }
    guard let symbol = unit.symbol else { return }
    prices[symbol] = StoredPrice(
      day: try row.day(), last: try row.optionalNumeric(),
      previousClose: try row.optionalNumeric(), yesterdayClose: try row.optionalNumeric())
    let isActionBooked = try row.bool()
    if isActionBooked { opening.booked.insert(symbol) }
    guard let quantity = try row.optionalNumeric(), !quantity.isZero else { return }
    holdings.append(
      HoldingRecord(
        symbol: symbol, quantity: quantity, bought: try row.numeric(), paid: try row.numeric(),
        gainedToday: try row.numeric(), spentToday: try row.numeric(),
        isActionBooked: isActionBooked, hasNoMarket: try row.bool(),
        triggers: PriceTriggers(low: try row.optionalNumeric(), high: try row.optionalNumeric())))
  }
}

/// Holdings of accounts, read from the ledger: every share that an account has came out of its
/// book `market` of the symbol, so that book's entries are all that ever changed the holding.
package struct HoldingTable: AppTable {
  let connection: AppConnection
  static let context = "holdings"

  /// Two years of an account that changes 200 holdings a day.
  package static let balancesMax = 100_000

  package init(_ connection: AppConnection) { self.connection = connection }

  /// Own units, one a row: what there is of it, what the day before ended with, what the market has
  /// of it, and what was paid for it.
  private static let readHeld = Statement(
    name: "read_held",
    sql: """
      with held as materialized (
        select
          b.*, o.trading_day as opened_on, o.balance as opened_with, o.paid_in, i.id as series,
          i.delisted_at is not null or exists (
            select
            from candled.links l
            where l.from_id = i.id
              and l.kind in ('merger', 'conversion')
              and l.verdict <> 'suspected'
              and l.known_to is null
              and l.day <= $3::date) as has_no_market
        from (
          select
            unit,
            coalesce(sum(balance) filter (where kind = 'available'), 0) as available,
            coalesce(sum(balance) filter (where kind = 'frozen'), 0) as frozen,
            coalesce(sum(balance) filter (where kind = 'sellable'), 0) as sellable,
            coalesce(sum(balance) filter (where kind = 'today'), 0) as today,
            coalesce(sum(balance) filter (where kind = 'world'), 0) as world
          from book
          where account_id = $1::bigint
          group by unit
        ) b
        left join lateral (
          \(opening(of: "b.unit"))
        ) o on true
        left join lateral (
          \(series(of: "b.unit"))
        ) i on true
        where b.unit = 'cash'
          or b.frozen + b.sellable + b.today > 0
          or o.balance > 0
      ),
      priced as materialized (
        select
          h.*, coalesce(q.trading_day, n.trading_day, $3::date) as day,
          coalesce(q.previous_close, n.close, w.last) as last,
          coalesce(q.previous_close, w.last) as previous_close
        from held h
        left join candled.feed_quotes q on q.instrument_id = h.series
        left join lateral (
          select trading_day, close
          from candled.feed_candles
          where q.instrument_id is null
            and instrument_id = h.series
            and timeframe = 1
          order by opened_at desc
          limit 1
        ) n on true
        -- Of the code before a rename, until there is a row of the new one.
        left join lateral (
          select coalesce(nullif(k.last, 0), k.previous_close) as last
          from corporate_action a
          cross join lateral (
            \(series(of: "a.symbol"))
          ) i
          join candled.feed_quotes k on k.instrument_id = i.id
          where coalesce(q.instrument_id::text, n.close::text) is null
            and a.successor = h.unit
            and a.kind = 'rename'
            and a.withdrawn_at is null
          order by a.ex_day desc
          limit 1
        ) w on true
      )
      select
        h.unit, h.available, h.frozen, h.sellable, h.today, h.world, h.opened_on, h.opened_with,
        h.paid_in, h.day, h.last, coalesce(h.previous_close, c.close), c.close, a.is_booked,
        f.quantity, f.bought, f.paid, f.gained, f.spent - a.income, h.has_no_market, t.low, t.high
      from priced h
      left join lateral (
        select close
        from candled.feed_candles
        where instrument_id = h.series
          and timeframe = 240
          and trading_day < h.day
        order by opened_at desc
        limit 1
      ) c on true
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
      ) a
      cross join lateral (
        \(basis(account: "$1::bigint", unit: "h.unit", day: "h.day"))
      ) f
      left join holding_trigger t on t.account_id = $1::bigint
        and t.symbol = h.unit
      order by h.unit
      """)

  /// In SQL, the series of a code that is meant where no source is named.
  private static func series(of code: String) -> String {
    """
    select i.id, i.delisted_at
    from candled.feed_instruments i
    join candled.source s on s.code = i.source
    where i.symbol = \(code)
    order by s.priority, s.code, i.reused_on nulls first
    limit 1
    """
  }

  /// In SQL, how an account came to what it holds of a unit, as `HoldingRecord` has it. What it has
  /// of shares that became these is no gain of the day: their cost came with them.
  static func basis(account: String, unit: String, day: String) -> String {
    """
    select
      sum(-e.amount) as quantity,
      coalesce(sum(-e.amount) filter (where o.side is distinct from 'sell'), 0) as bought,
      coalesce(sum(
        case when p.kind = 'reversal' then -f.amount else f.amount end
      ) filter (where o.side = 'buy'), 0) - coalesce(sum(sign(e.amount) * m.cost), 0) as paid,
      coalesce(sum(-e.amount) filter (
        where p.trading_day >= \(day) and m.cost is null), 0) as gained,
      coalesce(sum(
        case when (p.kind = 'reversal') = (o.side = 'buy') then -f.amount else f.amount end
      ) filter (where p.trading_day >= \(day) and f.amount is not null), 0) as spent
    from entry e
    join posting p on p.account_id = e.account_id
      and p.sequence = e.posting_sequence
    left join posting m on m.account_id = e.account_id
      and m.sequence = coalesce(p.refers_to, p.sequence)
    left join paper_order o on o.id = p.order_id
    left join fill f on f.account_id = e.account_id
      and f.posting_sequence = coalesce(p.refers_to, p.sequence)
    where \(unit) <> 'cash'
      and e.account_id = \(account)
      and e.unit = \(unit)
      and e.kind = 'market'
      and e.posting_sequence > (
        select coalesce(max(posting_sequence), 0)
        from entry
        where account_id = \(account)
          and unit = \(unit)
          and kind = 'market'
          and balance_after = 0
          and not \(LedgerTable.reversal(of: "entry", by: "posting_sequence")))
    """
  }

  /// What an account has, in one statement.
  /// - Parameters:
  ///   - day: what it had when this one began is its opening.
  ///   - today: of instruments that the market has neither a quote nor a minute of.
  package func held(
    by account: Int64, on day: TradingDay, today: TradingDay
  ) throws(AppStoreError) -> HeldAccount {
    var held = HeldAccount(opening: AccountOpening(day: day, balances: [], booked: []))
    _ = try read(Self.readHeld, with: [.int64(account), .day(day), .day(today)]) {
      (row) throws(StoreError) in try held.add(&row)
    }
    return held
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
}
