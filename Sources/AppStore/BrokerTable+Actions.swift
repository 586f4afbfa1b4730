import Postgres

/// What a step writes of corporate actions and of accounts that are closed.
extension BrokerTable {
  private static let updateActions = Statement(
    name: "update_corporate_actions",
    sql: """
      update corporate_action a
      set
        booked_on = nullif(w.booked_on, '')::date,
        reversed_on = nullif(w.reversed_on, '')::date,
        failed_in = w.failed_in::bigint[]
      from \(TextColumns.unnest(4)) as w (id, booked_on, reversed_on, failed_in)
      where a.id = w.id::bigint
      """)

  func write(actions: [Int64: CorporateAction]) throws(AppStoreError) {
    var rows = TextColumns(4)
    for action in actions.values {
      let failed = action.failed.sorted().map { "\($0)" }.joined(separator: ",")
      rows.append(["\(action.id)", action.bookedOn.text, action.reversedOn.text, "{\(failed)}"])
    }
    try run(Self.updateActions, rows)
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
