/// What accounts had at the ends of days.

import Market
import PaperTrading
import Postgres

extension HoldingTable {
  /// In SQL, what the account `$1` had of a unit when the day `$2` began.
  static func opening(of unit: String) -> String {
    """
    select trading_day, balance, paid_in
    from day_balance
    where account_id = $1::bigint
      and unit = \(unit)
      and trading_day < $2::date
    order by trading_day desc
    limit 1
    """
  }

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
        \(opening(of: "b.unit"))
      ) d
      where d.balance <> 0
        or d.paid_in <> 0
      order by d.trading_day, b.unit
      """)

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
