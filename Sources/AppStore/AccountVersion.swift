import Market
import Postgres

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
