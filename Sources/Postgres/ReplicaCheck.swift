import Market

/// A replica has what another database sends it: whoever wrote there would part from its primary,
/// or be refused in the middle of something.
package enum ReplicaCheck {
  /// A subscription belongs to who applies the rows of the feed; without a lease, `candled schema
  /// apply --replica` has made room for them.
  private static let read = Statement(
    name: "is_replica",
    sql: """
      select
        case
          when pg_is_in_recovery() then 'standby'
          when s.subname is not null or not exists (select from candled.lease) then 'logical'
        end,
        s.subname
      from (values (true)) here (is_here)
      left join pg_subscription_rel r on r.srrelid = 'candled.feed_sequence'::regclass
      left join pg_subscription s on s.oid = r.srsubid
      limit 1
      """)

  /// - Throws: `operatorNeeded` where the database is a replica, with what to do.
  package static func requirePrimary(_ connection: PostgresConnection) throws(StoreError) {
    var row = try connection.run(read, context: context).row(0)
    let (kind, subscription) = (try row.optionalText(), try row.optionalText())
    guard let kind else { return }
    let what =
      kind == "standby"
      ? "a standby, which takes no writes: set store.url to the primary, or promote the standby"
      : "a logical replica\(subscription.map { " (subscription \($0))" } ?? ""), whose rows come "
        + "from its primary: set store.url to the primary"
    throw StoreError(.operatorNeeded, message: "the database is \(what)", context: context)
  }

  private static let context = "replica check"
}
