import Market
import PaperTrading
import Postgres

/// What a step writes of corporate actions and of accounts that are closed.
extension BrokerTable {
  private static let insertBookings = Statement(
    name: "insert_corporate_action_bookings",
    sql: """
      insert into corporate_action_booking (
        corporate_action_id, trading_day, accounts, is_reversal, booked_at)
      select
        action::bigint, day::date, accounts::integer, reversal::boolean,
        \(TextColumns.moment("at"))
      from \(TextColumns.unnest(5)) as added (action, day, accounts, reversal, at)
      """)

  func write(bookings: [CorporateActionBooking]) throws(AppStoreError) {
    var rows = TextColumns(5)
    for row in bookings {
      rows.append(
        [
          "\(row.actionID)", "\(row.day)", "\(row.accounts)", "\(row.isReversal)",
          "\(row.at.microseconds)",
        ])
    }
    try run(Self.insertBookings, rows)
  }

  private static let upsertFailures = Statement(
    name: "upsert_corporate_action_failures",
    sql: """
      insert into corporate_action_failure (corporate_action_id, account_id, reason, tried_at)
      select action::bigint, account::bigint, left(reason, 256), clock_timestamp()
      from \(TextColumns.unnest(3)) as tried (action, account, reason)
      on conflict (corporate_action_id, account_id) do update
      set
        reason = excluded.reason,
        tried_at = excluded.tried_at
      """)

  private static let deleteFailures = Statement(
    name: "delete_corporate_action_failures",
    sql: """
      delete from corporate_action_failure f
      using \(TextColumns.unnest(2)) as ended (action, account)
      where f.corporate_action_id = ended.action::bigint
        and f.account_id = ended.account::bigint
      """)

  func write(failures: [CorporateActionFailure: String?]) throws(AppStoreError) {
    var (failed, ended) = (TextColumns(3), TextColumns(2))
    for (row, reason) in failures {
      let key = ["\(row.actionID)", "\(row.accountID)"]
      if let reason { failed.append(key + [reason]) } else { ended.append(key) }
    }
    try run(Self.upsertFailures, failed)
    try run(Self.deleteFailures, ended)
  }

  private static let closeAccounts = Statement(
    name: "close_accounts",
    sql: """
      update account a
      set closed_at = clock_timestamp()
      from \(TextColumns.unnest(1)) as closed (id)
      where a.id = closed.id::bigint
      """)

  func write(closed accounts: [Int64]) throws(AppStoreError) {
    var rows = TextColumns(1)
    for account in accounts { rows.append(["\(account)"]) }
    try run(Self.closeAccounts, rows)
  }
}
