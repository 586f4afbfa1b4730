import Market
import Postgres

/// An account of paper trading, with its cash.
package struct PaperAccount: Sendable, Hashable {
  package var id: Int64
  package var name: String
  package var market: PaperMarket
  package var currency: String
  package var createdAt: Timestamp
  /// Cash to spend, and cash that open orders may take.
  package var available: ExactDecimal
  package var frozen: ExactDecimal
}

/// What an account trades: its currency and its rules follow.
package enum PaperMarket: String, Sendable, CaseIterable {
  /// As the database has it.
  case mainland = "cn"
  case unitedStates = "us"

  /// As people know it: A shares, or those of the United States.
  package var name: String { self == .mainland ? "A" : "US" }
  package var currency: String { self == .mainland ? "CNY" : "USD" }
}

/// A command, with what became of it.
package struct CommandRecord: Sendable, Hashable {
  package var id: Int64
  package var accountID: Int64
  package var kind: String
  package var sentAt: Timestamp
  /// nil until the broker has executed it.
  package var outcome: CommandOutcome?
}

/// Accounts of one user.
package struct AccountTable: AppTable {
  let connection: AppConnection
  private let userID: Int64
  static let context = "accounts"

  /// More are of no use to one person, and each is a world that the broker keeps.
  package static let accountsMax = 20

  package init(_ connection: AppConnection, userID: Int64) {
    self.connection = connection
    self.userID = userID
  }

  private static func query(_ name: String, where condition: String = "true") -> Statement {
    Statement(
      name: name,
      sql: """
        select
          a.id, a.name, a.market, a.currency, a.created_at, coalesce(v.balance, 0),
          coalesce(f.balance, 0)
        from account a
        left join book v on v.account_id = a.id
          and v.unit = 'cash'
          and v.kind = 'available'
        left join book f on f.account_id = a.id
          and f.unit = 'cash'
          and f.kind = 'frozen'
        where a.user_id = $1::bigint
          and a.market in ('cn', 'us')
          and a.closed_at is null
          and \(condition)
        order by a.id
        limit \(accountsMax)
        """)
  }

  private static let readAll = query("read_accounts")
  private static let readMain = query(
    "read_main_account", where: "a.id = \(main(ofUser: "$1::bigint"))")

  /// In SQL, the number of the account that an API is for which knows only one: the user's first of
  /// the mainland's market, and where there is none the first.
  /// - Parameter user: an expression for the number of the user.
  static func main(ofUser user: String) -> String {
    """
    (
      select id
      from account
      where user_id = \(user)
        and market in ('cn', 'us')
        and closed_at is null
      order by market <> 'cn', id
      limit 1)
    """
  }

  /// The account that an API is for which knows only one.
  /// - Throws: `unknownAccount` where the user has none; `store`.
  package func main() throws(AppStoreError) -> PaperAccount {
    guard let found = try accounts(Self.readMain).first else { throw .unknownAccount }
    return found
  }

  /// Those that are open, in the order in which they were made.
  package func all() throws(AppStoreError) -> [PaperAccount] { try accounts(Self.readAll) }

  private func accounts(_ statement: Statement) throws(AppStoreError) -> [PaperAccount] {
    return try read(statement, with: [.int64(userID)]) { (row) throws(StoreError) in
      let (id, name, market) = (try row.int64(), try row.text(), try row.text())
      guard let market = PaperMarket(rawValue: market) else { throw row.malformed() }
      return PaperAccount(
        id: id, name: name, market: market, currency: try row.text(),
        createdAt: try row.timestamp(), available: try row.numeric(), frozen: try row.numeric())
    }
  }

  /// - Parameter id: nil for the user's first.
  /// - Throws: `unknownAccount`, also of another user's; `store`.
  package func account(_ id: Int64?) throws(AppStoreError) -> PaperAccount {
    let accounts = try all()
    let found = id == nil ? accounts.first : accounts.first { $0.id == id }
    guard let found else { throw .unknownAccount }
    return found
  }

  private static let readClosed = Statement(
    name: "read_closed_account",
    sql: """
      select name, market
      from account
      where user_id = $1::bigint
        and id = $2::bigint
        and closed_at is not null
      """)

  /// The name and market of one that is closed; nil: it is open, or not the user's.
  package func closed(
    _ id: Int64
  ) throws(AppStoreError) -> (name: String, market: PaperMarket)? {
    let found = try read(Self.readClosed, with: [.int64(userID), .int64(id)]) {
      (row) throws(StoreError) -> (name: String, market: PaperMarket) in
      let (name, market) = (try row.text(), PaperMarket(rawValue: try row.text()))
      guard let market else { throw row.malformed() }
      return (name, market)
    }
    return found.first
  }

  private static let countMade = Statement(
    name: "count_accounts_of_day",
    sql: """
      select count(*)
      from account
      where user_id = $1::bigint
        and created_at >= \(DayLimits.today) at time zone 'UTC'
      """)

  private func requireFewMade() throws(AppStoreError) {
    let counts = try numbers(Self.countMade, with: [.int64(userID)])
    let limit = DayLimits.standard.accounts
    if counts.contains(where: { $0 >= limit }) {
      throw .tooManyOfDay("accounts made", limit: limit)
    }
  }

  /// Makes one, empty.
  /// - Throws: `nameTaken`, `limitReached`, `tooManyOfDay`, `invalid`, `store`.
  package func create(
    named name: String, market: PaperMarket
  ) throws(AppStoreError) -> PaperAccount {
    try connection.inTransaction(ofUser: userID, Self.context) { () throws(AppStoreError) in
      let accounts = try all()
      if accounts.count >= Self.accountsMax {
        throw .limitReached("more than \(Self.accountsMax) accounts: close some")
      }
      if accounts.contains(where: { $0.name == name }) { throw .nameTaken(name) }
      try requireFewMade()
      let id = try LedgerTable(connection).create(
        userID: userID, name: name, market: market.rawValue, currency: market.currency)
      return try account(id)
    }
  }

  // MARK: Commands

  private static let readCommand = Statement(
    name: "read_command",
    sql: """
      select c.id, c.account_id, c.kind, c.sent_at, c.sequence, c.outcome, c.answer
      from command c
      join account a on a.id = c.account_id
      where c.id = $2::bigint
        and a.user_id = $1::bigint
      """)

  /// nil of another user's.
  package func command(_ id: Int64) throws(AppStoreError) -> CommandRecord? {
    return try read(Self.readCommand, with: [.int64(userID), .int64(id)]) {
      (row) throws(StoreError) in
      CommandRecord(
        id: try row.int64(), accountID: try row.int64(), kind: try row.text(),
        sentAt: try row.timestamp(), outcome: try row.outcome())
    }.first
  }
}

/// How far the ledger of an account is, and its triggers: while they stay, so do cash and holdings.
package struct AccountVersion: Sendable, Hashable {
  package var userID: Int64
  package var accountID: Int64
  /// The number of its newest posting; 0: there is none.
  package var sequence: Int64
  package var triggers: String

  private static let read = Statement(
    name: "read_account_versions",
    sql: """
      select
        a.user_id, a.id, (
          select coalesce(max(p.sequence), 0)
          from posting p
          where p.account_id = a.id), (
          select coalesce(md5(string_agg(t::text, '' order by t.symbol)), '')
          from holding_trigger t
          where t.account_id = a.id)
      from account a
      where a.user_id = any ($1::bigint[])
        and a.closed_at is null
      order by a.id
      """)

  /// The versions of these users' accounts.
  package static func all(
    of users: [Int64], over connection: AppConnection
  ) throws(AppStoreError) -> [AccountVersion] {
    return try connection.read(read, with: [.int64s(users)], context: "accounts") {
      (row) throws(StoreError) in
      AccountVersion(
        userID: try row.int64(), accountID: try row.int64(), sequence: try row.int64(),
        triggers: try row.text())
    }
  }
}
