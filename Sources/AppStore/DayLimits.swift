/// What a user may do on a day (UTC), at all gateways together: it leaves rows that stay for good.
package struct DayLimits: Sendable, Hashable {
  /// Requests to the broker: the orders of a day, each with three more, rounded up.
  package var commands: Int64 = 40_000
  /// Deposits and withdrawals.
  package var payments: Int64 = 1_000
  /// Alerts that are made, or made anew: each may be a notification.
  package var alerts: Int64 = 10_000
  /// Accounts that are made.
  package var accounts: Int64 = 100

  package static let standard = DayLimits()

  /// In SQL, the day.
  static let today = "(now() at time zone 'UTC')::date"

  /// In SQL, how a row of `user_day u` gets so many more.
  static let counting = """
    on conflict (user_id) do update
    set
      day = excluded.day,
      \(adding("commands")),
      \(adding("payments")),
      \(adding("alerts"))
    """

  /// A counter with so many more, from 0 on with each day.
  private static func adding(_ counter: String) -> String {
    """
    \(counter) = excluded.\(counter) + case when u.day = excluded.day then u.\(counter) else 0 end
    """
  }
}
