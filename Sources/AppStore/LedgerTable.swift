import Market
import PaperTrading
import Postgres

/// A line of an account's log, as people read it.
package struct TransactionLogRow: Sendable, Hashable {
  package var sequence: Int64
  package var at: Timestamp
  /// `deposit`, `withdrawal`, `Buy-Order`, `Sell-Order`, `Auto-Buy`, `dividend`, `bonus`,
  /// `reversal`.
  package var kind: String
  package var depositType: String?
  package var description: String
  package var symbol: Symbol?
  package var quantity: ExactDecimal?
  package var price: ExactDecimal?
  /// By how much the account's cash changed.
  package var amount: ExactDecimal
  package var orderID: Int64?
}

/// Which lines of an account's log, and in which order.
package struct LogFilter: Sendable, Hashable {
  /// Any where nil.
  package var kinds: [String]?
  /// Later, or earlier, than then.
  package var after: Timestamp?
  package var until: Timestamp?
  package var isOldestFirst = false

  package init(kinds: [String]? = nil) { self.kinds = kinds }
}

/// Accounts, and what is in their books. Only `BrokerTable` changes these.
package struct LedgerTable: AppTable {
  let connection: AppConnection
  static let context = "ledger"

  package static let nameCharactersMax = 64
  package static let logRowsMax = 500

  package init(_ connection: AppConnection) { self.connection = connection }

  private static let insertAccount = Statement(
    name: "insert_account",
    sql: """
      insert into account (user_id, name, market, currency)
      values ($1::bigint, $2::text, $3::text, $4::text)
      returning id
      """)

  /// Makes one, empty.
  /// - Parameter currency: CNY or USD.
  /// - Throws: `invalid`, `store`.
  package func create(
    userID: Int64, name: String, market: String, currency: String
  ) throws(AppStoreError) -> Int64 {
    try requireName(name, charactersMax: Self.nameCharactersMax)
    do throws(AppStoreError) {
      let ids = try numbers(
        Self.insertAccount, with: [.int64(userID), .text(name), .text(market), .text(currency)])
      return ids.first ?? 0
    } catch {
      guard error.isViolation(of: "account_name_is_new") else { throw error }
      throw .invalid(field: "name", expected: "a name that no other account has")
    }
  }

  // MARK: Books

  private static let readBooks = Statement(
    name: "read_books",
    sql: """
      select account_id, unit, kind, balance
      from book
      where account_id = any ($1::bigint[])
      """)

  /// Ledgers by account; an account without a posting has none.
  package func balances(
    of accounts: [Int64]
  ) throws(AppStoreError) -> [Int64: [Book: ExactDecimal]] {
    var balances: [Int64: [Book: ExactDecimal]] = [:]
    let rows = try read(Self.readBooks, with: [.int64s(accounts)]) { (row) throws(StoreError) in
      (account: try row.int64(), book: try row.ledgerBook(), balance: try row.numeric())
    }
    for row in rows { balances[row.account, default: [:]][row.book] = row.balance }
    return balances
  }

  private static let readHeads = Statement(
    name: "read_ledger_heads",
    sql: """
      select a.id, p.sequence, p.trading_day
      from account a
      cross join lateral (
        select sequence, trading_day
        from posting
        where account_id = a.id
        order by sequence desc
        limit 1
      ) p
      where a.id = any ($1::bigint[])
      """)

  /// In SQL, whether the posting of a row was taken back.
  /// - Parameters:
  ///   - row: the name of the row.
  ///   - column: of its posting's sequence.
  static func reversal(of row: String, by column: String = "sequence") -> String {
    """
    exists (
      select
      from posting r
      where r.account_id = \(row).account_id
        and r.refers_to = \(row).\(column))
    """
  }

  static let orderColumns = """
    id, account_id, coalesce(code, symbol), side, kind, time_in_force, quantity, limit_price,
    stop_price, queue_purchase_id is not null, worst_price, settles_same_day, trading_day, filled,
    turnover, commission, stamp_duty, transfer_fee, frozen,
    state in ('held', 'accepted', 'partially_filled', 'pending_cancel'), commission_rate,
    commission_min
    """

  private static let readOrders = Statement(
    name: "read_open_orders",
    sql: """
      select \(orderColumns)
      from paper_order
      where account_id = any ($1::bigint[])
        and state in ('held', 'accepted', 'partially_filled', 'pending_cancel')
      """)

  /// What the broker goes on from: books and open orders, as the last step left them.
  /// - Parameter day: of accounts without a posting.
  package func ledgers(
    of accounts: [Int64], on day: TradingDay
  ) throws(AppStoreError) -> [Int64: AccountLedger] {
    let balances = try balances(of: accounts)
    let heads = try read(Self.readHeads, with: [.int64s(accounts)]) { (row) throws(StoreError) in
      (account: try row.int64(), sequence: try row.int64(), day: try row.day())
    }
    let orders = try read(Self.readOrders, with: [.int64s(accounts)]) { (row) throws(StoreError) in
      try row.ledgerOrder()
    }
    let openOrders = Dictionary(grouping: orders, by: \.placed.account)
    var ledgers: [Int64: AccountLedger] = [:]
    for account in accounts {
      let head = heads.first { $0.account == account }
      ledgers[account] = AccountLedger(
        tradingDay: head?.day ?? day, sequence: head?.sequence ?? 0,
        balances: balances[account] ?? [:], openOrders: openOrders[account] ?? [])
    }
    return ledgers
  }

  // MARK: Log

  private static func readLog(_ name: String, beyond: String, order: String) -> Statement {
    Statement(
      name: name,
      sql: """
        select
          sequence, at, kind, deposit_type, description, symbol, quantity, price, amount, order_id
        from transaction_log
        where account_id = $1::bigint
          and ($2::bigint is null or sequence \(beyond) $2::bigint)
          and ($4::text[] is null or kind = any ($4::text[]))
          and ($5::timestamptz is null or at > $5::timestamptz)
          and ($6::timestamptz is null or at < $6::timestamptz)
        order by sequence \(order)
        limit $3::bigint
        """)
  }

  private static let readNewest = readLog("read_newest_log", beyond: "<", order: "desc")
  private static let readOldest = readLog("read_oldest_log", beyond: ">", order: "asc")

  /// A page of the log.
  /// - Parameter end: the `sequence` at which the page before ended; nil: there was none.
  package func transactionLog(
    of account: Int64, filter: LogFilter = LogFilter(), behind end: Int64? = nil, limit: Int
  ) throws(AppStoreError) -> [TransactionLogRow] {
    try read(
      filter.isOldestFirst ? Self.readOldest : Self.readNewest,
      with: [
        .int64(account), .int64(end), .int64(Int64(min(limit, Self.logRowsMax))),
        .texts(filter.kinds), .timestamp(filter.after), .timestamp(filter.until),
      ]
    ) { (row) throws(StoreError) in
      TransactionLogRow(
        sequence: try row.int64(), at: try row.timestamp(), kind: try row.text(),
        depositType: try row.optionalText(), description: try row.text(),
        symbol: try row.optionalText().flatMap { Symbol($0) },
        quantity: try row.optionalNumeric(), price: try row.optionalNumeric(),
        amount: try row.numeric(), orderID: try row.optionalInt64())
    }
  }
}

extension PostgresRow {
  /// `unit` and `kind`.
  mutating func ledgerBook() throws(StoreError) -> Book {
    guard let unit = LedgerUnit(text: try text()), let kind = BookKind(rawValue: try text()) else {
      throw malformed()
    }
    return Book(unit, kind)
  }

  /// One of the names that a kind of value has.
  mutating func named<Value: CaseIterable>(
    _ name: (Value) -> String
  ) throws(StoreError) -> Value {
    let text = try text()
    guard let value = Value.allCases.first(where: { name($0) == text }) else { throw malformed() }
    return value
  }

  /// The columns of `orderColumns`.
  mutating func ledgerOrder() throws(StoreError) -> LedgerOrder {
    let (id, account, symbol) = (try int64(), try int64(), try symbol())
    let placed = Order(
      id: id, account: account, symbol: symbol, side: try named(\Side.name),
      kind: try named(\OrderKind.name), timeInForce: try named(\TimeInForce.name),
      quantity: try numeric(), limit: try optionalNumeric(), stop: try optionalNumeric(),
      origin: try bool() ? .queuePurchase : .person)
    let worstPrice = try optionalNumeric()
    let settlesSameDay = try bool()
    guard let instrument = Instrument.classify(symbol) else { throw malformed() }
    let terms = FeeTerms(instrument: instrument, side: placed.side, day: try day())
    let (filled, turnover) = (try numeric(), try numeric())
    let paid = Fees(
      commission: try numeric(), stampDuty: try numeric(), transferFee: try numeric())
    let (frozen, isOpen) = (try numeric(), try bool())
    return LedgerOrder(
      placed, worstPrice: worstPrice, settlesSameDay: settlesSameDay,
      schedule: FeeSchedule(commissionRate: try numeric(), commissionMin: try numeric()),
      terms: terms, filled: filled, turnover: turnover, paid: paid, frozen: frozen,
      isOpen: isOpen)
  }
}
