import Market
import PaperTrading
import Postgres

/// A dividend or a bonus of one symbol, as an operator posted it.
package struct CorporateAction: Sendable, Hashable {
  package var id: Int64
  package var symbol: Symbol
  /// Who held the shares before that day gets it.
  package var exDay: TradingDay
  package var terms: CorporateActionTerms
  package var postedAt: Timestamp
  /// nil until the broker has booked it.
  package var booking: CorporateActionBooking?
}

package struct CorporateActionBooking: Sendable, Hashable {
  package var actionID: Int64
  package var day: TradingDay
  /// That got something.
  package var accounts: Int
  package var at: Timestamp

  package init(actionID: Int64, day: TradingDay, accounts: Int, at: Timestamp) {
    self.actionID = actionID
    self.day = day
    self.accounts = accounts
    self.at = at
  }
}

/// Corporate actions. Rows only come: the broker books each once its ex-day has begun.
package struct CorporateActionTable {
  private let connection: AppConnection
  static let context = "corporate actions"

  package init(_ connection: AppConnection) { self.connection = connection }

  private static let insert = Statement(
    name: "insert_corporate_action",
    sql: """
      insert into corporate_action (symbol, ex_day, kind, cash_per_share, shares_per_share)
      values (
        $1::text, $2::date, $3::text,
        case when $3::text = 'dividend' then $4::text::numeric end,
        case when $3::text = 'bonus' then $4::text::numeric end)
      returning id
      """)

  /// Posts one.
  /// - Returns: its number.
  /// - Throws: `invalid` where there is one of the kind for that symbol and day, `store`.
  package func add(
    _ terms: CorporateActionTerms, of symbol: Symbol, exDay: TradingDay
  ) throws(AppStoreError) -> Int64 {
    var parameters = WireParameters()
    parameters.add { $0.text(symbol.description) }
    parameters.add { $0.date(exDay) }
    parameters.add { $0.text(terms.kind.rawValue) }
    parameters.add { $0.text("\(terms.perShare)") }
    do throws(AppStoreError) {
      let ids = try connection.read(Self.insert, with: parameters, context: Self.context) {
        (row) throws(StoreError) in try row.int64()
      }
      return ids.first ?? 0
    } catch {
      guard error.isViolation(of: "corporate_action_is_new") else { throw error }
      throw .invalid(
        field: "ex-day", expected: "one without a \(terms.kind.rawValue) of \(symbol) so far")
    }
  }

  static let columns = """
    a.id, a.symbol, a.ex_day, a.kind, coalesce(a.cash_per_share, a.shares_per_share), a.posted_at
    """

  private static let readAll = Statement(
    name: "read_corporate_actions",
    sql: """
      select \(columns), b.trading_day, b.accounts, b.booked_at
      from corporate_action a
      left join corporate_action_booking b on b.corporate_action_id = a.id
      order by a.id
      """)

  /// In the order in which they were posted.
  package func all() throws(AppStoreError) -> [CorporateAction] {
    try connection.read(Self.readAll, context: Self.context) { (row) throws(StoreError) in
      var action = try row.corporateAction()
      guard let day = try row.optionalDay() else { return action }
      action.booking = CorporateActionBooking(
        actionID: action.id, day: day, accounts: Int(try row.int32()), at: try row.timestamp())
      return action
    }
  }
}

// MARK: - The broker's

extension BrokerTable {
  private static let readUnbooked = Statement(
    name: "read_unbooked_corporate_actions",
    sql: """
      select \(CorporateActionTable.columns)
      from corporate_action a
      where not exists (
        select
        from corporate_action_booking b
        where b.corporate_action_id = a.id)
      order by a.id
      """)

  /// Those that are not booked, whether or not their ex-day has begun.
  package func unbookedActions() throws(AppStoreError) -> [CorporateAction] {
    try connection.read(Self.readUnbooked, context: CorporateActionTable.context) {
      (row) throws(StoreError) in try row.corporateAction()
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
        and p.trading_day < $2::date
      group by b.account_id
      having sum(-e.amount) > 0
      """)

  /// What accounts held of a symbol when a day began.
  package func holders(
    of symbol: Symbol, before day: TradingDay
  ) throws(AppStoreError) -> [Int64: ExactDecimal] {
    var parameters = WireParameters()
    parameters.add { $0.text(symbol.description) }
    parameters.add { $0.date(day) }
    let rows = try connection.read(
      Self.readHolders, with: parameters, context: CorporateActionTable.context
    ) { (row) throws(StoreError) in (try row.int64(), try row.numeric()) }
    return Dictionary(uniqueKeysWithValues: rows)
  }
}

extension PostgresRow {
  /// `CorporateActionTable.columns`.
  fileprivate mutating func corporateAction() throws(StoreError) -> CorporateAction {
    let (id, symbol, day) = (try int64(), try symbol(), try day())
    let (kind, perShare) = (
      try named(\CorporateActionTerms.Kind.rawValue), try numeric()
    )
    guard let terms = CorporateActionTerms(kind, perShare: perShare) else { throw malformed() }
    return CorporateAction(
      id: id, symbol: symbol, exDay: day, terms: terms, postedAt: try timestamp())
  }
}
