import Market
import PaperTrading
import Postgres

/// What a step writes of corporate actions and of accounts that are closed.
extension BrokerTable {
  private static let bookingRows = RowInsertion(
    "insert_corporate_action_bookings", into: "corporate_action_booking",
    "corporate_action_id bigint, trading_day date, is_reversal boolean")

  func write(actions: BrokerStep.Actions) throws(AppStoreError) {
    try insert(Self.bookingRows, actions.booked) { row in
      ["\(row.actionID)", "\(row.day)", "\(row.isReversal)"]
    }
    try write(failures: actions.failed)
  }

  private static let failureRows = RowInsertion(
    "upsert_corporate_action_failures", into: "corporate_action_failure",
    "corporate_action_id bigint, account_id bigint, reason text",
    key: "corporate_action_id, account_id", updating: ["reason"])

  private static let deleteFailures = Statement(
    name: "delete_corporate_action_failures",
    sql: """
      delete from corporate_action_failure f
      using \(TextColumns.unnest(2)) as ended (action, account)
      where f.corporate_action_id = ended.action::bigint
        and f.account_id = ended.account::bigint
      """)

  private func write(failures: [Int64: [Int64: String?]]) throws(AppStoreError) {
    var (failed, ended) = (TextColumns(Self.failureRows.columns), TextColumns(2))
    for (action, accounts) in failures {
      for (account, reason) in accounts {
        let key = ["\(action)", "\(account)"]
        if let reason { failed.append(key + [reason]) } else { ended.append(key) }
      }
    }
    try run(Self.failureRows.statement, failed)
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
