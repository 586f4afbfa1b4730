import Market
import Postgres

/// Funds whose shares may be sold on the day of their purchase, as an operator listed them: no code
/// and no name shows it. The broker reads the list when it begins to lead, and when a day begins.
package struct SameDayFundTable: AppTable {
  let connection: AppConnection
  static let context = "same-day funds"

  package init(_ connection: AppConnection) { self.connection = connection }

  private static let put = Statement(
    name: "put_same_day_fund",
    sql: """
      insert into same_day_fund (symbol, from_day)
      values ($1::text, $2::date)
      on conflict (symbol) do update
      set from_day = excluded.from_day
      """)

  /// Adds one, or changes the day of one that is there.
  package func put(_ symbol: Symbol, from day: TradingDay) throws(AppStoreError) {
    try write(Self.put, with: [.text(symbol.description), .day(day)])
  }

  private static let delete = Statement(
    name: "delete_same_day_fund",
    sql: """
      delete from same_day_fund
      where symbol = $1::text
      """)

  /// - Throws: `invalid` of one that is not there, `store`.
  package func remove(_ symbol: Symbol) throws(AppStoreError) {
    let rows = try write(Self.delete, with: [.text(symbol.description)])
    if rows == 0 { throw .invalid(field: "symbol", expected: "a fund that is on the list") }
  }

  private static let readAll = Statement(
    name: "read_same_day_funds",
    sql: """
      select symbol, from_day
      from same_day_fund
      """)

  /// The first day of each.
  package func all() throws(AppStoreError) -> [Symbol: TradingDay] {
    let rows = try read(Self.readAll) { (row) throws(StoreError) in
      (try row.symbol(), try row.day())
    }
    return Dictionary(uniqueKeysWithValues: rows)
  }
}

extension BrokerTable {
  package func sameDayFunds() throws(AppStoreError) -> [Symbol: TradingDay] {
    try SameDayFundTable(connection).all()
  }
}
